// Streams and the work on them, which runs only when somebody waits.
#ifndef GDNN_DOUBLE_STREAMS_HPP
#define GDNN_DOUBLE_STREAMS_HPP

#include "double.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <set>

namespace fake
{
typedef std::function<void()> Work;
struct Capture; // capture.hpp

struct Operation {
    uint64_t order; // among all streams
    Work work;
};

struct Stream {
    Device *device;
    bool blocking; // in order with the default stream
    std::deque<Operation> queue;
    std::shared_ptr<Capture> capture; // null: is not being captured
};

// Those that cuStreamCreate made.
std::set<Stream *> &streams();
Stream *default_stream(Device *device);
// Dies if the handle is no live stream; 0, 1 and 2 name the default stream.
Stream *find_stream(const char *function, Device *device, CUstream handle);

// Adds work to a stream of the device, or to its capture. The work finds device memory accessible.
CUresult enqueue(const char *function, Device *device, CUstream stream, Work work);

void run_all_work();
size_t live_streams(const Device *device);
size_t live_events(const Device *device);
} // namespace fake

#endif
