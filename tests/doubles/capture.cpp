// Capture of streams, and graphs: lists of work to launch again.
#include "capture.hpp"

#include <utility>

struct CUgraph_st {
    std::vector<fake::Work> work;
};

struct CUgraphExec_st {
    std::vector<fake::Work> work;
};

namespace fake
{
static std::set<CUgraph> &graphs = *new std::set<CUgraph>;
static std::set<CUgraphExec> &executables = *new std::set<CUgraphExec>;
static uint64_t capture_exchanges;
static thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

bool is_capturing(const char *function, Device *device, CUstream stream)
{
    return find_stream(function, device, stream)->capture != nullptr;
}

Stream *captured_beside_default(const Device *device)
{
    for (Stream *stream : streams())
        if (stream->capture && stream->blocking && stream->device == device)
            return stream;
    return nullptr;
}

// As the documentation of cuThreadExchangeStreamCaptureMode has it.
static bool forbids(const Capture &capture)
{
    const bool ours = capture.thread == std::this_thread::get_id();
    switch (capture_mode) {
    case CU_STREAM_CAPTURE_MODE_RELAXED: return false;
    case CU_STREAM_CAPTURE_MODE_THREAD_LOCAL:
        return ours && capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    case CU_STREAM_CAPTURE_MODE_GLOBAL: break;
    }
    return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
           (ours && capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED);
}

bool allowed_in_capture()
{
    bool allowed = true;
    for (Stream *stream : streams())
        if (stream->capture && forbids(*stream->capture)) {
            stream->capture->spoilt = true;
            allowed = false;
        }
    return allowed;
}

uint64_t count_of_capture_exchanges()
{
    return capture_exchanges;
}

template <class Handle>
static Handle require(const char *function, const std::set<Handle> &live, Handle handle)
{
    if (!live.count(handle))
        die(function, "%p is not a live graph", (void *)handle);
    return handle;
}

static void begin(Stream *stream, CUstreamCaptureMode mode)
{
    stream->capture = std::make_shared<Capture>(
        Capture{mode, std::this_thread::get_id(), false, std::vector<Work>()});
}
} // namespace fake

using namespace fake;

DRIVER cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    ENTER_UNINITIALISED(cuThreadExchangeStreamCaptureMode);
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, capture_mode);
    capture_exchanges++;
    return CUDA_SUCCESS;
}

DRIVER cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
    ENTER_CONTEXT(cuStreamIsCapturing);
    const Stream *stream = find_stream(self, device, handle);
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == default_stream(device) && captured_beside_default(device))
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = !stream->capture          ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->capture->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

DRIVER cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    ENTER_CONTEXT(cuStreamBeginCapture);
    Stream *stream = find_stream(self, device, handle);
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == default_stream(device))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    begin(stream, mode);
    return CUDA_SUCCESS;
}

DRIVER cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    ENTER_CONTEXT(cuStreamEndCapture);
    Stream *stream = find_stream(self, device, handle);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = nullptr;
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (stream->capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        stream->capture->thread != std::this_thread::get_id())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    const std::shared_ptr<Capture> capture = std::move(stream->capture);
    stream->capture = nullptr;
    if (capture->spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *graph = new CUgraph_st{std::move(capture->work)};
    graphs.insert(*graph);
    return CUDA_SUCCESS;
}

DRIVER cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags)
{
    ENTER_CONTEXT(cuGraphInstantiateWithFlags);
    require(self, graphs, graph);
    if (!executable)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags)
        die(self, "flags %#llx are not modelled", flags);
    *executable = new CUgraphExec_st{graph->work};
    executables.insert(*executable);
    return CUDA_SUCCESS;
}

DRIVER cuGraphLaunch(CUgraphExec executable, CUstream stream)
{
    ENTER_CONTEXT(cuGraphLaunch);
    const std::vector<Work> work = require(self, executables, executable)->work;
    return enqueue(self, device, stream, [=] {
        for (const Work &one : work) {
            Work fresh = one; // it may change what it holds
            fresh();
        }
    });
}

DRIVER cuGraphDestroy(CUgraph graph)
{
    ENTER(cuGraphDestroy);
    graphs.erase(require(self, graphs, graph));
    delete graph;
    return CUDA_SUCCESS;
}

DRIVER cuGraphExecDestroy(CUgraphExec executable)
{
    ENTER(cuGraphExecDestroy);
    executables.erase(require(self, executables, executable));
    delete executable;
    return CUDA_SUCCESS;
}

extern "C" EXPORT void gdnn_fake_capture_begin(CUstream handle)
{
    std::lock_guard<std::recursive_mutex> lock(fake::mutex);
    Stream *stream = reinterpret_cast<Stream *>(handle);
    if (!streams().count(stream) || stream->capture)
        die("gdnn_fake_capture_begin", "%p is not a stream that can be captured", (void *)handle);
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

extern "C" EXPORT int gdnn_fake_capture_end(CUstream handle)
{
    std::lock_guard<std::recursive_mutex> lock(fake::mutex);
    Stream *stream = reinterpret_cast<Stream *>(handle);
    if (!streams().count(stream) || !stream->capture)
        die("gdnn_fake_capture_end", "%p is not being captured", (void *)handle);
    const std::shared_ptr<Capture> capture = std::move(stream->capture);
    stream->capture = nullptr;
    if (capture->spoilt)
        return -1;
    for (Work &work : capture->work)
        enqueue("gdnn_fake_capture_end", stream->device, handle, std::move(work));
    return (int)capture->work.size();
}
