// Streams that are being captured, and what a capture forbids.
#ifndef GDNN_DOUBLE_CAPTURE_HPP
#define GDNN_DOUBLE_CAPTURE_HPP

#include "streams.hpp"

#include <thread>
#include <vector>

namespace fake
{
struct Capture {
    CUstreamCaptureMode mode;
    std::thread::id thread; // that began it
    bool spoilt;
    std::vector<Work> work;
};

bool is_capturing(const char *function, Device *device, CUstream stream);

// The stream that a use of the default stream would tie to its capture: a blocking one; or null.
Stream *captured_beside_default(const Device *device);

// False if this thread's mode and the captures there are forbid calls that a capture could not
// repeat; the captures are then spoilt.
bool allowed_in_capture();
uint64_t count_of_capture_exchanges();
} // namespace fake

#endif
