#include "graph_track.h"
#include "graph_attributes.h"
#include <string.h>

/* The record of `descriptor`, locked. NULL: there is none. */
static gdnn_graph_record *lock(cudnnBackendDescriptor_t descriptor)
{
    return descriptor ? (gdnn_graph_record *)gdnn_graph_table_lock(descriptor) : NULL;
}

static void unlock(gdnn_graph_record *record)
{
    gdnn_graph_table_unlock(&record->entry);
}

void gdnn_graph_forget(cudnnBackendDescriptor_t descriptor)
{
    gdnn_graph_record_free((gdnn_graph_record *)gdnn_graph_table_take(descriptor));
}

void gdnn_graph_created(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t descriptor)
{
    gdnn_graph_entry *replaced = NULL;
    gdnn_graph_record *record = gdnn_graph_record_make(type, descriptor);
    if (!record) {
        gdnn_graph_forget(descriptor); /* one that went without our seeing it */
        return;
    }
    if (!gdnn_graph_table_add(&record->entry, &replaced))
        gdnn_graph_record_free(record);
    gdnn_graph_record_free((gdnn_graph_record *)replaced);
}

/* What the descriptors among an attribute's elements stand for. */
typedef union meaning {
    gdnn_graph_tensor tensor;
    gdnn_graph_convolution convolution;
    gdnn_graph_pointwise pointwise;
    struct {
        gdnn_graph_shared *shared;
        gdnn_graph_origin origin;
    };
} meaning;

/* Copies the value of a descriptor of `type`. False: it is not known. */
static bool copy_value(cudnnBackendDescriptor_t descriptor, cudnnBackendDescriptorType_t type,
                       void *value, size_t bytes)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return false;
    bool known = record->type == type && record->finalized;
    if (known)
        memcpy(value, record->value, bytes);
    unlock(record);
    return known;
}

gdnn_graph_shared *gdnn_graph_hold(cudnnBackendDescriptor_t descriptor, int type,
                                   gdnn_graph_origin *origin)
{
    gdnn_graph_record *record = lock(descriptor);
    gdnn_graph_shared *shared = NULL;
    *origin = GDNN_GRAPH_BUILT;
    if (!record)
        return NULL;
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    if ((int)record->type == type && record->finalized && holder) {
        shared = gdnn_graph_shared_hold(holder->shared);
        *origin = holder->origin;
    }
    unlock(record);
    return shared;
}

/* An operation as a node of a graph. */
static void copy_node(cudnnBackendDescriptor_t operation, gdnn_graph_node *node)
{
    gdnn_graph_record *record = lock(operation);
    node->kind = GDNN_GRAPH_OTHER;
    if (!record)
        return;
    switch (record->type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        memcpy(node, record->value, sizeof *node);
        node->unknown |= !record->finalized;
        break;
    default: break;
    }
    unlock(record);
}

/* Operations as a graph that is not finalised yet. */
static gdnn_graph_shared *make_graph(const cudnnBackendDescriptor_t *operations, int64_t count)
{
    gdnn_graph_shared *shared = gdnn_graph_shared_make(count);
    if (!shared)
        return NULL;
    for (int64_t i = 0; i < count && i < GDNN_GRAPH_NODES; i++)
        copy_node(operations[i], &shared->graph.node[i]);
    return shared;
}

/* Reads the records of the elements, before the record that refers to them is locked. What is not known of a value is
 * said in it. */
static void find_meaning(const gdnn_graph_attribute *attribute, int64_t count, const void *elements,
                         meaning *found)
{
    const cudnnBackendDescriptor_t *descriptors = elements;
    memset(found, 0, sizeof *found);
    switch (attribute->form) {
    case GDNN_GRAPH_FORM_TENSOR:
        if (!copy_value(descriptors[0], CUDNN_BACKEND_TENSOR_DESCRIPTOR, &found->tensor,
                        sizeof found->tensor))
            found->tensor.unknown = true;
        break;
    case GDNN_GRAPH_FORM_CONVOLUTION:
        if (!copy_value(descriptors[0], CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, &found->convolution,
                        sizeof found->convolution))
            found->convolution.unknown = true;
        break;
    case GDNN_GRAPH_FORM_POINTWISE:
        if (!copy_value(descriptors[0], CUDNN_BACKEND_POINTWISE_DESCRIPTOR, &found->pointwise,
                        sizeof found->pointwise))
            found->pointwise.unknown = true;
        break;
    case GDNN_GRAPH_FORM_OPERATIONS: found->shared = make_graph(descriptors, count); break;
    case GDNN_GRAPH_FORM_GRAPH:
        found->shared = gdnn_graph_hold(descriptors[0], attribute->from, &found->origin);
        break;
    default: break;
    }
}

/* Puts `shared` in the place of the graph that the record holds, which comes back to be dropped. Whoever has the engine
 * of a configuration has not that configuration: an engine is never more than built. */
static gdnn_graph_shared *exchange(gdnn_graph_record *record, gdnn_graph_shared *shared,
                                   gdnn_graph_origin origin)
{
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    gdnn_graph_shared *before = holder->shared;
    holder->shared = shared;
    holder->origin = record->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR ? GDNN_GRAPH_BUILT : origin;
    return before;
}

/* Writes elements that the attribute takes. What the record holds no longer comes back in found->shared. */
static void store(gdnn_graph_record *record, const gdnn_graph_attribute *attribute,
                  cudnnBackendAttributeType_t type, int64_t count, const void *elements,
                  meaning *found)
{
    unsigned char *field = record->value + attribute->offset;
    const bool yes = true;
    switch (attribute->form) {
    case GDNN_GRAPH_FORM_TENSOR:
        memcpy(field, &found->tensor, sizeof found->tensor);
        memcpy(record->value + attribute->given, &yes, sizeof yes);
        break;
    case GDNN_GRAPH_FORM_CONVOLUTION:
        memcpy(field, &found->convolution, sizeof found->convolution);
        break;
    case GDNN_GRAPH_FORM_POINTWISE:
        memcpy(field, &found->pointwise, sizeof found->pointwise);
        break;
    case GDNN_GRAPH_FORM_OPERATIONS:
        found->shared = exchange(record, found->shared, GDNN_GRAPH_BUILT);
        if (found->shared) /* a second list of operations: more of them, or others */
            gdnn_graph_record_doubt(record);
        break;
    case GDNN_GRAPH_FORM_GRAPH:
        found->shared = exchange(record, found->shared, found->origin);
        break;
    default:
        if (!gdnn_graph_attribute_store(attribute, type, count, elements, record->value))
            gdnn_graph_record_doubt(record);
        break;
    }
}

static bool has_shared(const gdnn_graph_attribute *attribute)
{
    return attribute->form == GDNN_GRAPH_FORM_OPERATIONS ||
           attribute->form == GDNN_GRAPH_FORM_GRAPH;
}

void gdnn_graph_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    meaning found;
    const gdnn_graph_attribute *attribute = gdnn_graph_attribute_of(name);
    bool taken = attribute && gdnn_graph_attribute_takes(attribute, type, count, elements);
    if (taken)
        find_meaning(attribute, count, elements, &found);
    gdnn_graph_record *record = lock(descriptor);
    bool wrong = record && record->finalized; /* cuDNN would have refused */
    if (record) {
        if (taken && (int)record->type == attribute->of && !wrong)
            store(record, attribute, type, count, elements, &found);
        else
            gdnn_graph_record_doubt(record);
        unlock(record);
    }
    if (wrong)
        gdnn_graph_forget(descriptor);
    if (taken && has_shared(attribute))
        gdnn_graph_shared_drop(found.shared);
}

void gdnn_graph_fill(cudnnBackendDescriptor_t descriptor, int type, gdnn_graph_shared *shared,
                     gdnn_graph_origin origin)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return;
    gdnn_graph_shared *before = NULL;
    if ((int)record->type == type)
        before = exchange(record, gdnn_graph_shared_hold(shared), origin);
    else
        gdnn_graph_record_doubt(record);
    record->finalized = true;
    unlock(record);
    gdnn_graph_shared_drop(before);
}

void gdnn_graph_got(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t requested, const int64_t *count,
                    void *elements)
{
    if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR || !elements)
        return;
    const gdnn_graph_attribute *attribute = gdnn_graph_attribute_of(name);
    bool hands_on = attribute && attribute->form == GDNN_GRAPH_FORM_GRAPH;
    gdnn_graph_origin origin = GDNN_GRAPH_BUILT;
    gdnn_graph_shared *shared =
        hands_on ? gdnn_graph_hold(descriptor, attribute->of, &origin) : NULL;
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
        origin = GDNN_GRAPH_LISTED;
    int64_t filled = count && *count < requested ? *count : requested;
    cudnnBackendDescriptor_t *descriptors = elements;
    for (int64_t i = 0; i < filled; i++)
        gdnn_graph_fill(descriptors[i], hands_on ? attribute->from : -1, shared, origin);
    gdnn_graph_shared_drop(shared);
}

/* What a plan was made of, its graph held. False: it is not known; of a configuration and a text cuDNN knows which
 * counts. */
static bool read_parts(const gdnn_graph_holder *holder, gdnn_graph_parts *parts)
{
    if (holder->unknown || (holder->restored && holder->shared))
        return false;
    /* Programs give a plan the handle, or leave it with that of the graph. */
    bool has_handle = holder->has_handle || (holder->shared && holder->shared->has_handle);
    *parts = (gdnn_graph_parts){.shared = gdnn_graph_shared_hold(holder->shared),
                                .origin = holder->origin,
                                .has_handle = has_handle,
                                .restored = holder->restored};
    return true;
}

bool gdnn_graph_finalized(cudnnBackendDescriptor_t descriptor, gdnn_graph_parts *parts)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return false;
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    gdnn_graph_shared *doubted = NULL;
    bool decides = false;
    record->finalized = true;
    if (record->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && holder->shared) {
        holder->shared->graph.unknown = holder->unknown;
        holder->shared->has_handle = holder->has_handle;
    }
    if (record->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
        decides = read_parts(holder, parts);
        if (!decides)
            doubted = exchange(record, NULL, GDNN_GRAPH_BUILT);
    }
    unlock(record);
    gdnn_graph_shared_drop(doubted);
    return decides;
}

void gdnn_graph_decided(cudnnBackendDescriptor_t plan, gdnn_graph_shared *shared,
                        const gdnn_graph_fate *fate)
{
    gdnn_graph_record *record = lock(plan);
    gdnn_graph_shared *before = NULL;
    if (!record)
        return;
    if (record->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
        gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
        before = exchange(record, gdnn_graph_shared_hold(shared), holder->origin);
        holder->fate = *fate;
    }
    unlock(record);
    gdnn_graph_shared_drop(before);
}

gdnn_graph_fate gdnn_graph_fate_of(cudnnBackendDescriptor_t plan)
{
    gdnn_graph_fate fate = {0};
    gdnn_graph_record *record = lock(plan);
    if (!record)
        return fate;
    if (record->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        fate = gdnn_graph_record_holder(record)->fate;
    unlock(record);
    return fate;
}

bool gdnn_graph_is_fresh_config(cudnnBackendDescriptor_t descriptor)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return false;
    bool fresh = record->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && !record->finalized;
    unlock(record);
    return fresh;
}

bool gdnn_graph_pack_of(cudnnBackendDescriptor_t descriptor, gdnn_graph_pack *pack)
{
    return descriptor &&
           copy_value(descriptor, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, pack, sizeof *pack);
}

bool gdnn_graph_of(cudnnBackendDescriptor_t descriptor, gdnn_graph *graph)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return false;
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    bool known = holder && holder->shared && record->finalized;
    if (known) {
        const gdnn_graph *from = &holder->shared->graph;
        int64_t nodes = from->nodes < GDNN_GRAPH_NODES ? from->nodes : GDNN_GRAPH_NODES;
        memset(graph, 0, sizeof *graph);
        memcpy(graph, from, offsetof(gdnn_graph, node) + (size_t)nodes * sizeof *from->node);
    }
    unlock(record);
    return known;
}
