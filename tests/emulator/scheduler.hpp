// The fibers of the running block, and which of them runs next.
#ifndef GDNN_EMULATOR_SCHEDULER_HPP
#define GDNN_EMULATOR_SCHEDULER_HPP

#include "context.hpp"
#include "copies.hpp"
#include "kernel.hpp"
#include "thread.hpp"

#include <cstdint>

namespace emu
{
enum class State { ready, at_warp_collective, at_block_barrier, done };

struct Fiber : Thread {
    Context *context = nullptr;
    State state = State::done;
    bool started = false;
    Where where;             // the collective at which it waits
    void *operand = nullptr; // what it brought there
    Copies copies;           // its cp.async
};

extern Fiber *fibers[max_block_threads];
extern unsigned block_threads, block_warps, done_threads;
extern const Kernel *running_kernel;
extern bool copies_arrive_early(); // asked once a copy

static inline Fiber *current_fiber()
{
    return static_cast<Fiber *>(current);
}

// Makes a waiting fiber ready; `ahead` puts it before the others in the forward schedule, so that
// there the lowest warp runs as far ahead as barriers allow.
void make_ready(Fiber *fiber, bool ahead);
// Lets other fibers run until somebody has made this one ready.
void wait_until_ready();

// Whether the address lies just below the stack of a thread.
bool in_stack_guard(const void *address);

void prepare_threads(dim3 size);
void run_block(void *const *arguments);

// Reads the environment; begins the schedule anew.
void configure_schedule();
uint64_t random_number();
} // namespace emu

#endif
