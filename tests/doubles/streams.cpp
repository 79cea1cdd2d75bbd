#include "streams.hpp"
#include "capture.hpp"
#include "device_memory.hpp"

#include <chrono>
#include <map>
#include <utility>

namespace fake
{
struct Event {
    Device *device;
    bool recorded, complete;
    std::chrono::steady_clock::time_point time;
};

static std::map<const Device *, std::unique_ptr<Stream>> &default_streams =
    *new std::map<const Device *, std::unique_ptr<Stream>>;
static std::set<Stream *> &created = *new std::set<Stream *>;
static std::set<Event *> &events = *new std::set<Event *>;
static uint64_t next_order;

std::set<Stream *> &streams()
{
    return created;
}

Stream *default_stream(Device *device)
{
    std::unique_ptr<Stream> &stream = default_streams[device];
    if (!stream)
        stream.reset(new Stream{device, true, {}, nullptr});
    return stream.get();
}

// Handles 1 and 2 are the driver's names for default streams.
Stream *find_stream(const char *function, Device *device, CUstream handle)
{
    if ((uintptr_t)handle <= 2)
        return default_stream(device);
    Stream *stream = reinterpret_cast<Stream *>(handle);
    if (!created.count(stream))
        die(function, "%p is not a live stream", (void *)handle);
    return stream;
}

static Event *find_event(const char *function, CUevent handle)
{
    Event *event = reinterpret_cast<Event *>(handle);
    if (!events.count(event))
        die(function, "%p is not a live event", (void *)handle);
    return event;
}

// Runs what is older than `limit`. Work on the default stream and on blocking ones of the device is
// in order.
static void run(Stream *stream, uint64_t limit)
{
    if (stream->queue.empty())
        return;
    Accessible now;
    while (!stream->queue.empty() && stream->queue.front().order < limit) {
        const uint64_t order = stream->queue.front().order;
        Stream *const first = default_stream(stream->device);
        if (stream != first) {
            if (stream->blocking)
                run(first, order);
        } else {
            for (Stream *other : created)
                if (other->blocking && other->device == stream->device)
                    run(other, order);
        }
        const Operation operation = std::move(stream->queue.front());
        stream->queue.pop_front();
        operation.work();
    }
}

static void run(Stream *stream)
{
    run(stream, UINT64_MAX);
}

void run_all_work()
{
    for (const auto &entry : default_streams)
        run(entry.second.get());
    for (Stream *stream : created)
        run(stream);
}

// Using the default stream would make it wait for a blocking one, which is being captured.
static bool spoils_a_capture(const Stream *stream)
{
    Stream *const captured = captured_beside_default(stream->device);
    if (!captured || stream != default_stream(stream->device))
        return false;
    captured->capture->spoilt = true;
    return true;
}

CUresult enqueue(const char *function, Device *device, CUstream handle, Work work)
{
    Stream *stream = find_stream(function, device, handle);
    if (stream->device != device)
        return CUDA_ERROR_INVALID_HANDLE;
    if (spoils_a_capture(stream))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (stream->capture && stream->capture->spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture)
        stream->capture->work.push_back(std::move(work));
    else
        stream->queue.push_back({next_order++, std::move(work)});
    return CUDA_SUCCESS;
}

size_t live_streams(const Device *device)
{
    size_t count = 0;
    for (const Stream *stream : created)
        count += stream->device == device;
    return count;
}

size_t live_events(const Device *device)
{
    size_t count = 0;
    for (const Event *event : events)
        count += event->device == device;
    return count;
}
} // namespace fake

using namespace fake;

DRIVER cuStreamCreate(CUstream *handle, unsigned flags)
{
    ENTER_CONTEXT(cuStreamCreate);
    if (flags != CU_STREAM_DEFAULT && flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    Stream *stream = new Stream{device, flags == CU_STREAM_DEFAULT, {}, nullptr};
    created.insert(stream);
    *handle = reinterpret_cast<CUstream>(stream);
    return CUDA_SUCCESS;
}

DRIVER cuStreamDestroy_v2(CUstream handle)
{
    ENTER(cuStreamDestroy);
    Stream *stream = reinterpret_cast<Stream *>(handle);
    if (!created.count(stream))
        die(self, "%p is not a live stream", (void *)handle);
    run(stream);
    created.erase(stream);
    delete stream;
    return CUDA_SUCCESS;
}

DRIVER cuStreamSynchronize(CUstream handle)
{
    ENTER_CONTEXT(cuStreamSynchronize);
    Stream *stream = find_stream(self, device, handle);
    if (stream->capture) {
        stream->capture->spoilt = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (spoils_a_capture(stream))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (stream == default_stream(device)) // waits for the blocking streams too
        for (Stream *other : created)
            if (other->blocking && other->device == device)
                run(other);
    run(stream);
    return CUDA_SUCCESS;
}

// Also where this thread's mode is relaxed: the driver cannot wait for what never runs.
DRIVER cuCtxSynchronize(void)
{
    ENTER_CONTEXT(cuCtxSynchronize);
    bool captured = false;
    for (Stream *stream : created)
        if (stream->capture && stream->device == device)
            captured = stream->capture->spoilt = true;
    if (captured)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    run(default_stream(device));
    for (Stream *stream : created)
        if (stream->device == device)
            run(stream);
    return CUDA_SUCCESS;
}

DRIVER cuEventCreate(CUevent *handle, unsigned flags)
{
    ENTER_CONTEXT(cuEventCreate);
    (void)flags;
    Event *event = new Event{device, false, false, {}};
    events.insert(event);
    *handle = reinterpret_cast<CUevent>(event);
    return CUDA_SUCCESS;
}

DRIVER cuEventDestroy_v2(CUevent handle)
{
    ENTER(cuEventDestroy);
    Event *event = find_event(self, handle);
    run_all_work(); // which may record it
    events.erase(event);
    delete event;
    return CUDA_SUCCESS;
}

DRIVER cuEventRecord(CUevent handle, CUstream stream)
{
    ENTER_CONTEXT(cuEventRecord);
    Event *event = find_event(self, handle);
    const CUresult result = enqueue(self, device, stream, [=] {
        event->complete = true;
        event->time = std::chrono::steady_clock::now();
    });
    if (result == CUDA_SUCCESS) {
        event->recorded = true;
        event->complete = false;
    }
    return result;
}

DRIVER cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
    ENTER(cuEventElapsedTime);
    const Event *a = find_event(self, from), *b = find_event(self, to);
    if (!a->recorded || !b->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!a->complete || !b->complete)
        return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(b->time - a->time).count();
    return CUDA_SUCCESS;
}
