#include "route.h"
#include "device.h"
#include "driver.h"
#include "error.h"
#include "launch.h"
#include "log.h"
#include "problem.h"
#include "stats.h"
#include <string.h>

gdnn_reason gdnn_current_device(CUdevice *device)
{
    const gdnn_driver *cu = gdnn_driver_get();
    gdnn_reason reason = GDNN_REASON_TAKEN;
    if (!cu)
        reason = GDNN_REASON_NO_DRIVER;
    else if (cu->cuCtxGetDevice(device) != CUDA_SUCCESS)
        reason = GDNN_REASON_NO_CONTEXT;
    if (reason != GDNN_REASON_TAKEN)
        *device = GDNN_NO_DEVICE;
    return reason;
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
static bool decide(gdnn_route *route, bool (*accepted)(void *context), void *context)
{
    const gdnn_conv *conv = &route->key.conv;
    gdnn_device device;
    route->evidence = "none";
    if (route->key.device == GDNN_NO_DEVICE) {
        route->reason = gdnn_check(conv) == GDNN_OK ? GDNN_REASON_GRAPH_PLAN : GDNN_REASON_INVALID;
        return true;
    }
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
    if (route->key.algo == GDNN_PLAN_CUDNNS) {
        route->reason = GDNN_REASON_GRAPH_PLAN;
        return true;
    }
    if (accepted && !accepted(context)) {
        route->reason = GDNN_REASON_REFUSED;
        return true;
    }
    gdnn_status status = gdnn_load(&route->shape, &route->functions, &route->reason);
    if (status != GDNN_OK) {
        gdnn_log_conv(GDNN_LOG_ERROR, conv, "not loaded", gdnn_last_error());
        return status != GDNN_FAILED;
    }
    gdnn_launch_args(&route->shape, conv, &route->args);
    set_spans(route);
    return true;
}

/* What the route's first call is told of. */
static void tell(const gdnn_route *route)
{
    bool taken = route->reason == GDNN_REASON_TAKEN;
    bool observed = gdnn_options_get()->mode == GDNN_MODE_OBSERVE;
    gdnn_trace_route(route);
    gdnn_log_conv(GDNN_LOG_INFO, &route->key.conv,
                  !taken     ? "forwarded"
                  : observed ? "would be taken"
                             : "taken",
                  taken ? route->shape.kernel->name : gdnn_reason_name(route->reason));
}

gdnn_route *gdnn_route_of(const gdnn_route_key *key, bool (*accepted)(void *context), void *context,
                          gdnn_route *own)
{
    uint64_t hash = gdnn_route_hash(key);
    gdnn_route *route = gdnn_routes_find(key, hash);
    if (route)
        return route;

    bool added;
    memset(own, 0, sizeof *own);
    memcpy(&own->key, key, sizeof *key);
    own->hash = hash;
    if (!decide(own, accepted, context))
        return own;
    route = gdnn_routes_add(own, &added);
    if (!added)
        return route ? route : own;
    tell(route);
    return route;
}
