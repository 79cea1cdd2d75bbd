// Streams and the work on them, which runs only when somebody waits.
#ifndef GDNN_DOUBLE_STREAMS_HPP
#define GDNN_DOUBLE_STREAMS_HPP

#include "double.hpp"

#include <functional>

namespace fake
{
// Adds work to a stream of the device, or to its capture; 0 is the default stream. The work finds
// device memory accessible.
CUresult enqueue(const char *function, Device *device, CUstream stream, std::function<void()> work);

void run_all_work();
size_t live_streams(const Device *device);
size_t live_events(const Device *device);

// False if a stream is being captured and this thread's mode forbids calls that a capture could not
// repeat; the captures are then spoilt.
bool allowed_in_capture();
uint64_t count_of_capture_exchanges();
} // namespace fake

#endif
