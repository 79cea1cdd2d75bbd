// Checks one access.
#ifndef GDNN_EMULATOR_RACE_HPP
#define GDNN_EMULATOR_RACE_HPP

#include "sites.hpp"

#include <cstddef>

namespace emu
{
enum class Access { read, write, atomic };

// An access that the compiler takes to be aligned to its size is not.
void check_alignment(unsigned thread, const void *pointer, size_t bytes, Site site);
void check_access(unsigned thread, const void *pointer, size_t bytes, Access access, Site site);
} // namespace emu

#endif
