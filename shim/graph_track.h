/* What calls of cuDNN's graph interface that the real library accepted mean for the records. Any thread. Nothing here
 * fails: what cannot be kept is not known later, and then cuDNN runs it. */
#ifndef GDNN_GRAPH_TRACK_H
#define GDNN_GRAPH_TRACK_H

#include "graph_record.h"

/* cuDNN made `descriptor`. */
void gdnn_graph_created(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t descriptor);

/* cuDNN took the elements. */
void gdnn_graph_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t count, const void *elements);

/* cuDNN answered: descriptors among the elements are filled. `count` may be NULL, `elements` too. */
void gdnn_graph_got(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t requested, const int64_t *count,
                    void *elements);

/* What a plan was made of. */
typedef struct gdnn_graph_parts {
    gdnn_graph_shared *shared; /* NULL: not known; held, to be dropped */
    gdnn_graph_origin origin;  /* of its configuration */
    bool has_handle;           /* it, or its graph, was made with one */
    bool restored;             /* as in gdnn_graph_holder */
} gdnn_graph_parts;

/* cuDNN finalised `descriptor`. True: it is a plan that is to be decided, and *parts is filled. */
bool gdnn_graph_finalized(cudnnBackendDescriptor_t descriptor, gdnn_graph_parts *parts);

/* What becomes of a plan's calls, and its graph. */
void gdnn_graph_decided(cudnnBackendDescriptor_t plan, gdnn_graph_shared *shared,
                        const gdnn_graph_fate *fate);

/* The graph that a finalised descriptor of the given type has, held, and where the descriptor comes from. NULL: it is
 * not known. */
gdnn_graph_shared *gdnn_graph_hold(cudnnBackendDescriptor_t descriptor, int type,
                                   gdnn_graph_origin *origin);

/* cuDNN filled `descriptor` in place: with this graph if it is of the type `type`, else with what is not known. */
void gdnn_graph_fill(cudnnBackendDescriptor_t descriptor, int type, gdnn_graph_shared *shared,
                     gdnn_graph_origin origin);

/* Whether `descriptor` is a configuration that is neither finalised nor filled. */
bool gdnn_graph_is_fresh_config(cudnnBackendDescriptor_t descriptor);

/* Copies a finalised variant pack. False: it is not known. */
bool gdnn_graph_pack_of(cudnnBackendDescriptor_t descriptor, gdnn_graph_pack *pack);

/* `descriptor` is about to be destroyed: cuDNN gives its address to the next one at once. */
void gdnn_graph_forget(cudnnBackendDescriptor_t descriptor);

/* What becomes of a plan's calls; all zeros if it is not known. */
gdnn_graph_fate gdnn_graph_fate_of(cudnnBackendDescriptor_t plan);

/* Copies the graph that a finalised graph, or anything made of it, has. False: it is not known. */
bool gdnn_graph_of(cudnnBackendDescriptor_t descriptor, gdnn_graph *graph);

#endif
