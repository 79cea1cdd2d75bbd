/* What calls of cuDNN's graph interface that the real library accepted mean for the records. Any thread. Nothing here
 * fails: what cannot be kept is not known later, and then cuDNN runs it. */
#ifndef GDNN_GRAPH_TRACK_H
#define GDNN_GRAPH_TRACK_H

#include "graph_plan.h"
#include "graph_types.h"

/* cuDNN made `descriptor`. */
void gdnn_graph_created(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t descriptor);

/* cuDNN took the elements. */
void gdnn_graph_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t count, const void *elements);

/* cuDNN answered: descriptors among the elements are filled. `count` may be NULL, `elements` too. */
void gdnn_graph_got(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t requested, const int64_t *count,
                    void *elements);

/* cuDNN finalised `descriptor`. */
void gdnn_graph_finalized(cudnnBackendDescriptor_t descriptor);

/* `descriptor` is about to be destroyed: cuDNN gives its address to the next one at once. */
void gdnn_graph_forget(cudnnBackendDescriptor_t descriptor);

/* What becomes of a plan's calls; all zeros if it is not known. */
gdnn_graph_fate gdnn_graph_fate_of(cudnnBackendDescriptor_t plan);

/* Copies the graph that a finalised graph, or anything made of it, has. False: it is not known. */
bool gdnn_graph_of(cudnnBackendDescriptor_t descriptor, gdnn_graph *graph);

#endif
