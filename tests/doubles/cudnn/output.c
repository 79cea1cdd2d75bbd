/* Sizes of a forward output, in the flavour `plain`. */
#include "convolution.h"
#include "filter.h"
#include "tensor.h"

cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t conv,
                                                    const cudnnTensorDescriptor_t x,
                                                    const cudnnFilterDescriptor_t filter, int count,
                                                    int dims[])
{
    REFUSE_IF(!conv);
    REFUSE_IF(!x);
    REFUSE_IF(!filter);
    REFUSE_IF(count < 0 || count > x->count);
    REFUSE_IF(x->count != filter->count);
    REFUSE_IF(conv->count != filter->count - 2);
    REFUSE_IF(x->dims[1] != (long long)conv->groups * filter->dims[1]);
    if (!dims)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    /* These two are given even where fewer are asked for. */
    dims[0] = x->dims[0];
    dims[1] = filter->dims[0];
    for (int i = 0; i < count - 2; i++) {
        const long long padded = x->dims[i + 2] + 2LL * conv->pads[i];
        const long long extent = (filter->dims[i + 2] - 1LL) * conv->dilations[i] + 1;
        if (extent > padded)
            return fail(CUDNN_STATUS_BAD_PARAM, "");
        dims[i + 2] = (int)((padded - extent) / conv->strides[i] + 1);
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t conv,
                                                    const cudnnTensorDescriptor_t x,
                                                    const cudnnFilterDescriptor_t w, int *n, int *c,
                                                    int *h, int *width)
{
    int dims[4] = {0};
    const cudnnStatus_t status = cudnnGetConvolutionNdForwardOutputDim(conv, x, w, 4, dims);
    int *const out[] = {n, c, h, width};
    for (int i = 0; i < 4; i++)
        if (out[i])
            *out[i] = dims[i];
    return status;
}
