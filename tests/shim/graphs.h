/* Operation graphs to read: from pieces, as the frameworks write them, and from problems. */
#ifndef GDNN_TESTS_GRAPHS_H
#define GDNN_TESTS_GRAPHS_H

#include "cudnn_types.h"
#include "graph_problem.h"

/* Lists of numbers are text: "2 32 14 14". */
gdnn_graph_tensor graph_tensor(int64_t uid, int type, const char *sizes, const char *strides);

/* A tensor between operations: its strides do not matter. */
gdnn_graph_tensor graph_virtual(int64_t uid, int type, const char *sizes);

gdnn_graph_convolution graph_convolution(int type, const char *pads, const char *pads_after,
                                         const char *strides, const char *dilations);

/* Cross-correlation with alpha 1 and beta 0. */
gdnn_graph_node graph_convolve(gdnn_graph_kind kind, gdnn_graph_tensor x, gdnn_graph_tensor w,
                               gdnn_graph_tensor y, gdnn_graph_convolution convolution);

/* y = alpha1 * x + alpha2 * b, and y = max(x, 0), in float32. */
gdnn_graph_node graph_add(double alpha1, gdnn_graph_tensor x, double alpha2, gdnn_graph_tensor b,
                          gdnn_graph_tensor y);
gdnn_graph_node graph_relu(gdnn_graph_tensor x, gdnn_graph_tensor y);

void graph_append(gdnn_graph *graph, gdnn_graph_node node);

gdnn_graph graph_single(gdnn_graph_node node);

/* PyTorch's cudnn_convolution_add_relu; with alpha 0, and z = y, its cudnn_convolution_relu. In half precision,
 * channels last, with 4 groups. */
gdnn_graph graph_pytorch_fused(double alpha);

/* What strides axes of size 1 get. */
typedef enum graph_ones { ONES_AS_GIVEN, ONES_FIXED_NCHW, ONES_FIXED_NHWC, ONES_RANDOM } graph_ones;

/* Ways to say the same. */
typedef struct graph_style {
    bool grouped_x, grouped_w, grouped_y, grouped_z, grouped_bias; /* with an axis of groups */
    graph_ones ones;
    int virtual_type;
    bool swapped;      /* the virtual tensor of an add is b, not x */
    bool scaled_later; /* alpha is said by the first add */
    bool shuffled;     /* operations in reverse order */
    uint64_t random;
} graph_style;

/* The graph of a problem that passes gdnn_check. Unique ids are 'x', 'w', 'y', 'z', 'b' and, between
 * operations, 'A' and further. */
gdnn_graph graph_of(const gdnn_conv *conv, graph_style style);

/* Reads a graph that must be a problem. */
gdnn_graph_problem graph_read(const gdnn_graph *graph);

/* Fails, showing both, unless they are equal. */
void assert_same_problem(const gdnn_conv *is, const gdnn_conv *wanted);

#endif
