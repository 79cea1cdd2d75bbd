/* Descriptors as a problem. */
#include "call.h"
#include "problem.h"
#include <string.h>

typedef struct shape {
    cudnnDataType_t type;
    int count, dims[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
} shape;

static cudnnStatus_t read_tensor(cudnnTensorDescriptor_t tensor, shape *s)
{
    return cudnnGetTensorNdDescriptor(tensor, CUDNN_DIM_MAX, &s->type, &s->count, s->dims,
                                      s->strides);
}

static cudnnStatus_t read_filter(cudnnFilterDescriptor_t filter, shape *s,
                                 cudnnTensorFormat_t *format)
{
    return cudnnGetFilterNdDescriptor(filter, CUDNN_DIM_MAX, &s->type, format, &s->count, s->dims);
}

static cudnnStatus_t check_channels(const shape *x, const shape *w, const shape *y)
{
    REFUSE_IF(y->dims[0] != x->dims[0]);
    REFUSE_IF(y->dims[1] != w->dims[0]);
    REFUSE_IF(w->dims[1] == 0 || x->dims[1] == 0 || x->dims[1] % w->dims[1] != 0);
    const int groups = x->dims[1] / w->dims[1];
    REFUSE_IF(w->dims[0] % groups != 0);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set_axes(const shape *x, const shape *w, const shape *y,
                              cudnnConvolutionDescriptor_t descriptor, gdnn_conv *conv)
{
    int axes, pads[GDNN_MAX_SPATIAL], strides[GDNN_MAX_SPATIAL], dilations[GDNN_MAX_SPATIAL];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type;
    const cudnnStatus_t status = cudnnGetConvolutionNdDescriptor(
        descriptor, GDNN_MAX_SPATIAL, &axes, pads, strides, dilations, &mode, &type);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    conv->spatial = axes;
    conv->mode = mode == CUDNN_CONVOLUTION ? GDNN_CONV : GDNN_XCORR;
    for (int i = 0; i < axes; i++) {
        conv->in[i] = x->dims[i + 2];
        conv->filter[i] = w->dims[i + 2];
        conv->pad[i] = conv->pad_after[i] = pads[i];
        conv->stride[i] = strides[i];
        conv->dilation[i] = dilations[i];
        REFUSE_IF(gdnn_out_size(conv, i) != y->dims[i + 2]);
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set_strides(const shape *tensor, int64_t stride[GDNN_MAX_DIMS])
{
    int64_t size[GDNN_MAX_DIMS];
    for (int i = 0; i < tensor->count; i++) {
        REFUSE_IF(tensor->strides[i] < 0);
        size[i] = tensor->dims[i];
        stride[i] = tensor->strides[i];
    }
    REFUSE_IF(gdnn_may_overlap(tensor->count, size, stride));
    return CUDNN_STATUS_SUCCESS;
}

/* NOT_SUPPORTED has no text, as in NVIDIA's. */
static cudnnStatus_t set_types(const shape *x, const shape *w, const shape *y,
                               cudnnDataType_t arithmetic, gdnn_conv *conv)
{
    static const struct {
        cudnnDataType_t data, arithmetic;
        gdnn_dtype dtype, acc;
    } pairs[] = {{CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, GDNN_F32, GDNN_F32},
                 {CUDNN_DATA_DOUBLE, CUDNN_DATA_DOUBLE, GDNN_F64, GDNN_F64},
                 {CUDNN_DATA_HALF, CUDNN_DATA_FLOAT, GDNN_F16, GDNN_F32},
                 {CUDNN_DATA_HALF, CUDNN_DATA_HALF, GDNN_F16, GDNN_F16},
                 {CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT, GDNN_BF16, GDNN_F32}};

    if (w->type != x->type || y->type != x->type)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].data == x->type && pairs[i].arithmetic == arithmetic) {
            conv->dtype = pairs[i].dtype;
            conv->acc = pairs[i].acc;
            return CUDNN_STATUS_SUCCESS;
        }
    return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
}

/* The descriptors' numbers of axes, and the type of the arithmetic. */
static cudnnStatus_t check_axes(cudnnConvolutionDescriptor_t descriptor, const shape *x,
                                const shape *w, const shape *y, cudnnDataType_t *arithmetic)
{
    int axes;
    cudnnConvolutionMode_t mode;
    const cudnnStatus_t status =
        cudnnGetConvolutionNdDescriptor(descriptor, 0, &axes, NULL, NULL, NULL, &mode, arithmetic);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    REFUSE_IF(x->count != axes + 2);
    REFUSE_IF(w->count != axes + 2);
    REFUSE_IF(y->count != axes + 2);
    if (axes > GDNN_MAX_SPATIAL)
        return fail(CUDNN_STATUS_NOT_INITIALIZED, "axes > GDNN_MAX_SPATIAL");
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t read_problem(const convolution_call *call, gdnn_conv *conv)
{
    shape x, w, y;
    cudnnTensorFormat_t format;
    cudnnDataType_t arithmetic;
    cudnnStatus_t status;

    if (!call->handle || !call->x || !call->w || !call->y || !call->conv)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    gdnn_conv_init(conv);
    conv->dir = call->dir;
    if ((status = read_tensor(call->x, &x)) != CUDNN_STATUS_SUCCESS ||
        (status = read_tensor(call->y, &y)) != CUDNN_STATUS_SUCCESS ||
        (status = read_filter(call->w, &w, &format)) != CUDNN_STATUS_SUCCESS ||
        (status = check_axes(call->conv, &x, &w, &y, &arithmetic)) != CUDNN_STATUS_SUCCESS ||
        (status = check_channels(&x, &w, &y)) != CUDNN_STATUS_SUCCESS ||
        (status = set_axes(&x, &w, &y, call->conv, conv)) != CUDNN_STATUS_SUCCESS ||
        (status = set_strides(&x, conv->x_stride)) != CUDNN_STATUS_SUCCESS ||
        (status = set_strides(&y, conv->y_stride)) != CUDNN_STATUS_SUCCESS ||
        (status = set_types(&x, &w, &y, arithmetic, conv)) != CUDNN_STATUS_SUCCESS)
        return status;
    /* Not for tensors without a second spatial axis. */
    if (conv->spatial < 2 || format == CUDNN_TENSOR_NCHW_VECT_C)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
    conv->n = x.dims[0];
    conv->c = x.dims[1];
    conv->k = w.dims[0];
    conv->groups = conv->c / w.dims[1];
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(conv, GDNN_ROLE_W, size);
    gdnn_packed(gdnn_dims(conv), size, format == CUDNN_TENSOR_NHWC ? GDNN_NHWC : GDNN_NCHW,
                conv->w_stride);
    memcpy(conv->z_stride, conv->y_stride, sizeof conv->z_stride);
    return CUDNN_STATUS_SUCCESS;
}
