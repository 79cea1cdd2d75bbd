// What the race checker prints, and what it makes of the process.
#ifndef GDNN_EMULATOR_RACE_REPORT_HPP
#define GDNN_EMULATOR_RACE_REPORT_HPP

#include "shadow.hpp"

namespace emu
{
// Counts an error and prints it, once for each place and kind and at most 20 times. `other_time`:
// when the other access was, by `other` of its block, or 0 for none. Returns false. A process that
// ends with errors exits with status 66.
bool report_race(const char *what, const Region &region, size_t at, unsigned thread, Site site,
                 uint32_t other_time, unsigned other, Site other_site);
} // namespace emu

#endif
