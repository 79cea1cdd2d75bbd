// Error reports.
#ifndef GDNN_EMULATOR_REPORT_HPP
#define GDNN_EMULATOR_REPORT_HPP

namespace emu
{
// Prints where the kernel is: name, block, thread. The message follows on the same line of stderr.
void report_begin();
} // namespace emu

#endif
