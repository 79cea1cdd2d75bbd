// Who is ordered before whom. One clock ticks at every synchronisation; a thread's time is the tick
// at which it last synchronised. Blocks of a launch are never ordered. Inside a block, what came
// before the last barrier is; after it, only lanes of a warp can be, by vector clocks.
#ifndef GDNN_EMULATOR_CLOCKS_HPP
#define GDNN_EMULATOR_CLOCKS_HPP

#include "thread.hpp"

#include <cstdint>

namespace emu
{
void clocks_begin_launch();
void clocks_begin_block();
void clocks_barrier();
void clocks_warp_barrier(unsigned warp, unsigned mask);

struct Clocks {
    uint32_t now = 1, launch_start = 0, block_start = 0, barrier = 0;
    uint32_t block_serial = 0; // of all blocks since the process began
    uint32_t own[max_block_threads];
    // seen[a][lane]: accesses up to this time of that lane of a's warp happened before what a does
    // now.
    uint32_t seen[max_block_threads][warp_lanes];
};
extern Clocks clocks;

static inline bool in_this_launch(uint32_t time)
{
    return time >= clocks.launch_start;
}

static inline bool in_this_block(uint32_t time)
{
    return time >= clocks.block_start;
}

// Did accesses at `time` by `lanes` of `warp` happen before what `thread` does now?
static inline bool happened_before(uint32_t time, unsigned warp, unsigned lanes, unsigned thread)
{
    if (time < clocks.launch_start)
        return true;
    if (time < clocks.block_start)
        return false;
    if (time < clocks.barrier)
        return true;
    if (warp != thread / warp_lanes)
        return false;
    lanes &= ~(1u << thread % warp_lanes);
    for (; lanes; lanes &= lanes - 1)
        if (clocks.seen[thread][__builtin_ctz(lanes)] < time)
            return false;
    return true;
}

// Ordinal in the launch of the block in which `time` lies.
uint32_t block_of(uint32_t time);
} // namespace emu

#endif
