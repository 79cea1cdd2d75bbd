// Shared memory of the running block.
#ifndef GDNN_EMULATOR_SHARED_HPP
#define GDNN_EMULATOR_SHARED_HPP

#include <cstddef>

namespace emu
{
void begin_shared(size_t dynamic_bytes, size_t max_bytes); // once a launch
void begin_shared_block();
} // namespace emu

#endif
