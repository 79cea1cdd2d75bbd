/* The text that cuDNN gives for a plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, as the graph that the plan was
 * made for. A pure function: no cuDNN, no CUDA, no memory but its arguments'. */
#ifndef GDNN_GRAPH_JSON_H
#define GDNN_GRAPH_JSON_H

#include "graph_values.h"
#include <stddef.h>

/* Reads `length` bytes of `text`, which needs no zero behind it.
 *
 * Fills `graph` with what gdnn_graph_problem_read needs, equal to what the program said, unique ids too: a tensor's
 * name is its id. Types and modes that no problem has may be -1. A member that is not known, that is missing or that is
 * said twice makes an operation unknown, in it or in one of its tensors; outside of them, or with another schema than
 * the known one, it makes the graph unknown. Then it is no problem of ours.
 *
 * How many groups there are is told by the sizes alone: cuDNN may write a wrong groupCount. What stands in the
 * GPU's profile and in the engine is not read.
 *
 * False: the text is no plan, or there are more operations than a graph keeps; `graph` is undefined. */
bool gdnn_graph_json_read(const char *text, size_t length, gdnn_graph *graph);

#endif
