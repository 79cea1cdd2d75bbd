/* The four calls that convolve. */
#include "call.h"
#include "problem.h"
#include "tensors.h"
#include <math.h>

/* Memory and factors of a call. */
typedef struct operands {
    void *x, *w, *y;          /* device */
    const void *alpha, *beta; /* host */
    void *workspace;
    size_t workspace_bytes;
} operands;

/* What cudnnConvolutionBiasActivationForward adds. */
typedef struct epilogue {
    const void *alpha2;
    cudnnTensorDescriptor_t z, bias;
    const void *z_data, *bias_data;
    cudnnActivationDescriptor_t activation;
} epilogue;

static double factor(const gdnn_conv *conv, const void *value)
{
    if (!value)
        return 0;
    return conv->dtype == GDNN_F64 ? *(const double *)value : *(const float *)value;
}

/* z has y's sizes and type, and strides of its own. */
static cudnnStatus_t check_z(cudnnTensorDescriptor_t z, cudnnTensorDescriptor_t y, gdnn_conv *conv)
{
    cudnnDataType_t z_type, y_type;
    int z_count, y_count, z_dims[CUDNN_DIM_MAX], y_dims[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
    cudnnGetTensorNdDescriptor(y, CUDNN_DIM_MAX, &y_type, &y_count, y_dims, strides);
    cudnnGetTensorNdDescriptor(z, CUDNN_DIM_MAX, &z_type, &z_count, z_dims, strides);
    REFUSE_IF(z_count != y_count || z_type != y_type);
    for (int i = 0; i < z_count; i++) {
        REFUSE_IF(z_dims[i] != y_dims[i]);
        REFUSE_IF(strides[i] < 0);
        conv->z_stride[i] = strides[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

/* bias has K elements in a row, and y's type. */
static cudnnStatus_t check_bias(cudnnTensorDescriptor_t bias, cudnnTensorDescriptor_t y,
                                const gdnn_conv *conv)
{
    cudnnDataType_t type, y_type;
    int count, y_count, dims[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX], y_dims[1], y_strides[1];
    cudnnGetTensorNdDescriptor(y, 1, &y_type, &y_count, y_dims, y_strides);
    cudnnGetTensorNdDescriptor(bias, CUDNN_DIM_MAX, &type, &count, dims, strides);
    REFUSE_IF(type != y_type || count != y_count);
    REFUSE_IF(dims[0] != 1 || dims[1] != conv->k || (dims[1] > 1 && strides[1] != 1));
    for (int i = 2; i < count; i++)
        REFUSE_IF(dims[i] != 1);
    return CUDNN_STATUS_SUCCESS;
}

/* Checks what is added, and notes it in `conv`. */
static cudnnStatus_t check_epilogue(const convolution_call *call, const epilogue *e,
                                    gdnn_conv *conv)
{
    cudnnStatus_t status;
    if ((status = check_z(e->z, call->y, conv)) != CUDNN_STATUS_SUCCESS ||
        (status = check_bias(e->bias, call->y, conv)) != CUDNN_STATUS_SUCCESS)
        return status;
    conv->bias = conv->z = 1;
    conv->alpha2 = factor(conv, e->alpha2);
    return CUDNN_STATUS_SUCCESS;
}

/* NaN goes through all of them. */
static double activate(cudnnActivationMode_t mode, double coefficient, double swish_beta, double v)
{
    switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + exp(-v));
    case CUDNN_ACTIVATION_RELU: return v < 0 ? 0 : v;
    case CUDNN_ACTIVATION_TANH: return tanh(v);
    case CUDNN_ACTIVATION_CLIPPED_RELU: return v < 0 ? 0 : v > coefficient ? coefficient : v;
    case CUDNN_ACTIVATION_ELU: return v < 0 ? coefficient * expm1(v) : v;
    case CUDNN_ACTIVATION_IDENTITY: break;
    case CUDNN_ACTIVATION_SWISH: return v / (1 + exp(-swish_beta * v));
    }
    return v;
}

static cudnnStatus_t activate_all(cudnnActivationDescriptor_t activation, data *y)
{
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coefficient, swish_beta;
    cudnnStatus_t status;
    if ((status = cudnnGetActivationDescriptor(activation, &mode, &nan, &coefficient)) !=
            CUDNN_STATUS_SUCCESS ||
        (status = cudnnGetActivationDescriptorSwishBeta(activation, &swish_beta)) !=
            CUDNN_STATUS_SUCCESS)
        return status;
    for (int64_t i = 0; i < y->elements; i++)
        y->values[i] = activate(mode, coefficient, swish_beta, y->values[i]);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_workspace(const gdnn_conv *conv, int algo, const operands *o)
{
    size_t needed = 0;
    const cudnnStatus_t status = workspace_of(conv, algo, &needed);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    REFUSE_IF(o->workspace_bytes < needed);
    REFUSE_IF(needed > 0 && !o->workspace);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t compute(const convolution_call *call, const operands *o, const epilogue *e,
                             gdnn_conv *conv, tensors *t)
{
    const places device = {{o->x, o->w, o->y}, e ? e->z_data : NULL, e ? e->bias_data : NULL};
    cudaStream_t stream = call->handle->stream;
    cudnnStatus_t status;

    if (e && (status = check_epilogue(call, e, conv)) != CUDNN_STATUS_SUCCESS)
        return status;
    if ((status = tensors_read(t, conv, &device, stream)) != CUDNN_STATUS_SUCCESS)
        return status;
    tensors_compute(t, conv);
    if (e && (status = activate_all(e->activation, &t->role[gdnn_written(conv->dir)])) !=
                 CUDNN_STATUS_SUCCESS)
        return status;
    return tensors_write(t, conv, &device, stream);
}

static cudnnStatus_t convolve(const convolution_call *call, const operands *o, const epilogue *e)
{
    gdnn_conv conv;
    tensors t = {0};
    cudnnStatus_t status;

    if (!o->x || !o->w || !o->y || !o->alpha || (!e && !o->beta))
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    if (e && (!e->alpha2 || !e->z || !e->z_data || !e->bias || !e->bias_data || !e->activation))
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    if ((status = read_problem(call, &conv)) != CUDNN_STATUS_SUCCESS ||
        (status = check_workspace(&conv, call->algo, o)) != CUDNN_STATUS_SUCCESS)
        return status;
    conv.alpha = factor(&conv, o->alpha);
    conv.beta = factor(&conv, o->beta);
    status = compute(call, o, e, &conv, &t);
    tensors_free(&t);
    return status;
}

/* alpha as the log has it: known only where the type of the data is. */
static double logged_alpha(cudnnTensorDescriptor_t y, const void *alpha)
{
    cudnnDataType_t type;
    int count, dims[1], strides[1];
    if (!y || !alpha ||
        cudnnGetTensorNdDescriptor(y, 1, &type, &count, dims, strides) != CUDNN_STATUS_SUCCESS)
        return NAN;
    return type == CUDNN_DATA_DOUBLE ? *(const double *)alpha : *(const float *)alpha;
}

static cudnnStatus_t execute(const char *function, const convolution_call *call, const operands *o,
                             const epilogue *e)
{
    cudnnStatus_t status = told_to_fail(function);
    status =
        status == CUDNN_STATUS_SUCCESS ? convolve(call, o, e) : fail(status, "GDNN_DOUBLE_FAIL");
    return record(function, status, call->handle, o->workspace_bytes,
                  logged_alpha(call->y, o->alpha));
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t h, const void *alpha,
                                      const cudnnTensorDescriptor_t x, const void *x_data,
                                      const cudnnFilterDescriptor_t w, const void *w_data,
                                      const cudnnConvolutionDescriptor_t conv, int algo,
                                      void *workspace, size_t bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y, void *y_data)
{
    return execute(
        __func__, &(convolution_call){GDNN_FWD, h, x, y, w, conv, algo},
        &(operands){(void *)x_data, (void *)w_data, y_data, alpha, beta, workspace, bytes}, NULL);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t h, const void *alpha,
                                           const cudnnFilterDescriptor_t w, const void *w_data,
                                           const cudnnTensorDescriptor_t y, const void *y_data,
                                           const cudnnConvolutionDescriptor_t conv, int algo,
                                           void *workspace, size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t x, void *x_data)
{
    return execute(
        __func__, &(convolution_call){GDNN_BWD_DATA, h, x, y, w, conv, algo},
        &(operands){x_data, (void *)w_data, (void *)y_data, alpha, beta, workspace, bytes}, NULL);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t h, const void *alpha,
                                             const cudnnTensorDescriptor_t x, const void *x_data,
                                             const cudnnTensorDescriptor_t y, const void *y_data,
                                             const cudnnConvolutionDescriptor_t conv, int algo,
                                             void *workspace, size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t w, void *w_data)
{
    return execute(
        __func__, &(convolution_call){GDNN_BWD_FILTER, h, x, y, w, conv, algo},
        &(operands){(void *)x_data, w_data, (void *)y_data, alpha, beta, workspace, bytes}, NULL);
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t h, const void *alpha1, const cudnnTensorDescriptor_t x, const void *x_data,
    const cudnnFilterDescriptor_t w, const void *w_data, const cudnnConvolutionDescriptor_t conv,
    int algo, void *workspace, size_t bytes, const void *alpha2, const cudnnTensorDescriptor_t z,
    const void *z_data, const cudnnTensorDescriptor_t bias, const void *bias_data,
    const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y, void *y_data)
{
    return execute(
        __func__, &(convolution_call){GDNN_FWD, h, x, y, w, conv, algo},
        &(operands){(void *)x_data, (void *)w_data, y_data, alpha1, NULL, workspace, bytes},
        &(epilogue){alpha2, z, bias, z_data, bias_data, activation});
}
