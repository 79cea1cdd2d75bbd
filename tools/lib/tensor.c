#include "tensor.h"

#include "half.h"
#include "problem.h"
#include <string.h>

const char *tensor_label(gdnn_dir dir, tensor_name name)
{
    static const char *const labels[][TENSORS] = {
        [GDNN_FWD] = {"x", "w", "y", "z", "bias"},
        [GDNN_BWD_DATA] = {"dx", "w", "dy", "z", "bias"},
        [GDNN_BWD_FILTER] = {"x", "dw", "dy", "z", "bias"},
    };
    return labels[dir][name];
}

bool tensor_used(const gdnn_conv *conv, tensor_name name)
{
    switch (name) {
    case TENSOR_Z: return conv->z;
    case TENSOR_BIAS: return conv->bias;
    default: return true;
    }
}

tensor tensor_of(const gdnn_conv *conv, tensor_name name)
{
    tensor t = {.dtype = conv->dtype, .dims = gdnn_dims(conv)};
    const int64_t *stride = conv->z_stride;
    if (name == TENSOR_BIAS) {
        t.dims = 1;
        t.size[0] = conv->k;
        t.stride[0] = 1;
        return t;
    }
    gdnn_sizes(conv, name == TENSOR_Z ? GDNN_ROLE_Y : (gdnn_role)name, t.size);
    if (name != TENSOR_Z)
        stride = gdnn_strides(conv, (gdnn_role)name);
    memcpy(t.stride, stride, sizeof t.stride);
    return t;
}

int64_t tensor_elements(const tensor *t)
{
    int64_t elements = 1;
    for (int i = 0; i < t->dims; i++)
        elements *= t->size[i];
    return elements;
}

size_t tensor_bytes(const tensor *t)
{
    int64_t last = 0;
    for (int i = 0; i < t->dims; i++)
        last += (t->size[i] - 1) * t->stride[i];
    return (size_t)(last + 1) * gdnn_dtype_size(t->dtype);
}

/* What is done with an element: its place in memory, its value in the logical array. */
typedef void visit(gdnn_dtype dtype, char *place, double *value);

static void encode(gdnn_dtype dtype, char *place, double *value)
{
    gdnn_encode(dtype, value, place, 1);
}

static void decode(gdnn_dtype dtype, char *place, double *value)
{
    gdnn_decode(dtype, place, value, 1);
}

static void erase(gdnn_dtype dtype, char *place, double *value)
{
    (void)value;
    memset(place, 0xff, gdnn_dtype_size(dtype));
}

/* Visits every element in logical order; `values` may be NULL. */
static void each(const tensor *t, char *image, double *values, visit *visitor)
{
    size_t bytes = gdnn_dtype_size(t->dtype);
    int64_t index[GDNN_MAX_DIMS] = {0}, offset = 0;
    for (;;) {
        visitor(t->dtype, image + (size_t)offset * bytes, values);
        if (values)
            values++;
        int axis = t->dims - 1;
        offset += t->stride[axis];
        while (++index[axis] == t->size[axis]) {
            offset -= t->size[axis] * t->stride[axis];
            index[axis] = 0;
            if (--axis < 0)
                return;
            offset += t->stride[axis];
        }
    }
}

void tensor_scatter(const tensor *t, const double *values, void *image)
{
    each(t, image, (double *)values, encode); /* which only reads the values */
}

void tensor_gather(const tensor *t, const void *image, double *values)
{
    each(t, (char *)image, values, decode); /* which only reads the image */
}

void tensor_erase(const tensor *t, void *image)
{
    each(t, image, NULL, erase);
}
