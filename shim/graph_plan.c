#include "graph_plan.h"
#include "api.h"
#include "device.h"
#include "driver.h"
#include "graph_api.h"
#include "graph_problem.h"
#include "log.h"
#include "problem.h"
#include "stats.h"
#include "tf32.h"
#include <string.h>

enum { NO_DEVICE = -1 };

/* The direction of the first convolution. False: there is none. */
static bool direction_of(const gdnn_graph *graph, gdnn_dir *dir)
{
    for (int i = 0; i < graph->nodes && i < GDNN_GRAPH_NODES; i++) {
        switch (graph->node[i].kind) {
        case GDNN_GRAPH_FORWARD: *dir = GDNN_FWD; return true;
        case GDNN_GRAPH_BWD_DATA: *dir = GDNN_BWD_DATA; return true;
        case GDNN_GRAPH_BWD_FILTER: *dir = GDNN_BWD_FILTER; return true;
        default: break;
        }
    }
    return false;
}

/* Bytes that the real plan needs. */
static size_t workspace_of(cudnnBackendDescriptor_t plan)
{
    int64_t bytes = 0, count = 0;
    if (GDNN_REAL(cudnnBackendGetAttribute)(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                            CUDNN_TYPE_INT64, 1, &count,
                                            &bytes) != CUDNN_STATUS_SUCCESS ||
        bytes < 0)
        return 0;
    return (size_t)bytes;
}

/* The descriptor of `type` that attribute `name` of `from` is; to be destroyed. NULL: cuDNN does not tell. */
static cudnnBackendDescriptor_t part_of(cudnnBackendDescriptor_t from,
                                        cudnnBackendAttributeName_t name,
                                        cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t part = NULL;
    int64_t count = 0;
    if (!from || GDNN_REAL(cudnnBackendCreateDescriptor)(type, &part) != CUDNN_STATUS_SUCCESS)
        return NULL;
    if (GDNN_REAL(cudnnBackendGetAttribute)(from, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                            &part) == CUDNN_STATUS_SUCCESS)
        return part;
    GDNN_REAL(cudnnBackendDestroyDescriptor)(part);
    return NULL;
}

/* Whether the plan's engine uses tensor cores, by which programs let TF32 in or keep it out. False: or cuDNN does not
 * tell. */
static bool uses_tensor_cores(cudnnBackendDescriptor_t plan)
{
    enum { NOTES = 64 };
    cudnnBackendNumericalNote_t notes[NOTES];
    int64_t count = 0;
    bool found = false;
    cudnnBackendDescriptor_t config = part_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                              CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                             engine = part_of(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                              CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (engine && GDNN_REAL(cudnnBackendGetAttribute)(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                      CUDNN_TYPE_NUMERICAL_NOTE, NOTES, &count,
                                                      notes) == CUDNN_STATUS_SUCCESS)
        for (int64_t i = 0; i < count && i < NOTES; i++)
            found |= notes[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    if (engine)
        GDNN_REAL(cudnnBackendDestroyDescriptor)(engine);
    if (config)
        GDNN_REAL(cudnnBackendDestroyDescriptor)(config);
    return found;
}

/* The current device. TAKEN: `device` is filled; else *ordinal is NO_DEVICE: what fails now may not fail for the next
 * plan, so it must not stand for a device. */
static gdnn_reason current_device(CUdevice *ordinal, gdnn_device *device)
{
    const gdnn_driver *cu = gdnn_driver_get();
    gdnn_reason reason = GDNN_REASON_TAKEN;
    if (!cu)
        reason = GDNN_REASON_NO_DRIVER;
    else if (cu->cuCtxGetDevice(ordinal) != CUDA_SUCCESS)
        reason = GDNN_REASON_NO_CONTEXT;
    else if (gdnn_device_read(*ordinal, device) != GDNN_OK)
        reason = GDNN_REASON_NO_DRIVER;
    if (reason != GDNN_REASON_TAKEN)
        *ordinal = NO_DEVICE;
    return reason;
}

/* Decides the problem of `made->key` for `device`; NULL: whatever the device. */
static void decide(gdnn_route *made, const gdnn_device *device)
{
    const gdnn_conv *conv = &made->key.conv;
    size_t workspace = made->key.workspace;
    if (device) {
        gdnn_decision decision =
            gdnn_decide(conv, workspace > INT64_MAX ? INT64_MAX : (int64_t)workspace, device,
                        gdnn_options_get());
        made->reason = decision.reason;
        made->evidence = decision.evidence;
        made->shape = decision.launch;
    } else {
        made->reason = gdnn_check(conv) == GDNN_OK ? GDNN_REASON_TAKEN : GDNN_REASON_INVALID;
    }
    if (made->reason == GDNN_REASON_TAKEN)
        made->reason = GDNN_REASON_GRAPH_PLAN;
}

/* The route of `conv`. NULL: it cannot be kept; *reason is why its calls go to cuDNN. */
static gdnn_route *route_of(const gdnn_conv *conv, bool has_handle, size_t workspace,
                            gdnn_reason *reason)
{
    gdnn_device device;
    gdnn_route made;
    memset(&made, 0, sizeof made);
    memcpy(&made.key.conv, conv, sizeof made.key.conv);
    made.key.device = NO_DEVICE;
    made.key.algo = -1;
    made.key.workspace = workspace;
    made.evidence = "none";
    gdnn_reason without =
        has_handle ? current_device(&made.key.device, &device) : GDNN_REASON_TAKEN;
    made.hash = gdnn_route_hash(&made.key);
    gdnn_route *route = gdnn_routes_find(&made.key, made.hash);
    if (route)
        return route;

    if (without == GDNN_REASON_TAKEN)
        decide(&made, has_handle ? &device : NULL);
    else
        made.reason = without;
    *reason = made.reason;
    bool added;
    route = gdnn_routes_add(&made, &added);
    if (added) {
        gdnn_trace_route(route);
        gdnn_log_conv(GDNN_LOG_INFO, conv, "forwarded", gdnn_reason_name(made.reason));
    }
    return route;
}

gdnn_graph_fate gdnn_graph_plan_fate(const gdnn_graph *graph, cudnnBackendDescriptor_t plan,
                                     bool has_handle)
{
    gdnn_graph_fate fate = {0};
    gdnn_graph_problem problem;
    fate.convolution = direction_of(graph, &fate.dir);
    if (!fate.convolution)
        return fate;
    fate.reason = gdnn_graph_problem_read(graph, &problem);
    if (fate.reason != GDNN_REASON_TAKEN)
        return fate;
    if (problem.conv.math == GDNN_MATH_TF32 && (gdnn_tf32_forbidden() || !uses_tensor_cores(plan)))
        problem.conv.math = GDNN_MATH_F32;
    fate.route = route_of(&problem.conv, has_handle, workspace_of(plan), &fate.reason);
    return fate;
}

void gdnn_graph_plan_count(const gdnn_graph_fate *fate)
{
    if (fate->route)
        atomic_fetch_add_explicit(&fate->route->calls, 1, memory_order_relaxed);
    else if (fate->convolution)
        gdnn_routes_count(fate->dir, fate->reason);
}
