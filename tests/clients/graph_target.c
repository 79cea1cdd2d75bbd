#include "graph_target.h"
#include "gpus.h"
#include "report.h"
#include <stdio.h>

bool graph_target_named(const char *gpu, graph_target *target)
{
    char text[1024];
    const int length = gpu_properties(gpu, text, sizeof text);
    *target = (graph_target){0};
    if (!length) {
        fprintf(stderr, "--gpu %s: known are h200, a100 and t4\n", gpu);
        return false;
    }
    return GRAPH_CREATE(&target->properties, DEVICEPROP) &&
           GRAPH_SET(&target->properties, DEVICEPROP_JSON_REPRESENTATION, CHAR, length, text) &&
           graph_finalize(&target->properties);
}

bool graph_target_present(graph_target *target)
{
    graph_descriptor probe;
    *target = (graph_target){0};
    if (CALL("a handle", cudnnCreate(&target->handle)) != CUDNN_STATUS_SUCCESS)
        return false;
    const bool done = GRAPH_CREATE(&probe, OPERATIONGRAPH);
    graph_destroy(&probe);
    return done;
}

void graph_target_destroy(graph_target *target)
{
    if (target->handle)
        CALL("a handle", cudnnDestroy(target->handle));
    graph_destroy(&target->properties);
    *target = (graph_target){0};
}
