#include "verify.h"
#include "difference.h"
#include "driver.h"
#include "launch.h"
#include "log.h"
#include "problem.h"
#include <stdio.h>

/* One call under verification. */
typedef struct call {
    const gdnn_driver *cu;
    gdnn_route *route;
    CUstream stream;
    void *theirs;     /* the program's tensor that is written */
    CUdeviceptr ours; /* a copy of it, for our kernel; 0: none */
    size_t bytes;
    bool said; /* why there is no comparison */
    gdnn_magnitude magnitude;
} call;

static void log_route(gdnn_log_level level, const gdnn_route *route, const char *what,
                      const char *detail)
{
    char said[128];
    snprintf(said, sizeof said, "verify: %s: %s", what, route->shape.kernel->name);
    gdnn_log_conv(level, &route->key.conv, said, detail);
}

/* Logs why there is no comparison, and returns false. */
static bool give_up(call *c, const char *why)
{
    if (!c->said)
        log_route(GDNN_LOG_INFO, c->route, "not compared", why);
    c->said = true;
    return false;
}

static bool succeeds(call *c, CUresult result, const char *function)
{
    return gdnn_driver_check(result, function) == GDNN_OK || give_up(c, gdnn_last_error());
}

/* Waits for the stream. A stream that is refused once may have work left, which must end before
 * its memory goes; a context that refuses twice is broken and runs nothing any more. */
static CUresult settle(const call *c)
{
    const CUresult result = c->cu->cuStreamSynchronize(c->stream);
    if (result != CUDA_SUCCESS)
        c->cu->cuStreamSynchronize(c->stream);
    return result;
}

static bool copy_to_host(void *context, const void *device, size_t bytes, void *host)
{
    call *c = context;
    return succeeds(
               c, c->cu->cuMemcpyDtoHAsync(host, (CUdeviceptr)(uintptr_t)device, bytes, c->stream),
               "cuMemcpyDtoHAsync") &&
           succeeds(c, settle(c), "cuStreamSynchronize");
}

static bool is_captured(const call *c)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    /* Also fails for the default stream beside another one that is captured. */
    return c->cu->cuStreamIsCapturing(c->stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Copies what is written. */
static bool take_memory(call *c)
{
    if (!succeeds(c, c->cu->cuMemAllocAsync(&c->ours, c->bytes, c->stream), "cuMemAllocAsync")) {
        c->ours = 0;
        return false;
    }
    return succeeds(
        c,
        c->cu->cuMemcpyDtoDAsync(c->ours, (CUdeviceptr)(uintptr_t)c->theirs, c->bytes, c->stream),
        "cuMemcpyDtoDAsync");
}

/* Runs our kernel on the copy. Its errors must not be taken for cuDNN's: hence the wait. */
static bool run_ours(const call *c, const gdnn_tensors *tensors, void *workspace)
{
    gdnn_route *route = c->route;
    gdnn_tensors t = *tensors;
    void *ours = (void *)(uintptr_t)c->ours;
    switch (gdnn_written(route->key.conv.dir)) {
    case GDNN_ROLE_X: t.x = ours; break;
    case GDNN_ROLE_W: t.w = ours; break;
    case GDNN_ROLE_Y: t.y = ours; break;
    }
    if (t.z == c->theirs)
        t.z = ours;
    gdnn_status status =
        gdnn_launch(&route->shape, &route->functions, &route->args, &t, workspace, c->stream);
    if (status == GDNN_OK)
        status = gdnn_driver_check(settle(c), "our kernel");
    if (status != GDNN_OK)
        log_route(GDNN_LOG_ERROR, route, "failed", gdnn_last_error());
    return status == GDNN_OK;
}

/* All that comes before cuDNN's turn. False: it is not to be compared. */
static bool prepare(call *c, const gdnn_tensors *tensors, void *workspace)
{
    const gdnn_fetch fetch = {copy_to_host, c};
    if (!c->cu)
        return give_up(c, gdnn_last_error());
    if (is_captured(c))
        return give_up(c, "the stream is being captured");
    if (!take_memory(c))
        return false;
    if (!gdnn_magnitude_open(&c->magnitude, &c->route->key.conv, tensors, &fetch))
        return give_up(c, "no host memory");
    return run_ours(c, tensors, workspace);
}

static void raise_worst(gdnn_route *route, double share)
{
    double worst = atomic_load(&route->worst);
    while (share > worst && !atomic_compare_exchange_weak(&route->worst, &worst, share))
        continue;
}

static void log_difference(gdnn_log_level level, const gdnn_route *route, const char *what,
                           const gdnn_difference *d)
{
    char text[400];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "L2 difference %.3g (bound %.3g), worst element %.3g times its bound, %.9g instead of "
        "cuDNN's %.9g, at (",
        d->l2, d->l2_bound, d->element, d->ours, d->cudnn);
    const int dims = gdnn_dims(&route->key.conv);
    for (int axis = 0; axis < dims && used < sizeof text; axis++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%lld%s", (long long)d->at[axis],
                                 axis + 1 < dims ? ", " : ")");
    log_route(level, route, what, text);
}

/* True if there was a comparison, whatever it showed. */
static bool compare(call *c)
{
    const gdnn_fetch fetch = {copy_to_host, c};
    gdnn_route *route = c->route;
    gdnn_difference d;
    if (!gdnn_difference_measure(&d, &c->magnitude, route->key.algo,
                                 (const void *)(uintptr_t)c->ours, c->theirs, &fetch))
        return give_up(c, "no host memory");
    raise_worst(route, d.share);
    const uint64_t before = atomic_fetch_add(&route->compared, 1);
    if (!(d.share <= 1)) {
        atomic_fetch_add(&route->differed, 1);
        log_difference(GDNN_LOG_ERROR, route, "differs", &d);
    } else if (before == atomic_load(&route->differed)) {
        log_difference(GDNN_LOG_INFO, route, "agrees", &d);
    }
    return true;
}

static void give_back(call *c)
{
    gdnn_magnitude_close(&c->magnitude);
    if (c->ours && c->cu->cuMemFreeAsync(c->ours, c->stream) != CUDA_SUCCESS)
        c->cu->cuMemFree(c->ours);
}

cudnnStatus_t gdnn_verify(gdnn_route *route, const gdnn_tensors *tensors, void *workspace,
                          CUstream stream, cudnnStatus_t (*real)(void *context), void *context)
{
    const gdnn_conv *conv = &route->key.conv;
    const gdnn_role written = gdnn_written(conv->dir);
    call c = {.cu = gdnn_driver_get(),
              .route = route,
              .stream = stream,
              .theirs = written == GDNN_ROLE_X   ? tensors->x
                        : written == GDNN_ROLE_W ? tensors->w
                                                 : tensors->y,
              .bytes = (size_t)gdnn_span(conv, written) * gdnn_dtype_size(conv->dtype)};

    bool both = prepare(&c, tensors, workspace);
    const cudnnStatus_t status = real(context);
    if (both && status != CUDNN_STATUS_SUCCESS)
        both = give_up(&c, "cuDNN refused the call");
    if (!both || !compare(&c))
        atomic_fetch_add(&route->skipped, 1);
    give_back(&c);
    return status;
}
