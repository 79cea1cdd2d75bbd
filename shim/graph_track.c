#include "graph_track.h"
#include "graph_attributes.h"
#include "graph_record.h"
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
    gdnn_graph_shared *shared;
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

static gdnn_graph_shared *hold_graph(cudnnBackendDescriptor_t descriptor, int type)
{
    gdnn_graph_record *record = lock(descriptor);
    gdnn_graph_shared *shared = NULL;
    if (!record)
        return NULL;
    if ((int)record->type == type && record->finalized)
        shared = gdnn_graph_shared_hold(gdnn_graph_record_holder(record)->shared);
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
    gdnn_graph_shared *shared = gdnn_graph_shared_make();
    if (!shared)
        return NULL;
    shared->graph.nodes = count;
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
    case GDNN_GRAPH_FORM_GRAPH: found->shared = hold_graph(descriptors[0], attribute->from); break;
    default: break;
    }
}

/* Puts `shared` in the place of the graph that the record holds, which comes back to be dropped. */
static gdnn_graph_shared *exchange(gdnn_graph_record *record, gdnn_graph_shared *shared)
{
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    gdnn_graph_shared *before = holder->shared;
    holder->shared = shared;
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
        found->shared = exchange(record, found->shared);
        if (found->shared) /* a second list of operations: more of them, or others */
            gdnn_graph_record_doubt(record);
        break;
    case GDNN_GRAPH_FORM_GRAPH: found->shared = exchange(record, found->shared); break;
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

/* `descriptor` was filled in place by cuDNN: with `shared` if it is of the type `type`, else with what is not known. */
static void fill(cudnnBackendDescriptor_t descriptor, int type, gdnn_graph_shared *shared)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return;
    gdnn_graph_shared *before = NULL;
    if ((int)record->type == type)
        before = exchange(record, gdnn_graph_shared_hold(shared));
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
    gdnn_graph_shared *shared = hands_on ? hold_graph(descriptor, attribute->of) : NULL;
    int64_t filled = count && *count < requested ? *count : requested;
    cudnnBackendDescriptor_t *descriptors = elements;
    for (int64_t i = 0; i < filled; i++)
        fill(descriptors[i], hands_on ? attribute->from : -1, shared);
    gdnn_graph_shared_drop(shared);
}

/* Decides what becomes of a plan that has the graph `shared`. */
static void decide(cudnnBackendDescriptor_t plan, const gdnn_graph_shared *shared, bool has_handle)
{
    gdnn_graph_fate fate = gdnn_graph_plan_fate(&shared->graph, plan, has_handle);
    gdnn_graph_record *record = lock(plan);
    if (!record)
        return;
    if (record->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        gdnn_graph_record_holder(record)->fate = fate;
    unlock(record);
}

void gdnn_graph_finalized(cudnnBackendDescriptor_t descriptor)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return;
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    gdnn_graph_shared *shared = NULL;
    bool has_handle = false;
    record->finalized = true;
    if (record->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && holder->shared)
        holder->shared->graph.unknown = holder->unknown;
    if (record->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
        if (holder->unknown)
            shared = exchange(record, NULL);
        else
            shared = gdnn_graph_shared_hold(holder->shared);
        has_handle = holder->has_handle;
    }
    bool decides = shared && !holder->unknown;
    unlock(record);
    if (decides)
        decide(descriptor, shared, has_handle);
    gdnn_graph_shared_drop(shared);
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

bool gdnn_graph_of(cudnnBackendDescriptor_t descriptor, gdnn_graph *graph)
{
    gdnn_graph_record *record = lock(descriptor);
    if (!record)
        return false;
    gdnn_graph_holder *holder = gdnn_graph_record_holder(record);
    bool known = holder && holder->shared && record->finalized;
    if (known)
        memcpy(graph, &holder->shared->graph, sizeof *graph);
    unlock(record);
    return known;
}
