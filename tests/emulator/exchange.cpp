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

// The lane that `lane` reads from. Widths cut the warp into segments; a source outside the segment is the lane itself.
static unsigned source_lane(const ShuffleOperand &own, unsigned lane, Where where)
{
    const int width = own.width;
    if (width < 1 || width > 32 || (width & (width - 1)))
        fail(where, "shuffle with width %d: not a power of two up to 32", width);
    const int base = (int)lane & ~(width - 1), self = (int)lane - base;
    int source = self;
    switch (own.kind) {
    case Shuffle::index: source = own.source & (width - 1); break;
    case Shuffle::up: source = self - own.source; break;
    case Shuffle::down: source = self + own.source; break;
    case Shuffle::exclusive_or: source = self ^ own.source; break;
    }
    return (unsigned)(base + (source >= 0 && source < width ? source : self));
}

void shuffle(const Meeting &meeting)
{
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!takes_part(meeting, lane))
            continue;
        ShuffleOperand &own = operand<ShuffleOperand>(meeting, lane);
        const unsigned source = source_lane(own, lane, meeting.where);
        if (!takes_part(meeting, source))
            fail(meeting.where, "shuffle: lane %u reads from lane %u, which is not in mask %08x",
                 lane, source, meeting.mask);
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
