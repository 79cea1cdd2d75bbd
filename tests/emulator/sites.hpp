// Places in kernel text, numbered: small enough to keep some for each byte of memory.
#ifndef GDNN_EMULATOR_SITES_HPP
#define GDNN_EMULATOR_SITES_HPP

#include "thread.hpp"

#include <cstdint>
#include <string>

namespace emu
{
typedef uint32_t Site; // 0: unknown

Site site_of_code(const void *return_address);
Site site_of(const Where &where);
// "kernels/x.cu:12 (inlined by) ...", by addr2line where it is installed.
std::string site_text(Site site);
} // namespace emu

#endif
