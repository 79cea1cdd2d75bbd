/* The calls of cuDNN's graph interface, each reported as one line (report.h). Lines name a descriptor by its kind and
 * the order of its creation, never by its address. */
#ifndef GDNN_CLIENT_GRAPH_CALLS_H
#define GDNN_CLIENT_GRAPH_CALLS_H

#include "graph_client.h"

/* A descriptor; all zero where there is none. */
typedef struct graph_descriptor {
    cudnnBackendDescriptor_t it;
    const char *kind;
    int number;
} graph_descriptor;

/* Functions return true if cuDNN did what was asked. */
bool graph_create(graph_descriptor *descriptor, cudnnBackendDescriptorType_t type,
                  const char *kind);
bool graph_finalize(const graph_descriptor *descriptor);
/* Nothing if there is none. */
void graph_destroy(graph_descriptor *descriptor);

bool graph_set(const graph_descriptor *descriptor, cudnnBackendAttributeName_t attribute,
               const char *name, cudnnBackendAttributeType_t type, int64_t count,
               const void *values);
/* `count` and `values` may be NULL. */
bool graph_get(const graph_descriptor *descriptor, cudnnBackendAttributeName_t attribute,
               const char *name, cudnnBackendAttributeType_t type, int64_t room, int64_t *count,
               void *values);

cudnnStatus_t graph_execute(cudnnHandle_t handle, const graph_descriptor *plan,
                            const graph_descriptor *pack);

#define GRAPH_CREATE(descriptor, KIND)                                                             \
    graph_create(descriptor, CUDNN_BACKEND_##KIND##_DESCRIPTOR, #KIND)
#define GRAPH_SET(descriptor, ATTRIBUTE, TYPE, count, values)                                      \
    graph_set(descriptor, CUDNN_ATTR_##ATTRIBUTE, #ATTRIBUTE, CUDNN_TYPE_##TYPE, count, values)
#define GRAPH_GET(descriptor, ATTRIBUTE, TYPE, room, count, values)                                \
    graph_get(descriptor, CUDNN_ATTR_##ATTRIBUTE, #ATTRIBUTE, CUDNN_TYPE_##TYPE, room, count,      \
              values)

/* One descriptor as the value of another's attribute. */
#define GRAPH_SET_ONE(descriptor, ATTRIBUTE, value)                                                \
    GRAPH_SET(descriptor, ATTRIBUTE, BACKEND_DESCRIPTOR, 1, &(value)->it)

#endif
