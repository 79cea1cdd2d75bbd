#include "fault.hpp"
#include "device_memory.hpp"
#include "thread.hpp"

#include <cstdio>

namespace fake
{
static void report(int, siginfo_t *info, void *)
{
    const char *address = static_cast<const char *>(info->si_addr);
    signal(SIGABRT, SIG_DFL);
    if (const Allocation *a = nearest_allocation(address))
        emu::kernel_error(emu::Where("the faulting instruction", 0),
                  "access %td bytes from the start of an allocation of %zu", address - a->base,
                  a->bytes);
    emu::kernel_error(emu::Where("the faulting instruction", 0), "access to %p, which is no live memory",
              (const void *)address);
}

FaultReports::FaultReports()
{
    struct sigaction action = {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &old_segv_);
    sigaction(SIGBUS, &action, &old_bus_);
}

FaultReports::~FaultReports()
{
    sigaction(SIGSEGV, &old_segv_, nullptr);
    sigaction(SIGBUS, &old_bus_, nullptr);
}
} // namespace fake
