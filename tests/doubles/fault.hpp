// Memory faults of kernels.
#ifndef GDNN_DOUBLE_FAULT_HPP
#define GDNN_DOUBLE_FAULT_HPP

#include <csignal>

namespace fake
{
// While one of these lives, SIGSEGV and SIGBUS are reported with the thread of the kernel and the
// allocation.
class FaultReports
{
  public:
    FaultReports();
    ~FaultReports();

  private:
    struct sigaction old_segv_, old_bus_;
    stack_t old_stack_;
};
} // namespace fake

#endif
