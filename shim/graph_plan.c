#include "graph_plan.h"
#include "api.h"
#include "device.h"
#include "graph_api.h"
#include "graph_config.h"
#include "route.h"
#include "tf32.h"
#include <stdlib.h>
#include <string.h>

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

/* The math of a graph's problem on an engine. By its note of tensor cores programs let TF32 in or keep it out. */
static gdnn_math math_of(const gdnn_conv *conv, unsigned notes)
{
    bool tf32 = conv->math == GDNN_MATH_TF32 && !gdnn_tf32_forbidden() &&
                (notes & 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    return tf32 ? GDNN_MATH_TF32 : GDNN_MATH_F32;
}

bool gdnn_graph_ask(const gdnn_graph *graph, gdnn_graph_question *question)
{
    gdnn_graph_problem problem;
    CUdevice ordinal;
    if (gdnn_graph_problem_read(graph, &problem) != GDNN_REASON_TAKEN)
        return false;
    memcpy(&question->conv, &problem.conv, sizeof problem.conv);
    return gdnn_current_device(&ordinal) == GDNN_REASON_TAKEN &&
           gdnn_device_read(ordinal, &question->device) == GDNN_OK &&
           (gdnn_graph_takes(question, 0) ||
            gdnn_graph_takes(question, 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
}

bool gdnn_graph_takes(void *question, unsigned notes)
{
    const gdnn_graph_question *q = question;
    gdnn_conv conv;
    memcpy(&conv, &q->conv, sizeof conv);
    conv.math = math_of(&conv, notes);
    return gdnn_decide(&conv, INT64_MAX, &q->device, gdnn_options_get()).reason ==
           GDNN_REASON_TAKEN;
}

/* Whether the lists would have shown the configuration as ours, which came from none. */
static bool chosen(const gdnn_graph *graph, gdnn_graph_lists *lists,
                   cudnnBackendDescriptor_t config)
{
    gdnn_graph_question question;
    const gdnn_graph_chooser chooser = {&question, gdnn_graph_takes};
    return config && gdnn_graph_ask(graph, &question) &&
           gdnn_graph_lists_choose(lists, config, &chooser);
}

/* Reads what the plan's configuration decides: conv->math, and whether the plan is ours. Only lists of graphs with a
 * handle have marked ones. */
static bool read_config(const gdnn_graph *graph, gdnn_graph_lists *lists,
                        cudnnBackendDescriptor_t plan, gdnn_graph_origin origin, bool has_handle,
                        gdnn_conv *conv)
{
    bool asks = has_handle && origin == GDNN_GRAPH_BUILT, ours = origin == GDNN_GRAPH_MARKED;
    if (!asks && conv->math == GDNN_MATH_F32)
        return ours;
    unsigned notes = 0;
    cudnnBackendDescriptor_t config = gdnn_graph_part(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                                      CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (conv->math != GDNN_MATH_F32 && (!config || !gdnn_graph_config_notes(config, &notes)))
        notes = 0;
    conv->math = math_of(conv, notes);
    if (asks)
        ours = chosen(graph, lists, config);
    gdnn_graph_part_drop(config);
    return ours;
}

/* The route of `conv`. NULL: it cannot be kept; *reason is why its calls go to cuDNN. */
static gdnn_route *route_of(const gdnn_conv *conv, bool has_handle, bool ours, size_t workspace,
                            gdnn_reason *reason)
{
    gdnn_route_key key;
    gdnn_route own;
    memset(&key, 0, sizeof key);
    memcpy(&key.conv, conv, sizeof key.conv);
    key.device = GDNN_NO_DEVICE;
    key.algo = ours ? GDNN_PLAN_OURS : GDNN_PLAN_CUDNNS;
    key.workspace = workspace;
    *reason = has_handle ? gdnn_current_device(&key.device) : GDNN_REASON_TAKEN;
    if (*reason != GDNN_REASON_TAKEN)
        return NULL;
    gdnn_route *route = gdnn_route_of(&key, NULL, NULL, &own);
    *reason = route->reason == GDNN_REASON_TAKEN ? GDNN_REASON_GRAPH_PLAN : route->reason;
    return route == &own ? NULL : route;
}

gdnn_graph_fate gdnn_graph_plan_fate(const gdnn_graph *graph, gdnn_graph_lists *lists,
                                     cudnnBackendDescriptor_t plan, gdnn_graph_origin origin,
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
    bool ours = read_config(graph, lists, plan, origin, has_handle, &problem.conv);
    fate.route = route_of(&problem.conv, has_handle, ours, workspace_of(plan), &fate.reason);
    fate.x = problem.x;
    fate.w = problem.w;
    fate.y = problem.y;
    fate.z = problem.z;
    fate.bias = problem.bias;
    return fate;
}

char *gdnn_graph_plan_text(cudnnBackendDescriptor_t plan, size_t *length)
{
    int64_t bytes = 0, written = 0;
    if (GDNN_REAL(cudnnBackendGetAttribute)(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
                                            CUDNN_TYPE_CHAR, 0, &bytes,
                                            NULL) != CUDNN_STATUS_SUCCESS ||
        bytes <= 0)
        return NULL;
    char *text = malloc((size_t)bytes);
    if (text && GDNN_REAL(cudnnBackendGetAttribute)(
                    plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, bytes,
                    &written, text) == CUDNN_STATUS_SUCCESS) {
        *length = (size_t)(written < bytes ? written : bytes);
        return text;
    }
    free(text);
    return NULL;
}

void gdnn_graph_plan_count(const gdnn_graph_fate *fate)
{
    if (fate->route)
        atomic_fetch_add_explicit(&fate->route->calls, 1, memory_order_relaxed);
    else if (fate->convolution)
        gdnn_routes_count(fate->dir, fate->reason);
}
