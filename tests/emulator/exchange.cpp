// What shuffles, votes, matches and reductions compute.
#include "collectives.hpp"

#include <cstring>

namespace emu
{
template <class T>
static T &operand(const Meeting &meeting, unsigned lane)
{
    return *static_cast<T *>(meeting.operand[lane]);
}

static bool takes_part(const Meeting &meeting, unsigned lane)
{
    return meeting.mask >> lane & 1;
}

// The lane that `lane` reads from. Widths cut the warp into segments; whoever would read beyond its
// segment reads itself, but __shfl_xor_sync may read from earlier segments.
static unsigned source_lane(const ShuffleOperand &own, unsigned lane, Where where)
{
    const unsigned width = (unsigned)own.width, distance = (unsigned)own.source % warp_lanes;
    if (width < 1 || width > warp_lanes || (width & (width - 1)))
        kernel_error(where, "shuffle with width %d: not a power of two up to 32", own.width);
    const unsigned first = lane & ~(width - 1), last = first + width - 1;
    switch (own.kind) {
    case Shuffle::index: return first + distance % width;
    case Shuffle::up: return lane >= first + distance ? lane - distance : lane;
    case Shuffle::down: return lane + distance <= last ? lane + distance : lane;
    default: return (lane ^ distance) <= last ? lane ^ distance : lane;
    }
}

void shuffle(const Meeting &meeting)
{
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!takes_part(meeting, lane))
            continue;
        ShuffleOperand &own = operand<ShuffleOperand>(meeting, lane);
        const unsigned source = source_lane(own, lane, meeting.where);
        if (!takes_part(meeting, source))
            kernel_error(meeting.where,
                         "shuffle: lane %u reads from lane %u, which is not in mask %08x", lane,
                         source, meeting.mask);
        memcpy(own.out, operand<ShuffleOperand>(meeting, source).in, own.bytes);
    }
}

void vote(const Meeting &meeting)
{
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++)
        if (takes_part(meeting, lane) && operand<VoteOperand>(meeting, lane).predicate)
            ballot |= 1u << lane;
    for (unsigned lane = 0; lane < warp_lanes; lane++)
        if (takes_part(meeting, lane))
            operand<VoteOperand>(meeting, lane).ballot = ballot;
}

void match(const Meeting &meeting)
{
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!takes_part(meeting, lane))
            continue;
        MatchOperand &own = operand<MatchOperand>(meeting, lane);
        own.equal = 0;
        for (unsigned other = 0; other < warp_lanes; other++)
            if (takes_part(meeting, other) &&
                operand<MatchOperand>(meeting, other).value == own.value)
                own.equal |= 1u << other;
    }
}

static unsigned reduce_two(const ReduceOperand &how, unsigned a, unsigned b)
{
    const bool less = how.is_signed ? (int)a < (int)b : a < b;
    switch (how.kind) {
    case Reduce::add: return a + b;
    case Reduce::min: return less ? a : b;
    case Reduce::max: return less ? b : a;
    case Reduce::bit_and: return a & b;
    case Reduce::bit_or: return a | b;
    default: return a ^ b;
    }
}

void reduce(const Meeting &meeting)
{
    const unsigned first = (unsigned)__builtin_ctz(meeting.mask);
    unsigned result = operand<ReduceOperand>(meeting, first).value;
    for (unsigned lane = first + 1; lane < warp_lanes; lane++)
        if (takes_part(meeting, lane)) {
            const ReduceOperand &own = operand<ReduceOperand>(meeting, lane);
            result = reduce_two(own, result, own.value);
        }
    for (unsigned lane = first; lane < warp_lanes; lane++)
        if (takes_part(meeting, lane))
            operand<ReduceOperand>(meeting, lane).value = result;
}
} // namespace emu
