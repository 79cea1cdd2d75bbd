/* The GPU that graphs are planned for. cuDNN is told its properties, so none need be there, nor a handle. */
#ifndef GDNN_CLIENT_GRAPH_TARGET_H
#define GDNN_CLIENT_GRAPH_TARGET_H

#include "graph_calls.h"

/* Makes the descriptor of a GPU known by name. False: the name is unknown, which standard error says, or cuDNN
 * refuses. */
bool graph_target(const char *gpu, graph_descriptor *target);

#endif
