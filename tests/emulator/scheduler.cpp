#include "scheduler.hpp"
#include "barrier.hpp"
#include "counters.hpp"
#include "warp.hpp"
#include "watch.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace emu
{
Thread *current;
Block block;
Fiber *fibers[max_block_threads]; // made at need, never freed: every block uses them again
unsigned block_threads, block_warps, done_threads;
const Kernel *running_kernel;

static void *const *kernel_arguments;
static Context launcher;

enum class Order { forward, reverse, random };
enum class Arrival { late, early, random };
static Order order;
static Arrival arrival;
static uint64_t random_state;

// The ready fibers, a ring.
static unsigned ring[2 * max_block_threads], ring_head, ring_count;
static constexpr unsigned ring_mask = 2 * max_block_threads - 1;

void configure_schedule()
{
    const char *text = getenv("GDNN_EMU_SCHEDULE");
    char *end = nullptr;
    uint64_t seed = 0;
    if (!text || !*text || !strcmp(text, "fwd")) {
        order = Order::forward;
    } else if (!strcmp(text, "rev")) {
        order = Order::reverse;
    } else {
        order = Order::random;
        seed = strtoull(text, &end, 10);
        if (*end)
            kernel_error(Where(), "GDNN_EMU_SCHEDULE=%s: not fwd, rev or a number", text);
    }
    random_state = (seed + 1) * 0x9e3779b97f4a7c15u;

    text = getenv("GDNN_EMU_COPIES");
    if (!text || !*text || !strcmp(text, "late"))
        arrival = Arrival::late;
    else if (!strcmp(text, "early"))
        arrival = Arrival::early;
    else if (!strcmp(text, "random"))
        arrival = Arrival::random;
    else
        kernel_error(Where(), "GDNN_EMU_COPIES=%s: not late, early or random", text);
}

// xorshift64*
uint64_t random_number()
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du >> 16;
}

bool copies_arrive_early()
{
    return arrival == Arrival::early || (arrival == Arrival::random && random_number() % 2);
}

void make_ready(Fiber *fiber, bool ahead)
{
    fiber->state = State::ready;
    if (ahead && order == Order::forward)
        ring[--ring_head & ring_mask] = fiber->linear;
    else
        ring[(ring_head + ring_count) & ring_mask] = fiber->linear;
    ring_count++;
}

static Fiber *take_ready()
{
    if (!ring_count)
        return nullptr;
    ring_count--;
    if (order == Order::reverse)
        return fibers[ring[(ring_head + ring_count) & ring_mask]];
    if (order == Order::random) {
        unsigned *first = &ring[ring_head & ring_mask];
        unsigned *chosen = &ring[(ring_head + random_number() % (ring_count + 1)) & ring_mask];
        std::swap(*first, *chosen);
    }
    return fibers[ring[ring_head++ & ring_mask]];
}

static void fiber_main();

// Makes the fiber current; returns where it goes on.
static Context *resume(Fiber *fiber)
{
    current = fiber;
    if (!fiber->started) {
        fiber->started = true;
        context_start(fiber->context, fiber_main);
    }
    return fiber->context;
}

void wait_until_ready()
{
    Fiber *self = current_fiber(), *next = take_ready();
    if (!next)
        report_deadlock();
    if (next == self)
        return;
    context_switch(self->context, resume(next));
    current = self;
}

static Fiber *end_thread(Fiber *self)
{
    self->state = State::done;
    done_threads++;
    thread_leaves_warp(*self);
    thread_leaves_block();
    Fiber *next = take_ready();
    if (!next && done_threads != block_threads)
        report_deadlock();
    return next;
}

#if EMU_ASAN
__attribute__((no_sanitize_address))
#endif
static void
fiber_main()
{
    context_entered();
    for (;;) {
        running_kernel->call(running_kernel->function, kernel_arguments);
        Fiber *self = current_fiber(), *next = end_thread(self);
        if (!next) {
            current = nullptr;
            context_leave(self->context, &launcher);
        }
        if (next->started)
            context_leave(self->context, resume(next));
        // The next thread begins: on this stack, which is warm.
        std::swap(self->context, next->context);
        next->started = true;
        current = next;
    }
}

bool in_stack_guard(const void *address)
{
    for (const Fiber *fiber : fibers)
        if (fiber && context_guards(*fiber->context, address))
            return true;
    return false;
}

void prepare_threads(dim3 size)
{
    block_threads = size.x * size.y * size.z;
    block_warps = (block_threads + warp_lanes - 1) / warp_lanes;
    for (unsigned i = 0; i < block_threads; i++) {
        if (!fibers[i]) {
            fibers[i] = new Fiber;
            fibers[i]->context = new Context;
            context_make_stack(fibers[i]->context, i);
        }
        Thread &thread = *fibers[i];
        thread.linear = i;
        thread.warp = i / warp_lanes;
        thread.lane = i % warp_lanes;
        thread.index = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
    }
    context_of_caller(&launcher);
}

void run_block(void *const *arguments)
{
    kernel_arguments = arguments;
    done_threads = 0;
    ring_head = ring_count = 0;
    begin_barriers();
    begin_warps();
    for (unsigned i = 0; i < block_threads; i++) {
        fibers[i]->copies.clear();
        fibers[i]->started = false;
        make_ready(fibers[i], false);
    }
    watch::begin_block();
    counters.blocks++;
    counters.threads += block_threads;
    context_switch(&launcher, resume(take_ready()));
    watch::end_block();
}
} // namespace emu
