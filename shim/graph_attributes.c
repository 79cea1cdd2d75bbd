#include "graph_attributes.h"
#include "graph_record.h"
#include <string.h>

/* The value that a descriptor of each type has. */
typedef gdnn_graph_tensor value_TENSOR;
typedef gdnn_graph_convolution value_CONVOLUTION;
typedef gdnn_graph_pointwise value_POINTWISE;
typedef gdnn_graph_node value_OPERATION_CONVOLUTION_FORWARD;
typedef gdnn_graph_node value_OPERATION_CONVOLUTION_BACKWARD_DATA;
typedef gdnn_graph_node value_OPERATION_CONVOLUTION_BACKWARD_FILTER;
typedef gdnn_graph_node value_OPERATION_POINTWISE;
typedef gdnn_graph_holder value_OPERATIONGRAPH;
typedef gdnn_graph_holder value_EXECUTION_PLAN;
typedef gdnn_graph_pack value_VARIANT_PACK;

/* Elements of lists: int64_t, or pointers. */
_Static_assert(sizeof(void *) == sizeof(int64_t), "pointers are stored as other elements are");

#define OF(owner)           .of = CUDNN_BACKEND_##owner##_DESCRIPTOR
#define PLACE(owner, field) offsetof(value_##owner, field)

const gdnn_graph_attribute *gdnn_graph_attribute_of(cudnnBackendAttributeName_t name)
{
    switch (name) {
#define ATTRIBUTE(name, ...)                                                                       \
    case name: {                                                                                   \
        static const gdnn_graph_attribute attribute = {__VA_ARGS__};                               \
        return &attribute;                                                                         \
    }
#define GDNN_ONE(name, number, owner, element, how, field)                                         \
    ATTRIBUTE(name, OF(owner), .type = CUDNN_TYPE_##element, .form = GDNN_GRAPH_FORM_##how,        \
              .offset = PLACE(owner, field), .most = 1)
#define GDNN_LIST(name, number, owner, element, field, count)                                      \
    ATTRIBUTE(name, OF(owner), .type = CUDNN_TYPE_##element, .form = GDNN_GRAPH_FORM_LIST,         \
              .offset = PLACE(owner, field), .given = PLACE(owner, count),                         \
              .most = sizeof((value_##owner *)NULL)->field / sizeof(int64_t))
#define GDNN_TENSOR(name, number, owner, field)                                                    \
    ATTRIBUTE(name, OF(owner), .type = CUDNN_TYPE_BACKEND_DESCRIPTOR,                              \
              .form = GDNN_GRAPH_FORM_TENSOR, .offset = PLACE(owner, field),                       \
              .given = PLACE(owner, has_##field), .most = 1)
#define GDNN_OPERATIONS(name, number, owner)                                                       \
    ATTRIBUTE(name, OF(owner), .type = CUDNN_TYPE_BACKEND_DESCRIPTOR,                              \
              .form = GDNN_GRAPH_FORM_OPERATIONS)
#define GDNN_GRAPH(name, number, owner, source)                                                    \
    ATTRIBUTE(name, OF(owner), .type = CUDNN_TYPE_BACKEND_DESCRIPTOR,                              \
              .form = GDNN_GRAPH_FORM_GRAPH, .from = CUDNN_BACKEND_##source##_DESCRIPTOR)
#define GDNN_SAID(name, number, owner, element, field)                                             \
    ATTRIBUTE(name, OF(owner), .type = CUDNN_TYPE_##element, .form = GDNN_GRAPH_FORM_SAID,         \
              .offset = PLACE(owner, field))
#define GDNN_PLAIN(name, number, owner) ATTRIBUTE(name, OF(owner), .form = GDNN_GRAPH_FORM_PLAIN)
#include "graph_attributes.def"
#undef GDNN_ONE
#undef GDNN_LIST
#undef GDNN_TENSOR
#undef GDNN_OPERATIONS
#undef GDNN_GRAPH
#undef GDNN_SAID
#undef GDNN_PLAIN
    }
    return NULL;
}

bool gdnn_graph_attribute_takes(const gdnn_graph_attribute *attribute,
                                cudnnBackendAttributeType_t type, int64_t count,
                                const void *elements)
{
    if (attribute->form == GDNN_GRAPH_FORM_PLAIN)
        return true;
    bool fits = (int)type == attribute->type ||
                (attribute->form == GDNN_GRAPH_FORM_REAL && type == CUDNN_TYPE_FLOAT);
    bool many = attribute->form == GDNN_GRAPH_FORM_LIST ||
                attribute->form == GDNN_GRAPH_FORM_OPERATIONS ||
                attribute->form == GDNN_GRAPH_FORM_SAID;
    return fits && elements && (many ? count > 0 : count == 1);
}

bool gdnn_graph_attribute_store(const gdnn_graph_attribute *attribute,
                                cudnnBackendAttributeType_t type, int64_t count,
                                const void *elements, unsigned char *value)
{
    unsigned char *field = value + attribute->offset;
    int64_t kept = count < attribute->most ? count : attribute->most;
    const bool yes = true;
    bool flag;
    double real;
    float single;
    switch (attribute->form) {
    case GDNN_GRAPH_FORM_WORD: memcpy(field, elements, sizeof(int)); break;
    case GDNN_GRAPH_FORM_NUMBER: memcpy(field, elements, sizeof(int64_t)); break;
    case GDNN_GRAPH_FORM_FLAG:
        flag = *(const unsigned char *)elements != 0; /* the program's may be no bool at all */
        memcpy(field, &flag, sizeof flag);
        break;
    case GDNN_GRAPH_FORM_POINTER: memcpy(field, elements, sizeof(void *)); break;
    case GDNN_GRAPH_FORM_SAID: memcpy(field, &yes, sizeof yes); break;
    case GDNN_GRAPH_FORM_REAL:
        if (type == CUDNN_TYPE_FLOAT)
            real = (memcpy(&single, elements, sizeof single), single);
        else
            memcpy(&real, elements, sizeof real);
        memcpy(field, &real, sizeof real);
        break;
    case GDNN_GRAPH_FORM_LIST:
        memcpy(field, elements, (size_t)kept * sizeof(int64_t));
        memcpy(value + attribute->given, &count, sizeof count);
        return kept == count;
    default: break;
    }
    return true;
}
