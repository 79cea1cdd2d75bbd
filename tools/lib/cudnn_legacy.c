#include "cudnn_legacy.h"

#include "error.h"
#include "problem.h"
#include <limits.h>
#include <string.h>

enum { MOST_AXES = GDNN_MAX_DIMS, MOST_ALGORITHMS = 16 };

#define CHECK(l, call, ...) cudnn_calls_check((l)->calls, (l)->calls->call(__VA_ARGS__), #call)

/* cuDNN's legacy sizes are ints. */
static gdnn_status narrow(const int64_t *values, int count, int *out)
{
    for (int i = 0; i < count; i++) {
        if (values[i] > INT_MAX)
            return gdnn_fail(GDNN_UNSUPPORTED,
                             "cuDNN's legacy interface has no size or stride of %lld",
                             (long long)values[i]);
        out[i] = (int)values[i];
    }
    return GDNN_OK;
}

static gdnn_status describe_tensor(cudnn_legacy *l, gdnn_role role, cudnnTensorDescriptor_t *made)
{
    int64_t size[GDNN_MAX_DIMS];
    int sizes[MOST_AXES], strides[MOST_AXES], dims = gdnn_dims(&l->conv);
    gdnn_sizes(&l->conv, role, size);
    gdnn_status status = narrow(size, dims, sizes);
    if (status == GDNN_OK)
        status = narrow(gdnn_strides(&l->conv, role), dims, strides);
    if (status == GDNN_OK)
        status = CHECK(l, cudnnCreateTensorDescriptor, made);
    if (status == GDNN_OK)
        status = CHECK(l, cudnnSetTensorNdDescriptor, *made, cudnn_type_of(l->conv.dtype), dims,
                       sizes, strides);
    return status;
}

/* Filters have layouts, no strides. Where both fit, for one channel a group say, that of x and y is what programs use.
 */
static gdnn_status describe_filter(cudnn_legacy *l)
{
    int64_t size[GDNN_MAX_DIMS];
    int sizes[MOST_AXES], dims = gdnn_dims(&l->conv);
    gdnn_sizes(&l->conv, GDNN_ROLE_W, size);
    const bool nchw = gdnn_is_packed(dims, size, l->conv.w_stride, GDNN_NCHW);
    const bool nhwc = gdnn_is_packed(dims, size, l->conv.w_stride, GDNN_NHWC);
    gdnn_layout layout = nchw ? GDNN_NCHW : GDNN_NHWC;
    if (!nchw && !nhwc)
        return gdnn_fail(GDNN_UNSUPPORTED, "cuDNN's legacy interface has no strides of w");
    if (nchw && nhwc)
        gdnn_common_layout(&l->conv, &layout);
    gdnn_status status = narrow(size, dims, sizes);
    if (status == GDNN_OK)
        status = CHECK(l, cudnnCreateFilterDescriptor, &l->w);
    if (status == GDNN_OK)
        status = CHECK(l, cudnnSetFilterNdDescriptor, l->w, cudnn_type_of(l->conv.dtype),
                       layout == GDNN_NCHW ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC, dims, sizes);
    return status;
}

/* As PyTorch chooses it: tensor cores for 16 bits, and for float32 where TF32 is permitted. */
static cudnnMathType_t math_of(const gdnn_conv *conv)
{
    if (conv->dtype == GDNN_F16 || conv->dtype == GDNN_BF16)
        return CUDNN_TENSOR_OP_MATH;
    return conv->dtype == GDNN_F32 && conv->math == GDNN_MATH_F32 ? CUDNN_FMA_MATH
                                                                  : CUDNN_DEFAULT_MATH;
}

static gdnn_status describe_convolution(cudnn_legacy *l)
{
    const gdnn_conv *conv = &l->conv;
    int pad[GDNN_MAX_SPATIAL], stride[GDNN_MAX_SPATIAL], dilation[GDNN_MAX_SPATIAL];
    const int axes = conv->spatial;
    if (memcmp(conv->pad, conv->pad_after, (size_t)axes * sizeof *conv->pad) != 0)
        return gdnn_fail(GDNN_UNSUPPORTED, "cuDNN's legacy interface pads both ends alike");
    gdnn_status status = narrow(conv->pad, axes, pad);
    if (status == GDNN_OK)
        status = narrow(conv->stride, axes, stride);
    if (status == GDNN_OK)
        status = narrow(conv->dilation, axes, dilation);
    if (status == GDNN_OK)
        status = CHECK(l, cudnnCreateConvolutionDescriptor, &l->convolution);
    if (status == GDNN_OK)
        status =
            CHECK(l, cudnnSetConvolutionNdDescriptor, l->convolution, axes, pad, stride, dilation,
                  conv->mode == GDNN_CONV ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
                  conv->dtype == GDNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
    if (status == GDNN_OK)
        status = CHECK(l, cudnnSetConvolutionGroupCount, l->convolution, (int)conv->groups);
    if (status == GDNN_OK)
        status = CHECK(l, cudnnSetConvolutionMathType, l->convolution, math_of(conv));
    return status;
}

/* The results come with the fastest first. */
static gdnn_status choose(cudnn_legacy *l)
{
    cudnnConvolutionFwdAlgoPerf_t found[MOST_ALGORITHMS];
    const cudnn_calls *c = l->calls;
    const gdnn_tensors t = rotation_tensors(l->memory, 0);
    void *workspace = rotation_workspace(l->memory);
    const size_t bytes = l->memory->workspace_bytes;
    int count = 0;
    gdnn_status status = GDNN_OK;
    switch (l->conv.dir) {
    case GDNN_FWD:
        status = CHECK(l, cudnnFindConvolutionForwardAlgorithmEx, c->handle, l->x, t.x, l->w, t.w,
                       l->convolution, l->y, t.y, MOST_ALGORITHMS, &count, found, workspace, bytes);
        break;
    case GDNN_BWD_DATA:
        status =
            CHECK(l, cudnnFindConvolutionBackwardDataAlgorithmEx, c->handle, l->w, t.w, l->y, t.y,
                  l->convolution, l->x, t.x, MOST_ALGORITHMS, &count, found, workspace, bytes);
        break;
    case GDNN_BWD_FILTER:
        status =
            CHECK(l, cudnnFindConvolutionBackwardFilterAlgorithmEx, c->handle, l->x, t.x, l->y, t.y,
                  l->convolution, l->w, t.w, MOST_ALGORITHMS, &count, found, workspace, bytes);
        break;
    }
    for (int i = 0; i < count && status == GDNN_OK; i++)
        if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].memory <= bytes) {
            l->algorithm = found[i].algo;
            l->workspace = found[i].memory;
            return CHECK(l, cudnnSetConvolutionMathType, l->convolution, found[i].mathType);
        }
    return status == GDNN_OK
               ? gdnn_fail(GDNN_UNSUPPORTED, "none of cuDNN's legacy algorithms runs it")
               : status;
}

gdnn_status cudnn_legacy_open(cudnn_legacy *l, const cudnn_calls *calls, const gdnn_conv *conv,
                              const rotation *memory)
{
    *l = (cudnn_legacy){.calls = calls, .memory = memory};
    gdnn_status status = cudnn_problem(conv, &l->conv);
    l->wide[0] = conv->alpha;
    l->wide[1] = conv->beta;
    l->narrow[0] = (float)conv->alpha;
    l->narrow[1] = (float)conv->beta;
    if (status == GDNN_OK && conv->groups > INT_MAX)
        status = gdnn_fail(GDNN_UNSUPPORTED, "cuDNN has no %lld groups", (long long)conv->groups);
    if (status == GDNN_OK)
        status = describe_tensor(l, GDNN_ROLE_X, &l->x);
    if (status == GDNN_OK)
        status = describe_tensor(l, GDNN_ROLE_Y, &l->y);
    if (status == GDNN_OK)
        status = describe_filter(l);
    if (status == GDNN_OK)
        status = describe_convolution(l);
    return status == GDNN_OK ? choose(l) : status;
}

gdnn_status cudnn_legacy_enqueue(void *context, int copy)
{
    const cudnn_legacy *l = context;
    const cudnn_calls *c = l->calls;
    const gdnn_tensors t = rotation_tensors(l->memory, copy);
    const bool wide = l->conv.dtype == GDNN_F64;
    const void *alpha = wide ? (const void *)&l->wide[0] : &l->narrow[0];
    const void *beta = wide ? (const void *)&l->wide[1] : &l->narrow[1];
    void *workspace = l->workspace ? rotation_workspace(l->memory) : NULL;
    switch (l->conv.dir) {
    case GDNN_FWD:
        return CHECK(l, cudnnConvolutionForward, c->handle, alpha, l->x, t.x, l->w, t.w,
                     l->convolution, l->algorithm, workspace, l->workspace, beta, l->y, t.y);
    case GDNN_BWD_DATA:
        return CHECK(l, cudnnConvolutionBackwardData, c->handle, alpha, l->w, t.w, l->y, t.y,
                     l->convolution, l->algorithm, workspace, l->workspace, beta, l->x, t.x);
    case GDNN_BWD_FILTER: break;
    }
    return CHECK(l, cudnnConvolutionBackwardFilter, c->handle, alpha, l->x, t.x, l->y, t.y,
                 l->convolution, l->algorithm, workspace, l->workspace, beta, l->w, t.w);
}

void cudnn_legacy_close(cudnn_legacy *l)
{
    const cudnn_calls *c = l->calls;
    if (l->x)
        c->cudnnDestroyTensorDescriptor(l->x);
    if (l->y)
        c->cudnnDestroyTensorDescriptor(l->y);
    if (l->w)
        c->cudnnDestroyFilterDescriptor(l->w);
    if (l->convolution)
        c->cudnnDestroyConvolutionDescriptor(l->convolution);
    *l = (cudnn_legacy){.calls = c};
}
