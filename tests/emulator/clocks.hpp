// Who is ordered before whom: launches, then barriers of the block, then meetings of lanes.
#ifndef GDNN_EMULATOR_CLOCKS_HPP
#define GDNN_EMULATOR_CLOCKS_HPP

#include <cstdint>

namespace emu
{
void clocks_begin_launch();
void clocks_begin_block();
void clocks_barrier();
void clocks_warp_barrier(unsigned warp, unsigned mask);

// The time of an access that this thread makes now.
uint32_t time_of(unsigned thread);

// Did an access at `time` by `lanes` of `warp`, in this block if it was in this launch's current one, happen before what
// `thread` does now?
bool happened_before(uint32_t time, unsigned warp, unsigned lanes, unsigned thread);

bool in_this_launch(uint32_t time);
bool in_this_block(uint32_t time);
// Ordinal of the block of this launch in which `time` lies.
uint32_t block_of(uint32_t time);
// A number of its own for each block since the process began.
uint32_t this_block();
} // namespace emu

#endif
