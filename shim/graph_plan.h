/* Plans of cuDNN's graph interface: what becomes of their calls. */
#ifndef GDNN_GRAPH_PLAN_H
#define GDNN_GRAPH_PLAN_H

#include "graph_types.h"
#include "graph_values.h"
#include "routes.h"

/* Decided when a plan is finalised; all zeros: its calls are no convolutions, or nothing is known about them. */
typedef struct gdnn_graph_fate {
    bool convolution; /* its calls are counted */
    gdnn_dir dir;
    gdnn_reason reason;
    gdnn_route *route; /* NULL: counted by `dir` and `reason` */
} gdnn_graph_fate;

/* What becomes of the finalised `plan` for `graph`. Reads facts of the plan from the real library. Loads nothing; asks
 * the driver for the current device if `has_handle`, else nothing. */
gdnn_graph_fate gdnn_graph_plan_fate(const gdnn_graph *graph, cudnnBackendDescriptor_t plan,
                                     bool has_handle);

/* Counts a call. */
void gdnn_graph_plan_count(const gdnn_graph_fate *fate);

#endif
