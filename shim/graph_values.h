/* What a program has said to cuDNN's graph interface, by value. Descriptors may be destroyed, and their
 * addresses used again, before what was made of them runs; so whatever refers to a descriptor holds a copy of
 * what it was. */
#ifndef GDNN_GRAPH_VALUES_H
#define GDNN_GRAPH_VALUES_H

#include "groupdnn.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    GDNN_GRAPH_DIMS = 8, /* most axes of a tensor that are kept */
    GDNN_GRAPH_SPATIAL = 6,
    GDNN_GRAPH_NODES = 8,    /* most operations of a graph that are kept */
    GDNN_GRAPH_POINTERS = 16 /* most tensors of a variant pack that are kept */
};

/* CUDNN_BACKEND_TENSOR_DESCRIPTOR. Numbers of types and modes are cuDNN's. */
typedef struct gdnn_graph_tensor {
    int64_t dims, strides; /* how many sizes, and how many strides, were given */
    int64_t size[GDNN_GRAPH_DIMS], stride[GDNN_GRAPH_DIMS];
    int64_t uid, alignment, vector_count;
    int type;       /* cudnnDataType_t */
    int reordering; /* cudnnBackendTensorReordering_t */
    bool is_virtual, by_value;
    bool unknown; /* something was said that is not kept here */
} gdnn_graph_tensor;

/* CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR */
typedef struct gdnn_graph_convolution {
    int64_t spatial;
    int64_t pads, pads_after, strides, dilations; /* how many of each were given */
    int64_t pad[GDNN_GRAPH_SPATIAL], pad_after[GDNN_GRAPH_SPATIAL];
    int64_t stride[GDNN_GRAPH_SPATIAL], dilation[GDNN_GRAPH_SPATIAL];
    int type; /* cudnnDataType_t of the sums */
    int mode; /* cudnnConvolutionMode_t */
    bool unknown;
} gdnn_graph_convolution;

/* CUDNN_BACKEND_POINTWISE_DESCRIPTOR */
typedef struct gdnn_graph_pointwise {
    int mode;                                   /* cudnnPointwiseMode_t */
    int type;                                   /* cudnnDataType_t of the arithmetic */
    double lower_clip, upper_clip, lower_slope; /* of relu; as cuDNN's defaults unless given */
    bool unknown;
} gdnn_graph_pointwise;

typedef enum gdnn_graph_kind {
    GDNN_GRAPH_FORWARD,
    GDNN_GRAPH_BWD_DATA,
    GDNN_GRAPH_BWD_FILTER,
    GDNN_GRAPH_POINTWISE,
    GDNN_GRAPH_OTHER /* an operation that is not kept */
} gdnn_graph_kind;

/* One operation. Tensors are named by role: in backward-data x is dX, in backward-filter w is dW, and y is dY
 * in both; in a pointwise operation x and b go in and y comes out. */
typedef struct gdnn_graph_node {
    gdnn_graph_kind kind;
    gdnn_graph_tensor x, w, y, b;
    bool has_x, has_w, has_y, has_b;
    gdnn_graph_convolution convolution;
    gdnn_graph_pointwise pointwise;
    double alpha, beta; /* pointwise: alpha1, alpha2 */
    bool unknown;
} gdnn_graph_node;

/* CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR */
typedef struct gdnn_graph {
    int64_t nodes; /* as given, also where more than are kept */
    bool unknown;  /* something was said that is not kept, dynamic shapes for example */
    gdnn_graph_node node[GDNN_GRAPH_NODES];
} gdnn_graph;

/* CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR */
typedef struct gdnn_graph_pack {
    int64_t pointers, uids; /* how many of each were given */
    void *pointer[GDNN_GRAPH_POINTERS];
    int64_t uid[GDNN_GRAPH_POINTERS];
    void *workspace;
    bool unknown; /* something was said that is not kept, other shapes for example */
} gdnn_graph_pack;

#endif
