#include "take.h"
#include "error.h"
#include "launch.h"
#include "log.h"
#include "problem.h"
#include "route.h"
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

/* Runs our kernel; forwards what the driver refuses. */
static cudnnStatus_t launch(const gdnn_route *route, const gdnn_tensors *data, void *workspace,
                            CUstream stream, const gdnn_taker *taker)
{
    const gdnn_conv *conv = &route->key.conv;
    gdnn_log_conv(GDNN_LOG_CALLS, conv, "run", route->shape.kernel->name);
    if (gdnn_launch(&route->shape, &route->functions, &route->args, data, workspace, stream) ==
        GDNN_OK)
        return CUDNN_STATUS_SUCCESS;
    gdnn_log_conv(GDNN_LOG_ERROR, conv, "not launched, forwarded", gdnn_last_error());
    return taker->real(taker->context);
}

/* `own`: where the route is that nobody keeps, and counts. */
static cudnnStatus_t answer(gdnn_route *route, const gdnn_route *own, const gdnn_tensors *data,
                            void *workspace, const gdnn_taker *taker)
{
    gdnn_dir dir = route->key.conv.dir;
    gdnn_run_mode mode = gdnn_options_get()->mode;
    bool ours = route->reason == GDNN_REASON_TAKEN && mode != GDNN_MODE_OBSERVE;
    CUstream stream = NULL;
    if (ours) {
        gdnn_reason reason = check_memory(route, data, workspace);
        if (reason == GDNN_REASON_TAKEN && !taker->stream(taker->context, &stream))
            reason = GDNN_REASON_INVALID;
        if (reason != GDNN_REASON_TAKEN)
            return gdnn_forward(dir, reason, taker);
    }
    if (route == own)
        gdnn_routes_count(dir, route->reason);
    atomic_fetch_add_explicit(&route->calls, 1, memory_order_relaxed);
    if (!ours)
        return taker->real(taker->context);
    if (mode == GDNN_MODE_VERIFY)
        return gdnn_verify(route, data, workspace, stream, taker->real, taker->context);
    return launch(route, data, workspace, stream, taker);
}

cudnnStatus_t gdnn_take(const gdnn_conv *conv, int algo, const gdnn_tensors *data, void *workspace,
                        size_t workspace_bytes, const gdnn_taker *taker)
{
    gdnn_route_key key;
    memset(&key, 0, sizeof key);
    gdnn_reason reason = gdnn_current_device(&key.device);
    if (reason != GDNN_REASON_TAKEN)
        return gdnn_forward(conv->dir, reason, taker);
    memcpy(&key.conv, conv, sizeof key.conv);
    key.algo = algo;
    key.workspace = workspace ? workspace_bytes : 0;
    gdnn_stats_begin();
    gdnn_route own, *route = gdnn_route_of(&key, taker->accepted, taker->context, &own);
    return answer(route, &own, data, workspace, taker);
}

cudnnStatus_t gdnn_take_route(gdnn_route *route, const gdnn_tensors *data, void *workspace,
                              const gdnn_taker *taker)
{
    CUdevice device;
    gdnn_reason reason = gdnn_current_device(&device);
    if (reason != GDNN_REASON_TAKEN)
        return gdnn_forward(route->key.conv.dir, reason, taker);
    gdnn_route own;
    if (device != route->key.device) {
        gdnn_route_key key;
        memcpy(&key, &route->key, sizeof key);
        key.device = device;
        route = gdnn_route_of(&key, taker->accepted, taker->context, &own);
    }
    return answer(route, &own, data, workspace, taker);
}
