// A barrier is for all threads of the block and at one place of the text. CUDA lets threads that
// have exited be absent and, on most GPUs, threads of a warp meet at different places; here both
// are errors, since both are almost always mistakes.
#include "barrier.hpp"
#include "collectives.hpp"
#include "counters.hpp"
#include "report.hpp"
#include "scheduler.hpp"
#include "watch.hpp"

#include <cstdio>
#include <cstdlib>

namespace emu
{
static unsigned arrived;
static unsigned true_predicates, last_true_predicates;
static Where place;

void begin_barriers()
{
    arrived = true_predicates = 0;
}

int block_barrier(Count count, bool predicate, Where where)
{
    if (done_threads)
        kernel_error(where, "barrier after %u of %u threads have ended", done_threads,
                     block_threads);
    if (!arrived)
        place = where;
    else if (!same_place(place, where))
        kernel_error(where, "divergent barrier: other threads wait at %s:%d", place.file,
                     place.line);
    arrived++;
    true_predicates += predicate;
    Fiber *self = current_fiber();
    self->where = where;
    if (arrived < block_threads) {
        self->state = State::at_block_barrier;
    } else {
        last_true_predicates = true_predicates;
        begin_barriers();
        counters.barriers++;
        watch::barrier();
        for (unsigned i = 0; i < block_threads; i++)
            make_ready(fibers[i], false);
    }
    wait_until_ready();
    switch (count) {
    case Count::any: return last_true_predicates > 0;
    case Count::all: return last_true_predicates == block_threads;
    default: return (int)last_true_predicates;
    }
}

void thread_leaves_block()
{
    if (arrived)
        kernel_error(place, "divergent barrier: %u threads wait here, and this one has ended",
                     arrived);
}

void report_deadlock()
{
    const char *const doing[] = {"ready", "waiting in a warp collective at",
                                 "waiting in a barrier at", "ended"};
    report_begin();
    fprintf(stderr, "deadlock: no thread of the block can go on\n");
    for (unsigned i = 0, first = 0; i < block_threads; i++) {
        const Fiber &fiber = *fibers[i];
        const Fiber *next = i + 1 < block_threads ? fibers[i + 1] : nullptr;
        if (next && next->state == fiber.state &&
            (fiber.state == State::done || same_place(next->where, fiber.where)))
            continue;
        fprintf(stderr, "    threads %u to %u: %s", first, i, doing[(int)fiber.state]);
        if (fiber.state != State::done)
            fprintf(stderr, " %s:%d", fiber.where.file, fiber.where.line);
        fputc('\n', stderr);
        first = i + 1;
    }
    abort();
}
} // namespace emu
