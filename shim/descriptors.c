#include "descriptors.h"
#include "api.h"
#include "data_type.h"
#include "legacy_api.h"
#include "problem.h"
#include "tf32.h"
#include <string.h>

/* A tensor or filter as cuDNN describes it. Filters have no strides, their format tells. */
typedef struct description {
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    int dims, size[CUDNN_DIM_MAX], stride[CUDNN_DIM_MAX];
} description;

static bool read_tensor(cudnnTensorDescriptor_t tensor, description *d)
{
    return tensor &&
           GDNN_REAL(cudnnGetTensorNdDescriptor)(tensor, CUDNN_DIM_MAX, &d->type, &d->dims, d->size,
                                                 d->stride) == CUDNN_STATUS_SUCCESS;
}

static bool read_filter(cudnnFilterDescriptor_t filter, description *d)
{
    return filter &&
           GDNN_REAL(cudnnGetFilterNdDescriptor)(filter, CUDNN_DIM_MAX, &d->type, &d->format,
                                                 &d->dims, d->size) == CUDNN_STATUS_SUCCESS;
}

static void copy_strides(const description *d, int64_t *stride)
{
    for (int i = 0; i < d->dims; i++)
        stride[i] = d->stride[i];
}

static double factor(const void *value, gdnn_dtype type)
{
    double f64;
    float f32;
    if (type == GDNN_F64)
        return memcpy(&f64, value, sizeof f64), f64;
    return memcpy(&f32, value, sizeof f32), f32;
}

int gdnn_legacy_groups(const gdnn_legacy_call *call)
{
    int groups = 0;
    if (!call->convolution || GDNN_REAL(cudnnGetConvolutionGroupCount)(
                                  call->convolution, &groups) != CUDNN_STATUS_SUCCESS)
        return 0;
    return groups;
}

static gdnn_reason read_convolution(const gdnn_legacy_call *call, gdnn_conv *conv)
{
    int axes = 0, pad[GDNN_MAX_SPATIAL], stride[GDNN_MAX_SPATIAL], dilation[GDNN_MAX_SPATIAL];
    cudnnConvolutionMode_t mode;
    cudnnDataType_t sums;
    cudnnMathType_t math;
    if (GDNN_REAL(cudnnGetConvolutionNdDescriptor)(call->convolution, GDNN_MAX_SPATIAL, &axes, pad,
                                                   stride, dilation, &mode,
                                                   &sums) != CUDNN_STATUS_SUCCESS ||
        GDNN_REAL(cudnnGetConvolutionMathType)(call->convolution, &math) != CUDNN_STATUS_SUCCESS)
        return GDNN_REASON_INVALID;
    if (axes < 1 || axes > GDNN_MAX_SPATIAL)
        return GDNN_REASON_FORMAT;
    if (!gdnn_our_type(sums, &conv->acc))
        return GDNN_REASON_TYPE;
    if (mode != CUDNN_CONVOLUTION && mode != CUDNN_CROSS_CORRELATION)
        return GDNN_REASON_INVALID;
    conv->mode = mode == CUDNN_CONVOLUTION ? GDNN_CONV : GDNN_XCORR;
    bool exact = math == CUDNN_FMA_MATH || conv->dtype != GDNN_F32 || gdnn_tf32_forbidden();
    conv->math = exact ? GDNN_MATH_F32 : GDNN_MATH_TF32;
    conv->spatial = axes;
    for (int i = 0; i < axes; i++) {
        conv->pad[i] = conv->pad_after[i] = pad[i];
        conv->stride[i] = stride[i];
        conv->dilation[i] = dilation[i];
    }
    return GDNN_REASON_TAKEN;
}

/* The sizes must be those that the problem gives y: cuDNN refuses others, in its own words. */
static bool has_sizes_of_y(const description *d, const gdnn_conv *conv)
{
    if (d->dims != gdnn_dims(conv) || d->size[0] != conv->n || d->size[1] != conv->k)
        return false;
    for (int i = 0; i < conv->spatial; i++)
        if (d->size[2 + i] != gdnn_out_size(conv, i))
            return false;
    return true;
}

static bool is_bias(const description *d, const gdnn_conv *conv)
{
    for (int i = 0; i < d->dims; i++)
        if (d->size[i] != (i == 1 ? conv->k : 1))
            return false;
    return d->dims == gdnn_dims(conv) && (d->stride[1] == 1 || conv->k == 1);
}

/* The only algorithm with which cuDNN has no activation, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM; its query
 * of the workspace does not tell. */
enum { IDENTITY_ALGO = 1 };

/* What cudnnConvolutionBiasActivationForward adds. */
static gdnn_reason read_epilogue(const gdnn_legacy_call *call, cudnnDataType_t type,
                                 gdnn_conv *conv)
{
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coefficient;
    description z, bias;
    if (GDNN_REAL(cudnnGetActivationDescriptor)(call->activation, &mode, &nan, &coefficient) !=
            CUDNN_STATUS_SUCCESS ||
        !read_tensor(call->z, &z) || !read_tensor(call->bias, &bias))
        return GDNN_REASON_INVALID;
    if (mode != CUDNN_ACTIVATION_RELU && mode != CUDNN_ACTIVATION_IDENTITY)
        return GDNN_REASON_ACTIVATION;
    if (mode == CUDNN_ACTIVATION_IDENTITY && call->algo != IDENTITY_ALGO)
        return GDNN_REASON_REFUSED;
    if (z.type != type || bias.type != type)
        return GDNN_REASON_TYPE;
    if (!has_sizes_of_y(&z, conv) || !is_bias(&bias, conv))
        return GDNN_REASON_INVALID;
    conv->act = mode == CUDNN_ACTIVATION_RELU ? GDNN_ACT_RELU : GDNN_ACT_NONE;
    conv->bias = conv->z = 1;
    conv->alpha2 = factor(call->alpha2, conv->dtype);
    copy_strides(&z, conv->z_stride);
    return GDNN_REASON_TAKEN;
}

gdnn_reason gdnn_legacy_read(const gdnn_legacy_call *call, int groups, gdnn_conv *conv)
{
    description x, w, y;
    memset(conv, 0, sizeof *conv);
    if (!read_tensor(call->x, &x) || !read_tensor(call->y, &y) || !read_filter(call->w, &w))
        return GDNN_REASON_INVALID;
    if (x.type != w.type || x.type != y.type || !gdnn_our_type(x.type, &conv->dtype))
        return GDNN_REASON_TYPE;
    if (w.format != CUDNN_TENSOR_NCHW && w.format != CUDNN_TENSOR_NHWC)
        return GDNN_REASON_FORMAT;
    gdnn_reason reason = read_convolution(call, conv);
    if (reason != GDNN_REASON_TAKEN)
        return reason;
    if (x.dims != conv->spatial + 2 || w.dims != x.dims)
        return GDNN_REASON_INVALID;

    conv->dir = call->dir;
    conv->groups = groups;
    conv->n = x.size[0];
    conv->c = x.size[1];
    conv->k = w.size[0];
    int64_t w_size[GDNN_MAX_DIMS] = {w.size[0], w.size[1]};
    for (int i = 0; i < conv->spatial; i++) {
        conv->in[i] = x.size[2 + i];
        conv->filter[i] = w_size[2 + i] = w.size[2 + i];
        if (conv->stride[i] < 1) /* gdnn_out_size divides by it */
            return GDNN_REASON_INVALID;
    }
    if ((int64_t)w.size[1] * groups != conv->c || !has_sizes_of_y(&y, conv))
        return GDNN_REASON_INVALID;
    copy_strides(&x, conv->x_stride);
    copy_strides(&y, conv->y_stride);
    gdnn_packed(w.dims, w_size, w.format == CUDNN_TENSOR_NHWC ? GDNN_NHWC : GDNN_NCHW,
                conv->w_stride);
    conv->alpha = factor(call->alpha, conv->dtype);
    conv->beta = call->beta ? factor(call->beta, conv->dtype) : 0;
    conv->alpha2 = 1;
    return call->activation ? read_epilogue(call, x.type, conv) : GDNN_REASON_TAKEN;
}
