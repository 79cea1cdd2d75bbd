// Bank conflicts of shared memory.
#ifndef GDNN_EMULATOR_CONFLICTS_HPP
#define GDNN_EMULATOR_CONFLICTS_HPP

#include "sites.hpp"

#include <cstddef>

namespace emu
{
// `offset` from the start of the array, which is taken to begin at bank 0.
void note_shared_access(unsigned thread, size_t offset, size_t bytes, Site site);
// Adds up the conflicts since the last call; all threads have come to a barrier or to their end.
void count_conflicts();
} // namespace emu

#endif
