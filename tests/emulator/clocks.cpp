#include "clocks.hpp"
#include "scheduler.hpp"

#include <algorithm>
#include <vector>

namespace emu
{
Clocks clocks;
static std::vector<uint32_t> &block_starts = *new std::vector<uint32_t>; // of this launch

static uint32_t tick()
{
    if (++clocks.now == UINT32_MAX)
        kernel_error(Where(),
                     "the race checker's clock ran over: 2^32 synchronisations in one process");
    return clocks.now;
}

static void all_threads_are_at(uint32_t time)
{
    clocks.barrier = time;
    std::fill(clocks.own, clocks.own + block_threads, time);
}

void clocks_begin_launch()
{
    clocks.launch_start = tick();
    block_starts.clear();
}

void clocks_begin_block()
{
    clocks.block_start = tick();
    clocks.block_serial++;
    block_starts.push_back(clocks.block_start);
    all_threads_are_at(clocks.block_start);
}

void clocks_barrier()
{
    all_threads_are_at(tick());
}

void clocks_warp_barrier(unsigned warp, unsigned mask)
{
    uint32_t joined[warp_lanes] = {};
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes), thread = warp * warp_lanes + lane;
        clocks.seen[thread][lane] = clocks.own[thread];
        for (unsigned i = 0; i < warp_lanes; i++)
            joined[i] = std::max(joined[i], clocks.seen[thread][i]);
    }
    const uint32_t time = tick();
    for (unsigned lanes = mask; lanes; lanes &= lanes - 1) {
        const unsigned thread = warp * warp_lanes + (unsigned)__builtin_ctz(lanes);
        std::copy(joined, joined + warp_lanes, clocks.seen[thread]);
        clocks.own[thread] = time;
    }
}

uint32_t block_of(uint32_t time)
{
    return (uint32_t)(std::upper_bound(block_starts.begin(), block_starts.end(), time) -
                      block_starts.begin() - 1);
}
} // namespace emu
