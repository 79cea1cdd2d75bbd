/* The attributes of graph_attributes.def, and their elements as values. No table, no locks. */
#ifndef GDNN_GRAPH_ATTRIBUTES_H
#define GDNN_GRAPH_ATTRIBUTES_H

#include "graph_types.h"
#include <stdbool.h>
#include <stddef.h>

/* What an attribute's elements become. */
typedef enum gdnn_graph_form {
    GDNN_GRAPH_FORM_WORD,
    GDNN_GRAPH_FORM_NUMBER,
    GDNN_GRAPH_FORM_FLAG,
    GDNN_GRAPH_FORM_REAL,
    GDNN_GRAPH_FORM_POINTER,
    GDNN_GRAPH_FORM_LIST,
    GDNN_GRAPH_FORM_TENSOR,
    GDNN_GRAPH_FORM_CONVOLUTION,
    GDNN_GRAPH_FORM_POINTWISE,
    GDNN_GRAPH_FORM_OPERATIONS,
    GDNN_GRAPH_FORM_GRAPH,
    GDNN_GRAPH_FORM_SAID,
    GDNN_GRAPH_FORM_PLAIN
} gdnn_graph_form;

typedef struct gdnn_graph_attribute {
    int of;   /* cudnnBackendDescriptorType_t of those that have it */
    int type; /* cudnnBackendAttributeType_t of its elements; REAL: or CUDNN_TYPE_FLOAT */
    gdnn_graph_form form;
    size_t offset; /* of the field in the value */
    size_t
        given; /* offset of the field that says how many, or whether, were given: lists and tensors */
    int most; /* elements that the field holds */
    int from; /* of GRAPH: cudnnBackendDescriptorType_t of the element */
} gdnn_graph_attribute;

/* NULL: not listed. */
const gdnn_graph_attribute *gdnn_graph_attribute_of(cudnnBackendAttributeName_t name);

/* True if `count` elements of `type` are what the attribute takes. */
bool gdnn_graph_attribute_takes(const gdnn_graph_attribute *attribute,
                                cudnnBackendAttributeType_t type, int64_t count,
                                const void *elements);

/* Writes elements that the attribute takes, of one of the forms WORD to LIST, into the value of a record. False: there
 * are more than the field holds; the first are written. */
bool gdnn_graph_attribute_store(const gdnn_graph_attribute *attribute,
                                cudnnBackendAttributeType_t type, int64_t count,
                                const void *elements, unsigned char *value);

#endif
