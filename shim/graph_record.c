#include "graph_record.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

gdnn_graph_shared *gdnn_graph_shared_make(int64_t nodes)
{
    int64_t kept = nodes < GDNN_GRAPH_NODES ? nodes : GDNN_GRAPH_NODES;
    size_t bytes = offsetof(gdnn_graph_shared, graph.node) + (size_t)kept * sizeof(gdnn_graph_node);
    gdnn_graph_shared *shared = calloc(1, bytes);
    if (!shared)
        return NULL;
    atomic_init(&shared->holders, 1);
    gdnn_graph_lists_begin(&shared->lists);
    shared->graph.nodes = nodes;
    return shared;
}

gdnn_graph_shared *gdnn_graph_shared_hold(gdnn_graph_shared *shared)
{
    if (shared)
        atomic_fetch_add_explicit(&shared->holders, 1, memory_order_relaxed);
    return shared;
}

void gdnn_graph_shared_drop(gdnn_graph_shared *shared)
{
    if (!shared || atomic_fetch_sub_explicit(&shared->holders, 1, memory_order_acq_rel) != 1)
        return;
    gdnn_graph_lists_end(&shared->lists);
    free(shared);
}

static size_t value_bytes(cudnnBackendDescriptorType_t type)
{
    switch (type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return sizeof(gdnn_graph_tensor);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return sizeof(gdnn_graph_convolution);
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: return sizeof(gdnn_graph_pointwise);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return sizeof(gdnn_graph_node);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return sizeof(gdnn_graph_holder);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return sizeof(gdnn_graph_pack);
    default: return 0;
    }
}

static void set_pointwise(gdnn_graph_pointwise *pointwise)
{
    pointwise->mode = pointwise->type = -1;
    pointwise->upper_clip = DBL_MAX;
}

static void set_node(gdnn_graph_node *node, gdnn_graph_kind kind)
{
    node->kind = kind;
    node->alpha = 1;
    node->beta = kind == GDNN_GRAPH_POINTWISE ? 1 : 0;
}

/* What cuDNN assumes of what the program does not say; -1 where it must say. The rest is 0. */
static void set_defaults(gdnn_graph_record *record)
{
    void *value = record->value;
    switch (record->type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
        ((gdnn_graph_tensor *)value)->type = -1;
        ((gdnn_graph_tensor *)value)->uid = -1;
        ((gdnn_graph_tensor *)value)->vector_count = 1;
        break;
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
        ((gdnn_graph_convolution *)value)->type = -1;
        ((gdnn_graph_convolution *)value)->mode = CUDNN_CONVOLUTION;
        break;
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: set_pointwise(value); break;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        set_node(value, GDNN_GRAPH_FORWARD);
        break;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        set_node(value, GDNN_GRAPH_BWD_DATA);
        break;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        set_node(value, GDNN_GRAPH_BWD_FILTER);
        break;
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: set_node(value, GDNN_GRAPH_POINTWISE); break;
    default: break;
    }
}

gdnn_graph_record *gdnn_graph_record_make(cudnnBackendDescriptorType_t type,
                                          cudnnBackendDescriptor_t descriptor)
{
    size_t bytes = value_bytes(type);
    gdnn_graph_record *record = bytes ? calloc(1, sizeof *record + bytes) : NULL;
    if (record) {
        record->entry.descriptor = descriptor;
        record->type = type;
        set_defaults(record);
    }
    return record;
}

gdnn_graph_holder *gdnn_graph_record_holder(gdnn_graph_record *record)
{
    switch (record->type) {
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return (void *)record->value;
    default: return NULL;
    }
}

void gdnn_graph_record_doubt(gdnn_graph_record *record)
{
    void *value = record->value;
    switch (record->type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: ((gdnn_graph_tensor *)value)->unknown = true; break;
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
        ((gdnn_graph_convolution *)value)->unknown = true;
        break;
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: ((gdnn_graph_pointwise *)value)->unknown = true; break;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        ((gdnn_graph_node *)value)->unknown = true;
        break;
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: ((gdnn_graph_pack *)value)->unknown = true; break;
    default: ((gdnn_graph_holder *)value)->unknown = true; break;
    }
}

void gdnn_graph_record_free(gdnn_graph_record *record)
{
    if (!record)
        return;
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    if (holder)
        gdnn_graph_shared_drop(holder->shared);
    free(record);
}
