/* Plans of cuDNN's graph interface: what becomes of their calls. */
#ifndef GDNN_GRAPH_PLAN_H
#define GDNN_GRAPH_PLAN_H

#include "graph_list.h"
#include "graph_problem.h"
#include "graph_types.h"
#include "routes.h"

/* Where a configuration, or a plan of one, comes from. */
typedef enum gdnn_graph_origin {
    GDNN_GRAPH_BUILT,  /* the program made it from an engine's number and knobs, or from a text */
    GDNN_GRAPH_LISTED, /* cuDNN's heuristics, and it is cuDNN's own */
    GDNN_GRAPH_MARKED  /* the heuristics' list as the program got it, and it is ours */
} gdnn_graph_origin;

/* Decided when a plan is finalised; all zeros: its calls are no convolutions, or nothing is known about them. */
typedef struct gdnn_graph_fate {
    bool convolution; /* its calls are counted */
    gdnn_dir dir;
    gdnn_reason reason;
    gdnn_route *route;        /* NULL: counted by `dir` and `reason`; TAKEN: we run the plan */
    int64_t x, w, y, z, bias; /* unique ids, as in gdnn_graph_problem; where there is a route */
} gdnn_graph_fate;

/* A graph as a problem of the current device, asked about before there is a plan. */
typedef struct gdnn_graph_question {
    gdnn_conv conv;
    gdnn_device device;
} gdnn_graph_question;

/* False: no plan of the graph is ours, whatever its engine. Loads nothing. */
bool gdnn_graph_ask(const gdnn_graph *graph, gdnn_graph_question *question);

/* Whether we take the question's problem where the engine has these numerical notes, and workspace enough: float32 uses
 * TF32 only if the engine uses tensor cores. `question` is a gdnn_graph_question, for gdnn_graph_chooser. */
bool gdnn_graph_takes(void *question, unsigned notes);

/* What becomes of the finalised `plan` for `graph`. Reads facts of the plan from the real library. Loads the kernel if
 * the plan is ours. A plan without a handle asks the driver nothing. */
gdnn_graph_fate gdnn_graph_plan_fate(const gdnn_graph *graph, gdnn_graph_lists *lists,
                                     cudnnBackendDescriptor_t plan, gdnn_graph_origin origin,
                                     bool has_handle);

/* The text of a finalised plan, to be freed; *length bytes. NULL: cuDNN does not tell, or there is no memory. */
char *gdnn_graph_plan_text(cudnnBackendDescriptor_t plan, size_t *length);

/* Counts a call that cuDNN runs. */
void gdnn_graph_plan_count(const gdnn_graph_fate *fate);

#endif
