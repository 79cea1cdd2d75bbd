#include "graph_tensor.h"
#include <string.h>

cudnnDataType_t graph_data_type(gdnn_dtype dtype)
{
    static const cudnnDataType_t types[] = {[GDNN_F16] = CUDNN_DATA_HALF,
                                            [GDNN_BF16] = CUDNN_DATA_BFLOAT16,
                                            [GDNN_F32] = CUDNN_DATA_FLOAT,
                                            [GDNN_F64] = CUDNN_DATA_DOUBLE};
    return types[dtype];
}

static void spread(int64_t *two, bool first, int64_t added)
{
    two[1] = first ? two[0] : added;
    two[0] = first ? added : two[0];
}

void graph_add_axis(gdnn_conv *conv, const graph_style *style)
{
    if (conv->spatial != 1 || style->one_axis == SIZE_ONE_NONE)
        return;
    const bool first = style->one_axis == SIZE_ONE_FIRST;
    int64_t out[GDNN_MAX_SPATIAL];
    gdnn_conv_out(conv, out);
    /* A first axis steps over the whole second one, as a reshaped tensor does. */
    spread(conv->x_stride + 2, first, conv->x_stride[2] * (first ? conv->in[0] : 1));
    spread(conv->w_stride + 2, first, conv->w_stride[2] * (first ? conv->filter[0] : 1));
    spread(conv->y_stride + 2, first, conv->y_stride[2] * (first ? out[0] : 1));
    spread(conv->z_stride + 2, first, conv->z_stride[2] * (first ? out[0] : 1));
    spread(conv->in, first, 1);
    spread(conv->filter, first, 1);
    spread(conv->stride, first, 1);
    spread(conv->dilation, first, 1);
    spread(conv->pad, first, 0);
    spread(conv->pad_after, first, 0);
    conv->spatial = 2;
}

static graph_tensor tensor(const gdnn_conv *conv, int64_t uid, int64_t first, int64_t second,
                           const int64_t *rest, const int64_t *strides)
{
    graph_tensor made = {.uid = uid,
                         .axes = conv->spatial + 2,
                         .size = {first, second},
                         .type = graph_data_type(conv->dtype)};
    for (int i = 0; i < conv->spatial; i++)
        made.size[2 + i] = rest[i];
    memcpy(made.stride, strides, (size_t)made.axes * sizeof *strides);
    return made;
}

/* Splits axis `axis` into the groups and what one group has; the groups become axis `to`. */
static graph_tensor split(graph_tensor whole, int axis, int to, const gdnn_conv *conv,
                          const graph_style *style)
{
    if (!style->group_axis)
        return whole;
    whole.size[axis] /= conv->groups;
    const int64_t stride = whole.stride[axis] * whole.size[axis];
    memmove(whole.size + to + 1, whole.size + to, (size_t)(whole.axes - to) * sizeof *whole.size);
    memmove(whole.stride + to + 1, whole.stride + to,
            (size_t)(whole.axes - to) * sizeof *whole.stride);
    whole.size[to] = conv->groups;
    whole.stride[to] = stride;
    whole.axes++;
    return whole;
}

graph_tensor graph_tensor_x(const gdnn_conv *conv, const graph_style *style)
{
    return split(tensor(conv, style->x, conv->n, conv->c, conv->in, conv->x_stride), 1, 1, conv,
                 style);
}

graph_tensor graph_tensor_w(const gdnn_conv *conv, const graph_style *style)
{
    return split(
        tensor(conv, style->w, conv->k, conv->c / conv->groups, conv->filter, conv->w_stride), 0, 0,
        conv, style);
}

static graph_tensor output(const gdnn_conv *conv, int64_t uid, const int64_t *strides,
                           const graph_style *style)
{
    int64_t out[GDNN_MAX_SPATIAL];
    gdnn_conv_out(conv, out);
    return split(tensor(conv, uid, conv->n, conv->k, out, strides), 1, 1, conv, style);
}

graph_tensor graph_tensor_y(const gdnn_conv *conv, const graph_style *style)
{
    return output(conv, style->y, conv->y_stride, style);
}

graph_tensor graph_tensor_z(const gdnn_conv *conv, const graph_style *style)
{
    return output(conv, style->z, conv->z_stride, style);
}

graph_tensor graph_tensor_between(const gdnn_conv *conv, const graph_style *style, int number)
{
    graph_tensor made = output(conv, style->first_virtual + number, conv->y_stride, style);
    made.is_virtual = true;
    if (made.type != CUDNN_DATA_DOUBLE)
        made.type = CUDNN_DATA_FLOAT;
    return made;
}

graph_tensor graph_tensor_bias(const gdnn_conv *conv, const graph_style *style)
{
    static const int64_t ones[GDNN_MAX_SPATIAL] = {1, 1, 1};
    const int64_t strides[GDNN_MAX_DIMS] = {conv->k, 1, conv->k, conv->k, conv->k};
    return split(tensor(conv, style->bias, 1, conv->k, ones, strides), 1, 1, conv, style);
}

bool graph_tensor_create(const graph_tensor *tensor, const graph_style *style,
                         graph_descriptor *descriptor)
{
    return GRAPH_CREATE(descriptor, TENSOR) &&
           GRAPH_SET(descriptor, TENSOR_DATA_TYPE, DATA_TYPE, 1, &tensor->type) &&
           GRAPH_SET(descriptor, TENSOR_DIMENSIONS, INT64, tensor->axes, tensor->size) &&
           GRAPH_SET(descriptor, TENSOR_STRIDES, INT64, tensor->axes, tensor->stride) &&
           GRAPH_SET(descriptor, TENSOR_UNIQUE_ID, INT64, 1, &tensor->uid) &&
           GRAPH_SET(descriptor, TENSOR_BYTE_ALIGNMENT, INT64, 1, &style->alignment) &&
           (!tensor->is_virtual ||
            GRAPH_SET(descriptor, TENSOR_IS_VIRTUAL, BOOLEAN, 1, &tensor->is_virtual)) &&
           graph_finalize(descriptor);
}
