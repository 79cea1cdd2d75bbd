// One clock ticks at every synchronisation; a thread's time is the tick at which it last synchronised. Blocks of a launch
// are never ordered. Inside a block, what came before the last barrier is; after it, only lanes of a warp can be, by
// vector clocks.
#include "clocks.hpp"
#include "scheduler.hpp"

#include <algorithm>
#include <vector>

namespace emu
{
static uint32_t now = 1, launch_start, block_start, barrier_time, block_serial;
static std::vector<uint32_t> block_starts;
static uint32_t own_time[max_block_threads];
// seen[a][lane]: accesses up to this time of that lane of a's warp happened before what a does now.
static uint32_t seen[max_block_threads][warp_lanes];

static uint32_t tick()
{
    if (++now == UINT32_MAX)
        fail(Where(), "the race checker's clock ran over: 2^32 synchronisations in one process");
    return now;
}

void clocks_begin_launch()
{
    launch_start = tick();
    block_starts.clear();
}

void clocks_begin_block()
{
    block_start = barrier_time = tick();
    block_starts.push_back(block_start);
    block_serial++;
    std::fill(own_time, own_time + block_threads, now);
    std::fill(&seen[0][0], &seen[block_threads - 1][0] + warp_lanes, 0);
}

void clocks_barrier()
{
    barrier_time = tick();
    std::fill(own_time, own_time + block_threads, now);
}

void clocks_warp_barrier(unsigned warp, unsigned mask)
{
    uint32_t joined[warp_lanes] = {};
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const unsigned thread = warp * warp_lanes + lane;
        seen[thread][lane] = own_time[thread];
        for (unsigned i = 0; i < warp_lanes; i++)
            joined[i] = std::max(joined[i], seen[thread][i]);
    }
    tick();
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const unsigned thread = warp * warp_lanes + lane;
        std::copy(joined, joined + warp_lanes, seen[thread]);
        own_time[thread] = now;
    }
}

uint32_t time_of(unsigned thread)
{
    return own_time[thread];
}

bool happened_before(uint32_t time, unsigned warp, unsigned lanes, unsigned thread)
{
    if (time < launch_start)
        return true;
    if (time < block_start)
        return false;
    if (time < barrier_time)
        return true;
    if (warp != thread / warp_lanes)
        return false;
    lanes &= ~(1u << thread % warp_lanes);
    for (; lanes; lanes &= lanes - 1)
        if (seen[thread][__builtin_ctz(lanes)] < time)
            return false;
    return true;
}

bool in_this_launch(uint32_t time)
{
    return time >= launch_start;
}

bool in_this_block(uint32_t time)
{
    return time >= block_start;
}

uint32_t block_of(uint32_t time)
{
    return (uint32_t)(std::upper_bound(block_starts.begin(), block_starts.end(), time) -
                      block_starts.begin() - 1);
}

uint32_t this_block()
{
    return block_serial;
}
} // namespace emu
