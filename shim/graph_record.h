/* What is kept of a descriptor of cuDNN's graph interface. */
#ifndef GDNN_GRAPH_RECORD_H
#define GDNN_GRAPH_RECORD_H

#include "graph_list.h"
#include "graph_plan.h"
#include "graph_table.h"
#include "graph_types.h"
#include "graph_values.h"
#include <stdatomic.h>

/* A graph that several descriptors hold: freed with its last holder, and, but for `lists`, not changed once its own
 * descriptor is finalised. */
typedef struct gdnn_graph_shared {
    _Atomic int holders;
    bool has_handle; /* it was made with a handle, not deviceless */
    gdnn_graph_lists lists;
    gdnn_graph graph; /* has room for its own nodes alone */
} gdnn_graph_shared;

/* A graph that nobody but the caller holds yet, with room for `nodes`, but not for more than GDNN_GRAPH_NODES: all else
 * is zero. NULL: no memory. */
gdnn_graph_shared *gdnn_graph_shared_make(int64_t nodes);

/* Both take NULL and do nothing then. */
gdnn_graph_shared *gdnn_graph_shared_hold(gdnn_graph_shared *shared);
void gdnn_graph_shared_drop(gdnn_graph_shared *shared);

/* The value of an operation graph, of its heuristics, an engine, an engine's configuration, a plan. */
typedef struct gdnn_graph_holder {
    gdnn_graph_shared *shared; /* NULL: not known */
    gdnn_graph_origin origin;  /* of configurations and plans */
    bool unknown;              /* of graphs and plans: something was said that is not kept */
    bool has_handle;           /* of graphs and plans: made with a handle, not deviceless */
    bool restored;             /* of a plan: made from a text */
    gdnn_graph_fate fate;      /* of a finalised plan */
} gdnn_graph_holder;

typedef struct gdnn_graph_record {
    gdnn_graph_entry entry;
    cudnnBackendDescriptorType_t type;
    bool finalized; /* or filled in place by cuDNN */
    /* A gdnn_graph_tensor, _convolution, _pointwise, _node, _holder or _pack, by `type`. */
    _Alignas(8) unsigned char value[];
} gdnn_graph_record;

/* A record with cuDNN's defaults. NULL: nothing is kept of this type, or there is no memory. */
gdnn_graph_record *gdnn_graph_record_make(cudnnBackendDescriptorType_t type,
                                          cudnnBackendDescriptor_t descriptor);

/* Frees a record that is in no table. NULL: nothing happens. */
void gdnn_graph_record_free(gdnn_graph_record *record);

/* The value of a record that has a graph; NULL for others. */
gdnn_graph_holder *gdnn_graph_record_holder(gdnn_graph_record *record);

/* Notes that something was said about the descriptor that is not kept. */
void gdnn_graph_record_doubt(gdnn_graph_record *record);

#endif
