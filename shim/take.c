#include "take.h"
#include "args.h"
#include "device.h"
#include "driver.h"
#include "error.h"
#include "launch.h"
#include "log.h"
#include "problem.h"
#include "stats.h"
#include "verify.h"
#include <stdint.h>
#include <string.h>

cudnnStatus_t gdnn_forward(gdnn_dir dir, gdnn_reason reason, const gdnn_taker *taker)
{
    gdnn_stats_begin();
    gdnn_routes_count(dir, reason);
    return taker->real(taker->context);
}

static void set_spans(gdnn_route *route)
{
    const gdnn_conv *conv = &route->key.conv;
    size_t size = gdnn_dtype_size(conv->dtype);
    for (int role = 0; role < 3; role++)
        route->bytes[role] = (size_t)gdnn_span(conv, (gdnn_role)role) * size;
    if (!route->args.has_z)
        return;
    int64_t sizes[GDNN_MAX_DIMS];
    gdnn_conv z = *conv;
    memcpy(z.y_stride, conv->z_stride, sizeof z.y_stride);
    route->z_bytes = (size_t)gdnn_span(&z, GDNN_ROLE_Y) * size;
    gdnn_sizes(conv, GDNN_ROLE_Y, sizes);
    route->z_like_y = true;
    for (int i = 0; i < gdnn_dims(conv); i++)
        route->z_like_y &= sizes[i] == 1 || conv->z_stride[i] == conv->y_stride[i];
}

/* Decides what becomes of the problem `route->key`, and loads its kernel. False: the driver failed; the next call may
 * find it well again. */
static bool decide(gdnn_route *route, const gdnn_taker *taker)
{
    const gdnn_conv *conv = &route->key.conv;
    gdnn_device device;
    route->evidence = "none";
    route->reason = GDNN_REASON_NO_DRIVER;
    if (gdnn_device_read(route->key.device, &device) != GDNN_OK)
        return false;
    int64_t offered = route->key.workspace > INT64_MAX ? INT64_MAX : (int64_t)route->key.workspace;
    gdnn_decision decision = gdnn_decide(conv, offered, &device, gdnn_options_get());
    route->reason = decision.reason;
    route->evidence = decision.evidence;
    route->shape = decision.launch;
    if (route->reason != GDNN_REASON_TAKEN)
        return true;
    if (!taker->accepted(taker->context)) {
        route->reason = GDNN_REASON_REFUSED;
        return true;
    }
    gdnn_status status = gdnn_load(&route->shape, &route->function, &route->reason);
    if (status != GDNN_OK) {
        gdnn_log_conv(GDNN_LOG_ERROR, conv, "not loaded", gdnn_last_error());
        return status != GDNN_FAILED;
    }
    gdnn_args_fill(&route->args, conv);
    set_spans(route);
    return true;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second + b_bytes && second < first + a_bytes;
}

/* What a problem cannot show: the addresses of this call. */
static gdnn_reason check_memory(const gdnn_route *route, const gdnn_tensors *t,
                                const void *workspace)
{
    const gdnn_conv *conv = &route->key.conv;
    size_t size = gdnn_dtype_size(conv->dtype);
    gdnn_role written = gdnn_written(conv->dir);
    size_t bias_bytes = route->args.has_bias ? (size_t)conv->k * size : 0;
    const struct {
        const void *pointer;
        size_t bytes; /* 0: not used */
    } memory[] = {
        {t->x, route->bytes[GDNN_ROLE_X]},
        {t->w, route->bytes[GDNN_ROLE_W]},
        {t->y, route->bytes[GDNN_ROLE_Y]},
        {t->z, route->z_bytes},
        {t->bias, bias_bytes},
        {workspace, (size_t)route->shape.workspace},
    };
    enum { Z = 3, WORKSPACE = 5, MEMORIES };
    bool in_place = t->z == t->y && route->z_like_y;
    for (int i = 0; i < MEMORIES; i++) {
        if (!memory[i].bytes)
            continue;
        size_t alignment = i == WORKSPACE ? 16 : size;
        if (!memory[i].pointer || (uintptr_t)memory[i].pointer % alignment)
            return GDNN_REASON_INVALID;
        bool allowed = i == (int)written || (i == Z && in_place);
        if (!allowed && overlap(memory[i].pointer, memory[i].bytes, memory[written].pointer,
                                memory[written].bytes))
            return GDNN_REASON_ALIASED;
    }
    return GDNN_REASON_TAKEN;
}

/* The route of `key`, made if there is none; `own` where it cannot be kept. */
static gdnn_route *route_of(const gdnn_route_key *key, const gdnn_taker *taker, gdnn_route *own)
{
    const gdnn_conv *conv = &key->conv;
    uint64_t hash = gdnn_route_hash(key);
    gdnn_route *route = gdnn_routes_find(key, hash);
    if (route)
        return route;

    bool added;
    memset(own, 0, sizeof *own);
    memcpy(&own->key, key, sizeof *key);
    own->hash = hash;
    if (!decide(own, taker))
        return own;
    route = gdnn_routes_add(own, &added);
    if (!added)
        return route ? route : own;
    gdnn_trace_route(route);
    bool taken = route->reason == GDNN_REASON_TAKEN;
    bool observed = gdnn_options_get()->mode == GDNN_MODE_OBSERVE;
    gdnn_log_conv(GDNN_LOG_INFO, conv,
                  !taken     ? "forwarded"
                  : observed ? "would be taken"
                             : "taken",
                  taken ? route->shape.kernel->name : gdnn_reason_name(route->reason));
    return route;
}

/* Runs our kernel; forwards what the driver refuses. */
static cudnnStatus_t launch(const gdnn_route *route, const gdnn_tensors *data, void *workspace,
                            CUstream stream, const gdnn_taker *taker)
{
    const gdnn_conv *conv = &route->key.conv;
    gdnn_log_conv(GDNN_LOG_CALLS, conv, "run", route->shape.kernel->name);
    if (gdnn_launch(&route->shape, route->function, &route->args, data, workspace, stream) ==
        GDNN_OK)
        return CUDNN_STATUS_SUCCESS;
    gdnn_log_conv(GDNN_LOG_ERROR, conv, "not launched, forwarded", gdnn_last_error());
    return taker->real(taker->context);
}

cudnnStatus_t gdnn_take(const gdnn_conv *conv, int algo, const gdnn_tensors *data, void *workspace,
                        size_t workspace_bytes, const gdnn_taker *taker)
{
    const gdnn_driver *cu = gdnn_driver_get();
    gdnn_run_mode mode = gdnn_options_get()->mode;
    gdnn_route_key key;
    if (!cu)
        return gdnn_forward(conv->dir, GDNN_REASON_NO_DRIVER, taker);
    memset(&key, 0, sizeof key);
    if (cu->cuCtxGetDevice(&key.device) != CUDA_SUCCESS)
        return gdnn_forward(conv->dir, GDNN_REASON_NO_CONTEXT, taker);
    memcpy(&key.conv, conv, sizeof key.conv);
    key.algo = algo;
    key.workspace = workspace ? workspace_bytes : 0;

    gdnn_stats_begin();
    gdnn_route own, *route = route_of(&key, taker, &own);
    bool ours = route->reason == GDNN_REASON_TAKEN && mode != GDNN_MODE_OBSERVE;
    CUstream stream = NULL;
    if (ours) {
        gdnn_reason reason = check_memory(route, data, workspace);
        if (reason == GDNN_REASON_TAKEN && !taker->stream(taker->context, &stream))
            reason = GDNN_REASON_INVALID;
        if (reason != GDNN_REASON_TAKEN)
            return gdnn_forward(conv->dir, reason, taker);
    }
    if (route == &own)
        gdnn_routes_count(conv->dir, route->reason);
    atomic_fetch_add_explicit(&route->calls, 1, memory_order_relaxed);
    if (!ours)
        return taker->real(taker->context);
    if (mode == GDNN_MODE_VERIFY)
        return gdnn_verify(route, data, workspace, stream, taker->real, taker->context);
    return launch(route, data, workspace, stream, taker);
}
