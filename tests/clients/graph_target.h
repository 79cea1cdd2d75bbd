/* What graphs are planned for: a GPU that need not be there, since cuDNN is told its properties; or, where plans are to
 * be executed, the one of a handle. */
#ifndef GDNN_CLIENT_GRAPH_TARGET_H
#define GDNN_CLIENT_GRAPH_TARGET_H

#include "graph_calls.h"

typedef struct graph_target {
    cudnnHandle_t handle;        /* NULL: the properties count */
    graph_descriptor properties; /* none where there is a handle */
} graph_target;

/* Of a GPU known by name. False: the name is unknown, which standard error says, or cuDNN refuses. */
bool graph_target_named(const char *gpu, graph_target *target);

/* Of a handle, which is made. False: there is none, or cuDNN has no graphs. */
bool graph_target_present(graph_target *target);

void graph_target_destroy(graph_target *target);

#define GRAPH_SET_HANDLE(descriptor, KIND, target)                                                 \
    GRAPH_SET(descriptor, KIND##_HANDLE, HANDLE, 1, &(target)->handle)
/* A graph's handle is that of all that is made of it, but for plans. */
#define GRAPH_SET_PROPERTIES(descriptor, KIND, target)                                             \
    ((target)->handle || GRAPH_SET_ONE(descriptor, KIND##_DEVICEPROP, &(target)->properties))
#define GRAPH_SET_TARGET(descriptor, KIND, target)                                                 \
    ((target)->handle ? GRAPH_SET_HANDLE(descriptor, KIND, target)                                 \
                      : GRAPH_SET_PROPERTIES(descriptor, KIND, target))

#endif
