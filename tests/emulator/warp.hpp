// The meetings of lanes.
#ifndef GDNN_EMULATOR_WARP_HPP
#define GDNN_EMULATOR_WARP_HPP

#include "scheduler.hpp"

namespace emu
{
void begin_warps();
void thread_leaves_warp(const Thread &thread);
} // namespace emu

#endif
