/* The types of cuDNN's graph interface that the drop-in reads, under NVIDIA's names, as cudnn_types.h has those of the
 * rest. tests/headers/cudnn_abi.cpp compares them with NVIDIA's headers where those are. */
#ifndef GDNN_GRAPH_TYPES_H
#define GDNN_GRAPH_TYPES_H

#include "cudnn_types.h"
#include <stdint.h>

typedef void *cudnnBackendDescriptor_t;

/* Those that are followed. */
typedef enum {
    CUDNN_BACKEND_POINTWISE_DESCRIPTOR = 0,
    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR = 1,
    CUDNN_BACKEND_ENGINE_DESCRIPTOR = 2,
    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR = 3,
    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR = 4,
    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR = 5,
    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR = 7,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR = 10,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR = 11,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR = 12,
    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR = 13,
    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR = 15,
    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR = 16,
    CUDNN_BACKEND_TENSOR_DESCRIPTOR = 17,
    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR = 38
} cudnnBackendDescriptorType_t;

typedef enum {
#define GDNN_ONE(name, number, of, type, form, field)   name = number,
#define GDNN_LIST(name, number, of, type, field, count) name = number,
#define GDNN_TENSOR(name, number, of, field)            name = number,
#define GDNN_OPERATIONS(name, number, of)               name = number,
#define GDNN_GRAPH(name, number, of, from)              name = number,
#define GDNN_SAID(name, number, of, type, field)        name = number,
#define GDNN_PLAIN(name, number, of)                    name = number,
#include "graph_attributes.def"
#undef GDNN_ONE
#undef GDNN_LIST
#undef GDNN_TENSOR
#undef GDNN_OPERATIONS
#undef GDNN_GRAPH
#undef GDNN_SAID
#undef GDNN_PLAIN
} cudnnBackendAttributeName_t;

/* Of an attribute's elements. */
typedef enum {
    CUDNN_TYPE_HANDLE = 0,
    CUDNN_TYPE_DATA_TYPE = 1,
    CUDNN_TYPE_BOOLEAN = 2,
    CUDNN_TYPE_INT64 = 3,
    CUDNN_TYPE_FLOAT = 4,
    CUDNN_TYPE_DOUBLE = 5,
    CUDNN_TYPE_VOID_PTR = 6,
    CUDNN_TYPE_CONVOLUTION_MODE = 7,
    CUDNN_TYPE_HEUR_MODE = 8,
    CUDNN_TYPE_KNOB_TYPE = 9,
    CUDNN_TYPE_NUMERICAL_NOTE = 11,
    CUDNN_TYPE_POINTWISE_MODE = 14,
    CUDNN_TYPE_BACKEND_DESCRIPTOR = 15,
    CUDNN_TYPE_TENSOR_REORDERING_MODE = 20,
    CUDNN_TYPE_CHAR = 24
} cudnnBackendAttributeType_t;

typedef enum { CUDNN_POINTWISE_ADD = 0, CUDNN_POINTWISE_RELU_FWD = 100 } cudnnPointwiseMode_t;

typedef enum {
    CUDNN_NUMERICAL_NOTE_TENSOR_CORE = 0,
    CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP = 9
} cudnnBackendNumericalNote_t;

typedef enum {
    CUDNN_HEUR_MODE_B = 1,
    CUDNN_HEUR_MODE_FALLBACK = 2,
    CUDNN_HEUR_MODE_A = 3
} cudnnBackendHeurMode_t;

typedef enum { CUDNN_TENSOR_REORDERING_NONE = 0 } cudnnBackendTensorReordering_t;

#endif
