// __syncthreads and the end of threads.
#ifndef GDNN_EMULATOR_BARRIER_HPP
#define GDNN_EMULATOR_BARRIER_HPP

namespace emu
{
void begin_barriers();
// The current thread has ended.
void thread_leaves_block();
// Nobody can run: says where each thread waits, and aborts.
[[noreturn]] void report_deadlock();
} // namespace emu

#endif
