#include "legacy.h"
#include "api.h"
#include "descriptors.h"
#include "take.h"

static cudnnStatus_t real_forward(void *context)
{
    const gdnn_legacy_call *c = context;
    return GDNN_REAL(cudnnConvolutionForward)(c->handle, c->alpha, c->x, c->data.x, c->w, c->data.w,
                                              c->convolution, c->algo, c->workspace,
                                              c->workspace_bytes, c->beta, c->y, c->data.y);
}

static cudnnStatus_t real_bias_activation(void *context)
{
    const gdnn_legacy_call *c = context;
    return GDNN_REAL(cudnnConvolutionBiasActivationForward)(
        c->handle, c->alpha, c->x, c->data.x, c->w, c->data.w, c->convolution, c->algo,
        c->workspace, c->workspace_bytes, c->alpha2, c->z, c->data.z, c->bias, c->data.bias,
        c->activation, c->y, c->data.y);
}

static cudnnStatus_t real_backward_data(void *context)
{
    const gdnn_legacy_call *c = context;
    return GDNN_REAL(cudnnConvolutionBackwardData)(c->handle, c->alpha, c->w, c->data.w, c->y,
                                                   c->data.y, c->convolution, c->algo, c->workspace,
                                                   c->workspace_bytes, c->beta, c->x, c->data.x);
}

static cudnnStatus_t real_backward_filter(void *context)
{
    const gdnn_legacy_call *c = context;
    return GDNN_REAL(cudnnConvolutionBackwardFilter)(
        c->handle, c->alpha, c->x, c->data.x, c->y, c->data.y, c->convolution, c->algo,
        c->workspace, c->workspace_bytes, c->beta, c->w, c->data.w);
}

/* cuDNN refuses an algorithm that cannot run the problem, and a workspace smaller than the algorithm's. */
static bool accepted(void *context)
{
    const gdnn_legacy_call *c = context;
    size_t needed = 0;
    cudnnStatus_t status = CUDNN_STATUS_NOT_SUPPORTED;
    switch (c->dir) {
    case GDNN_FWD:
        status = GDNN_REAL(cudnnGetConvolutionForwardWorkspaceSize)(
            c->handle, c->x, c->w, c->convolution, c->y, c->algo, &needed);
        break;
    case GDNN_BWD_DATA:
        status = GDNN_REAL(cudnnGetConvolutionBackwardDataWorkspaceSize)(
            c->handle, c->w, c->y, c->convolution, c->x, c->algo, &needed);
        break;
    case GDNN_BWD_FILTER:
        status = GDNN_REAL(cudnnGetConvolutionBackwardFilterWorkspaceSize)(
            c->handle, c->x, c->y, c->convolution, c->w, c->algo, &needed);
        break;
    }
    return status == CUDNN_STATUS_SUCCESS && needed <= (c->workspace ? c->workspace_bytes : 0);
}

static bool stream_of(void *context, CUstream *stream)
{
    const gdnn_legacy_call *c = context;
    return GDNN_REAL(cudnnGetStream)(c->handle, stream) == CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t answer(gdnn_legacy_call *call, cudnnStatus_t (*real)(void *context))
{
    const gdnn_taker taker = {call, real, accepted, stream_of};
    gdnn_conv conv;
    int groups = gdnn_legacy_groups(call);
    if (groups <= 1)
        return gdnn_forward(call->dir, groups ? GDNN_REASON_NOT_GROUPED : GDNN_REASON_INVALID,
                            &taker);
    bool complete =
        call->activation ? call->alpha2 && call->data.z && call->data.bias : !!call->beta;
    if (!call->handle || !call->alpha || !complete)
        return gdnn_forward(call->dir, GDNN_REASON_INVALID, &taker);
    gdnn_reason reason = gdnn_legacy_read(call, groups, &conv);
    if (reason != GDNN_REASON_TAKEN)
        return gdnn_forward(call->dir, reason, &taker);
    return gdnn_take(&conv, call->algo, &call->data, call->workspace, call->workspace_bytes,
                     &taker);
}

cudnnStatus_t gdnn_cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                           cudnnTensorDescriptor_t x_descriptor, const void *x,
                                           cudnnFilterDescriptor_t w_descriptor, const void *w,
                                           cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionFwdAlgo_t algo, void *workspace,
                                           size_t workspace_bytes, const void *beta,
                                           cudnnTensorDescriptor_t y_descriptor, void *y)
{
    gdnn_legacy_call call = {
        .dir = GDNN_FWD,
        .handle = handle,
        .convolution = convolution,
        .algo = algo,
        .workspace = workspace,
        .workspace_bytes = workspace_bytes,
        .x = x_descriptor,
        .y = y_descriptor,
        .w = w_descriptor,
        .data = {.x = (void *)x, .w = (void *)w, .y = y},
        .alpha = alpha,
        .beta = beta,
    };
    return answer(&call, real_forward);
}

cudnnStatus_t gdnn_cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void *alpha1, cudnnTensorDescriptor_t x_descriptor, const void *x,
    cudnnFilterDescriptor_t w_descriptor, const void *w, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionFwdAlgo_t algo, void *workspace, size_t workspace_bytes, const void *alpha2,
    cudnnTensorDescriptor_t z_descriptor, const void *z, cudnnTensorDescriptor_t bias_descriptor,
    const void *bias, cudnnActivationDescriptor_t activation, cudnnTensorDescriptor_t y_descriptor,
    void *y)
{
    gdnn_legacy_call call = {
        .dir = GDNN_FWD,
        .handle = handle,
        .convolution = convolution,
        .algo = algo,
        .workspace = workspace,
        .workspace_bytes = workspace_bytes,
        .x = x_descriptor,
        .y = y_descriptor,
        .w = w_descriptor,
        .data = {.x = (void *)x, .w = (void *)w, .y = y, .z = z, .bias = bias},
        .alpha = alpha1,
        .activation = activation,
        .alpha2 = alpha2,
        .z = z_descriptor,
        .bias = bias_descriptor,
    };
    return answer(&call, real_bias_activation);
}

cudnnStatus_t gdnn_cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void *alpha, cudnnFilterDescriptor_t w_descriptor, const void *w,
    cudnnTensorDescriptor_t dy_descriptor, const void *dy, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdDataAlgo_t algo, void *workspace, size_t workspace_bytes, const void *beta,
    cudnnTensorDescriptor_t dx_descriptor, void *dx)
{
    gdnn_legacy_call call = {
        .dir = GDNN_BWD_DATA,
        .handle = handle,
        .convolution = convolution,
        .algo = algo,
        .workspace = workspace,
        .workspace_bytes = workspace_bytes,
        .x = dx_descriptor,
        .y = dy_descriptor,
        .w = w_descriptor,
        .data = {.x = dx, .w = (void *)w, .y = (void *)dy},
        .alpha = alpha,
        .beta = beta,
    };
    return answer(&call, real_backward_data);
}

cudnnStatus_t gdnn_cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, cudnnTensorDescriptor_t x_descriptor, const void *x,
    cudnnTensorDescriptor_t dy_descriptor, const void *dy, cudnnConvolutionDescriptor_t convolution,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workspace, size_t workspace_bytes, const void *beta,
    cudnnFilterDescriptor_t dw_descriptor, void *dw)
{
    gdnn_legacy_call call = {
        .dir = GDNN_BWD_FILTER,
        .handle = handle,
        .convolution = convolution,
        .algo = algo,
        .workspace = workspace,
        .workspace_bytes = workspace_bytes,
        .x = x_descriptor,
        .y = dy_descriptor,
        .w = dw_descriptor,
        .data = {.x = (void *)x, .w = dw, .y = (void *)dy},
        .alpha = alpha,
        .beta = beta,
    };
    return answer(&call, real_backward_filter);
}
