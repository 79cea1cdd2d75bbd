#include "graph_results.h"
#include "api.h"
#include "graph_api.h"
#include "graph_json.h"
#include "options.h"
#include "stats.h"
#include <stdlib.h>
#include <string.h>

/* A list while it is filled. */
typedef struct filling {
    gdnn_graph_question question; /* what gdnn_graph_takes gets */
    gdnn_graph_shared *shared;
} filling;

static void filled(void *context, cudnnBackendDescriptor_t config, bool ours)
{
    const filling *f = context;
    gdnn_graph_fill(config, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, f->shared,
                    ours ? GDNN_GRAPH_MARKED : GDNN_GRAPH_LISTED);
}

static cudnnStatus_t count_results(cudnnBackendDescriptor_t heuristics, int64_t requested,
                                   int64_t *count, cudnnBackendDescriptor_t *configs, bool changes)
{
    cudnnStatus_t status = GDNN_REAL(cudnnBackendGetAttribute)(
        heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, requested, count,
        configs);
    if (status == CUDNN_STATUS_SUCCESS && count && changes)
        *count = gdnn_graph_list_most(*count);
    return status;
}

static bool stands_before(const cudnnBackendDescriptor_t *configs, int64_t i)
{
    for (int64_t j = 0; j < i; j++)
        if (configs[j] == configs[i])
            return true;
    return false;
}

/* Whether the program's list is changed. One with places that cuDNN cannot fill gets cuDNN's own answer, and the text of
 * the error that it keeps. */
static bool may_change(int64_t requested, const cudnnBackendDescriptor_t *configs)
{
    if (gdnn_options_get()->mode == GDNN_MODE_OBSERVE)
        return false;
    for (int64_t i = 0; configs && i < requested; i++)
        if (!gdnn_graph_is_fresh_config(configs[i]) || stands_before(configs, i))
            return false;
    return true;
}

bool gdnn_graph_results(cudnnBackendDescriptor_t heuristics, int64_t requested, int64_t *count,
                        cudnnBackendDescriptor_t *configs, cudnnStatus_t *status)
{
    gdnn_graph_origin origin;
    filling f;
    f.shared = gdnn_graph_hold(heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &origin);
    bool ours = f.shared && f.shared->has_handle && gdnn_graph_ask(&f.shared->graph, &f.question);
    bool changes = ours && may_change(requested, configs);
    const gdnn_graph_chooser chooser = {&f, gdnn_graph_takes};
    if (ours && (requested == 0 || !configs))
        *status = count_results(heuristics, requested, count, configs, changes);
    else if (ours && requested > 0)
        *status =
            gdnn_graph_list_get(heuristics, requested, count, configs, changes, &chooser, filled);
    else
        ours = false;
    gdnn_graph_shared_drop(f.shared);
    return ours;
}

/* The graph of a plan that was made from a text, read back from it. NULL: it cannot be read. */
static gdnn_graph_shared *read_text(cudnnBackendDescriptor_t plan, bool has_handle)
{
    gdnn_graph_shared *shared = NULL;
    size_t length = 0;
    char *text = gdnn_graph_plan_text(plan, &length);
    gdnn_graph *graph = text ? malloc(sizeof *graph) : NULL;
    if (graph && gdnn_graph_json_read(text, length, graph))
        shared = gdnn_graph_shared_make(graph->nodes);
    if (shared) {
        shared->has_handle = has_handle;
        memcpy(&shared->graph, graph,
               offsetof(gdnn_graph, node) + (size_t)graph->nodes * sizeof *graph->node);
    }
    free(graph);
    free(text);
    return shared;
}

void gdnn_graph_plan_made(cudnnBackendDescriptor_t plan, gdnn_graph_parts *parts)
{
    gdnn_stats_begin();
    if (!parts->shared && parts->restored)
        parts->shared = read_text(plan, parts->has_handle);
    if (!parts->shared)
        return;
    gdnn_graph_fate fate = gdnn_graph_plan_fate(&parts->shared->graph, &parts->shared->lists, plan,
                                                parts->origin, parts->has_handle);
    gdnn_graph_decided(plan, parts->shared, &fate);
    gdnn_graph_shared_drop(parts->shared);
}
