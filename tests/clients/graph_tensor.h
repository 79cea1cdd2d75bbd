/* The tensors of a problem, as cuDNN is told of them. */
#ifndef GDNN_CLIENT_GRAPH_TENSOR_H
#define GDNN_CLIENT_GRAPH_TENSOR_H

#include "graph_build.h"

enum { GRAPH_AXES = GDNN_MAX_DIMS + 1 };

typedef struct graph_tensor {
    int64_t uid;
    int axes;
    int64_t size[GRAPH_AXES], stride[GRAPH_AXES];
    cudnnDataType_t type;
    bool is_virtual;
} graph_tensor;

cudnnDataType_t graph_data_type(gdnn_dtype dtype);

/* A problem with one spatial axis, as one with two. Others stay as they are. */
void graph_add_axis(gdnn_conv *conv, const graph_style *style);

graph_tensor graph_tensor_x(const gdnn_conv *conv, const graph_style *style);
graph_tensor graph_tensor_w(const gdnn_conv *conv, const graph_style *style);
graph_tensor graph_tensor_y(const gdnn_conv *conv, const graph_style *style);
graph_tensor graph_tensor_z(const gdnn_conv *conv, const graph_style *style);
graph_tensor graph_tensor_bias(const gdnn_conv *conv, const graph_style *style);
/* Like y, but float, and with the unique id style->first_virtual + number. */
graph_tensor graph_tensor_between(const gdnn_conv *conv, const graph_style *style, int number);

bool graph_tensor_create(const graph_tensor *tensor, const graph_style *style,
                         graph_descriptor *descriptor);

#endif
