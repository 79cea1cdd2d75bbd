#include "fault.hpp"
#include "device_memory.hpp"
#include "report.hpp"
#include "scheduler.hpp"
#include "sites.hpp"

#include <cstdio>
#include <cstdlib>
#if defined(__x86_64__)
#include <ucontext.h>
#endif

namespace fake
{
// Where the handler runs: the fault may be that a thread's own stack is full.
static char handler_stack[1 << 16];

static std::string instruction(const void *context)
{
#if defined(__x86_64__)
    const auto *registers = static_cast<const ucontext_t *>(context)->uc_mcontext.gregs;
    return emu::site_text(
        emu::site_of_code(reinterpret_cast<const char *>(registers[REG_RIP]) + 1));
#else
    (void)context;
    return "?";
#endif
}

static void report(int, siginfo_t *info, void *context)
{
    const char *address = static_cast<const char *>(info->si_addr);
    emu::report_begin();
    if (emu::in_stack_guard(address))
        fprintf(stderr, "stack overflow: the thread needs more than 256 KiB");
    else if (const Allocation *a = nearest_allocation(address))
        fprintf(stderr, "access at byte %td of an allocation of %zu", address - a->base, a->bytes);
    else
        fprintf(stderr, "access to %p, which is no live memory", (const void *)address);
    fprintf(stderr, "\n    at %s\n", instruction(context).c_str());
    signal(SIGABRT, SIG_DFL);
    abort();
}

FaultReports::FaultReports()
{
    stack_t stack = {};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, &old_stack_);
    struct sigaction action = {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &old_segv_);
    sigaction(SIGBUS, &action, &old_bus_);
}

FaultReports::~FaultReports()
{
    sigaction(SIGSEGV, &old_segv_, nullptr);
    sigaction(SIGBUS, &old_bus_, nullptr);
    sigaltstack(&old_stack_, nullptr);
}
} // namespace fake
