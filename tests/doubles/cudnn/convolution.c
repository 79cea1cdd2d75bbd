/* Convolution descriptors of the flavour `plain`. */
#include "convolution.h"
#include <stdlib.h>

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *conv)
{
    REFUSE_IF(!conv);
    *conv = calloc(1, sizeof **conv);
    if (*conv)
        (*conv)->groups = 1;
    return created(*conv);
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t conv)
{
    free(conv);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t conv, int count,
                                              const int pads[], const int strides[],
                                              const int dilations[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type)
{
    REFUSE_IF(!conv);
    REFUSE_IF(count < 0);
    if (count > CONVOLUTION_AXES)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
    REFUSE_IF((mode != CUDNN_CONVOLUTION) && (mode != CUDNN_CROSS_CORRELATION));
    REFUSE_IF((type != CUDNN_DATA_FLOAT) && (type != CUDNN_DATA_DOUBLE) &&
              (type != CUDNN_DATA_HALF) && (type != CUDNN_DATA_INT32));
    if (count && (!pads || !strides || !dilations))
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    conv->mode = mode;
    conv->type = type;
    conv->count = count;
    /* A wrong value is set, and what comes after it is not. */
    for (int i = 0; i < count; i++) {
        REFUSE_IF(pads[i] < 0);
        conv->pads[i] = pads[i];
        REFUSE_IF(strides[i] <= 0);
        conv->strides[i] = strides[i];
        conv->dilations[i] = dilations[i];
        REFUSE_IF(dilations[i] <= 0);
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t conv, int pad_h,
                                              int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type)
{
    REFUSE_IF(!conv);
    return cudnnSetConvolutionNdDescriptor(conv, 2, (const int[]){pad_h, pad_w},
                                           (const int[]){u, v},
                                           (const int[]){dilation_h, dilation_w}, mode, type);
}

cudnnStatus_t cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t conv,
                                              int requested, int *count, int pads[], int strides[],
                                              int dilations[], cudnnConvolutionMode_t *mode,
                                              cudnnDataType_t *type)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!conv);
    REFUSE_IF(requested < 0);
    if (requested > CONVOLUTION_AXES)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
    if (count)
        *count = conv->count;
    if (mode)
        *mode = conv->mode;
    if (type)
        *type = conv->type;
    for (int i = 0; i < requested; i++) {
        if (pads)
            pads[i] = conv->pads[i];
        if (strides)
            strides[i] = conv->strides[i];
        if (dilations)
            dilations[i] = conv->dilations[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t conv, int *pad_h,
                                              int *pad_w, int *u, int *v, int *dilation_h,
                                              int *dilation_w, cudnnConvolutionMode_t *mode,
                                              cudnnDataType_t *type)
{
    REFUSE_IF(!conv);
    int values[6];
    cudnnGetConvolutionNdDescriptor(conv, 2, NULL, values, values + 2, values + 4, mode, type);
    int *const out[] = {pad_h, pad_w, u, v, dilation_h, dilation_w};
    for (int i = 0; i < 6; i++)
        if (out[i])
            *out[i] = values[i];
    return CUDNN_STATUS_SUCCESS;
}

static int is_math(cudnnMathType_t math)
{
    return (unsigned)math <= CUDNN_FMA_MATH;
}

static int is_reorder(cudnnReorderType_t reorder)
{
    return (unsigned)reorder <= CUDNN_NO_REORDER;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t conv, int groups)
{
    REFUSE_IF(!conv);
    REFUSE_IF(groups < 1);
    conv->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionGroupCount(const cudnnConvolutionDescriptor_t conv, int *groups)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!conv);
    if (!groups)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    *groups = conv->groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t conv, cudnnMathType_t math)
{
    REFUSE_IF(!conv);
    REFUSE_IF(!is_math(math));
    conv->math = math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionMathType(const cudnnConvolutionDescriptor_t conv,
                                          cudnnMathType_t *math)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!conv);
    if (!math)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    *math = conv->math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t conv,
                                             cudnnReorderType_t reorder)
{
    REFUSE_IF(!conv);
    REFUSE_IF(!is_reorder(reorder));
    conv->reorder = reorder;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionReorderType(const cudnnConvolutionDescriptor_t conv,
                                             cudnnReorderType_t *reorder)
{
    REFUSE_IF(!conv);
    if (!reorder)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    *reorder = conv->reorder;
    return CUDNN_STATUS_SUCCESS;
}
