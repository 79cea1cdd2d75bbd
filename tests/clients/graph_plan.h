/* Execution plans, and what frameworks read of them. */
#ifndef GDNN_CLIENT_GRAPH_PLAN_H
#define GDNN_CLIENT_GRAPH_PLAN_H

#include "graph_target.h"

typedef struct graph_plan {
    graph_descriptor plan;
    char tag[512]; /* eng28_k2=1_k3=0: the engine's number, and the type and value of each knob */
    int64_t workspace;
    bool tensor_core; /* its engine may use tensor cores */
} graph_plan;

/* Builds the plan of a configuration and reads its notes, engine, knobs and workspace, and its text (JSON), which is
 * shown. False if cuDNN refuses; then there is no plan. */
bool graph_plan_build(const graph_descriptor *config, const graph_target *target, graph_plan *plan);

/* Builds a plan of a plan's text, as a program does that stored it in an earlier process. */
bool graph_plan_restore(const char *text, const graph_target *target, graph_plan *plan);

/* Makes a configuration from a tag, without heuristics, as a program does that stored the tag in an earlier process. */
bool graph_plan_config(const char *tag, const graph_descriptor *graph, const graph_target *target,
                       graph_descriptor *config);

void graph_plan_destroy(graph_plan *plan);

#endif
