/* The results of the heuristics, and the plans of what they are made into. */
#ifndef GDNN_GRAPH_RESULTS_H
#define GDNN_GRAPH_RESULTS_H

#include "graph_track.h"

/* Answers the program's question for the results of `heuristics` where its graph may be ours; *status is what the
 * program gets. False: it may not, and nothing was asked yet. In mode observe the list stays cuDNN's own. */
bool gdnn_graph_results(cudnnBackendDescriptor_t heuristics, int64_t requested, int64_t *count,
                        cudnnBackendDescriptor_t *configs, cudnnStatus_t *status);

/* Decides what becomes of a plan that cuDNN has just finalised. Drops the graph among its parts. */
void gdnn_graph_plan_made(cudnnBackendDescriptor_t plan, gdnn_graph_parts *parts);

#endif
