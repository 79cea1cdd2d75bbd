#include "warp.hpp"
#include "collectives.hpp"
#include "counters.hpp"
#include "watch.hpp"

#include <cstring>

namespace emu
{
// Lanes that wait for the rest of their mask. Several such groups with disjoint masks may be open
// in a warp.
struct Gathering {
    const char *what;
    unsigned mask, arrived;
    Where where;
};

struct Warp {
    unsigned lanes; // that exist
    unsigned done;
    unsigned open;
    Gathering gathering[warp_lanes];
};

static Warp warps[max_block_warps];

void begin_warps()
{
    for (unsigned i = 0; i < block_warps; i++) {
        const unsigned threads = block_threads - i * warp_lanes;
        warps[i].lanes = threads >= warp_lanes ? 0xffffffffu : (1u << threads) - 1;
        warps[i].done = warps[i].open = 0;
    }
}

static unsigned lowest_lane(unsigned mask)
{
    return (unsigned)__builtin_ctz(mask);
}

void thread_leaves_warp(const Thread &thread)
{
    Warp &warp = warps[thread.warp];
    warp.done |= 1u << thread.lane;
    for (unsigned i = 0; i < warp.open; i++) {
        const Gathering &open = warp.gathering[i];
        if (open.mask & warp.done)
            kernel_error(open.where, "divergent %s: lanes %08x wait for lane %u, which has ended",
                         open.what, open.arrived, thread.lane);
    }
}

static bool same_collective(const Gathering &open, const char *what, const Where &where)
{
    return same_place(open.where, where) && (open.what == what || !strcmp(open.what, what));
}

static Gathering &join(Warp &warp, const char *what, unsigned mask, unsigned self, Where where)
{
    for (unsigned i = 0; i < warp.open; i++) {
        Gathering &open = warp.gathering[i];
        if (open.mask == mask) {
            if (!same_collective(open, what, where))
                kernel_error(where, "divergent %s: lanes %08x of the same mask wait at %s, %s:%d",
                             what, open.arrived, open.what, open.where.file, open.where.line);
            return open;
        }
        if (open.mask & self && open.arrived & mask)
            kernel_error(
                where,
                "%s with mask %08x crosses %s, %s:%d, with mask %08x: each waits for the other",
                what, mask, open.what, open.where.file, open.where.line, open.mask);
    }
    warp.gathering[warp.open] = {what, mask, 0, where};
    return warp.gathering[warp.open++];
}

void meet(const char *what, unsigned mask, Scope scope, void *operand, Combine combine, Where where)
{
    Fiber *self = current_fiber();
    Warp &warp = warps[self->warp];
    const unsigned bit = 1u << self->lane;
    if (!(mask & bit))
        kernel_error(where, "%s: lane %u is not in its own mask %08x", what, self->lane, mask);
    if (scope == Scope::whole_warp && warp.lanes != 0xffffffffu)
        kernel_error(where, "%s in a warp that has lanes %08x only", what, warp.lanes);
    mask &= warp.lanes;
    if (mask & warp.done)
        kernel_error(where, "divergent %s: lanes %08x of its mask %08x have ended", what,
                     mask & warp.done, mask);
    Gathering &gathering = join(warp, what, mask, bit, where);
    gathering.arrived |= bit;
    self->operand = operand;
    self->where = where;
    if (gathering.arrived != mask) {
        self->state = State::at_warp_collective;
        wait_until_ready();
        return;
    }

    gathering = warp.gathering[--warp.open];
    Meeting meeting = {mask, self->warp, {}, where};
    Fiber *const *lanes = &fibers[self->warp * warp_lanes];
    for (unsigned left = mask; left; left &= left - 1)
        meeting.operand[lowest_lane(left)] = lanes[lowest_lane(left)]->operand;
    counters.warp_ops++;
    combine(meeting);
    for (int lane = warp_lanes - 1; lane >= 0; lane--) // each goes to the front: highest first
        if (mask >> lane & 1)
            make_ready(lanes[lane], true);
    wait_until_ready();
}

void meet_and_order(const char *what, unsigned mask, Where where)
{
    meet(
        what, mask, Scope::some_lanes, nullptr,
        [](const Meeting &meeting) { watch::warp_barrier(meeting.warp, meeting.mask); }, where);
}
} // namespace emu
