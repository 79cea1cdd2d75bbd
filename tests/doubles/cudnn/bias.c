/* The calls around a bias: its gradient, and its addition. 4 or 5 axes. */
#include "data.h"
#include <math.h>

static int dtype_of(cudnnDataType_t type, gdnn_dtype *dtype)
{
    switch (type) {
    case CUDNN_DATA_FLOAT: *dtype = GDNN_F32; return 1;
    case CUDNN_DATA_DOUBLE: *dtype = GDNN_F64; return 1;
    case CUDNN_DATA_HALF: *dtype = GDNN_F16; return 1;
    case CUDNN_DATA_BFLOAT16: *dtype = GDNN_BF16; return 1;
    default: return 0;
    }
}

/* The two tensors of a call: the bias, and what is as large as y. */
typedef struct pair {
    gdnn_dtype dtype;
    double alpha, beta;
    data bias, full;
} pair;

/* `reduced`: axes of the bias may only be that of the channels. */
static cudnnStatus_t read_pair(cudnnHandle_t h, const void *alpha, cudnnTensorDescriptor_t bias,
                               const void *bias_data, const void *beta,
                               cudnnTensorDescriptor_t full, const void *full_data, int reduced,
                               pair *p)
{
    cudnnDataType_t type, bias_type;
    int count, bias_count, dims[2][CUDNN_DIM_MAX], strides[2][CUDNN_DIM_MAX];
    int64_t size[2][GDNN_MAX_DIMS], stride[2][GDNN_MAX_DIMS];

    REFUSE_IF(!h || !bias || !full);
    REFUSE_IF(!bias_data || !full_data || !alpha || !beta);
    cudnnGetTensorNdDescriptor(bias, CUDNN_DIM_MAX, &bias_type, &bias_count, dims[0], strides[0]);
    cudnnGetTensorNdDescriptor(full, CUDNN_DIM_MAX, &type, &count, dims[1], strides[1]);
    REFUSE_IF(bias_count != count || bias_type != type);
    if (count < 4 || count > GDNN_MAX_DIMS || !dtype_of(type, &p->dtype))
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
    for (int i = 0; i < count; i++) {
        REFUSE_IF(dims[0][i] != dims[1][i] && dims[0][i] != 1);
        REFUSE_IF(reduced && dims[0][i] != (i == 1 ? dims[1][i] : 1));
        for (int t = 0; t < 2; t++) {
            REFUSE_IF(strides[t][i] < 0);
            size[t][i] = dims[t][i];
            stride[t][i] = strides[t][i];
        }
    }
    const int wide = p->dtype == GDNN_F64;
    p->alpha = wide ? *(const double *)alpha : *(const float *)alpha;
    p->beta = wide ? *(const double *)beta : *(const float *)beta;
    const cudnnStatus_t status =
        data_read(&p->bias, p->dtype, count, size[0], stride[0], bias_data, h->stream);
    return status != CUDNN_STATUS_SUCCESS
               ? status
               : data_read(&p->full, p->dtype, count, size[1], stride[1], full_data, h->stream);
}

/* The element of the bias that belongs to element `i` of the other. */
static int64_t bias_of(const pair *p, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int axis = p->full.dims - 1; axis >= 0; axis--) {
        if (p->bias.size[axis] > 1)
            at += i % p->full.size[axis] * step;
        step *= p->bias.size[axis];
        i /= p->full.size[axis];
    }
    return at;
}

static cudnnStatus_t finish(const char *function, cudnnStatus_t status, cudnnHandle_t h, pair *p)
{
    data_free(&p->bias);
    data_free(&p->full);
    return record(function, status, h, 0, p->alpha);
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t h, const void *alpha,
                                           const cudnnTensorDescriptor_t dy, const void *dy_data,
                                           const void *beta, const cudnnTensorDescriptor_t db,
                                           void *db_data)
{
    pair p = {.alpha = NAN};
    FAIL_IF_TOLD();
    cudnnStatus_t status = read_pair(h, alpha, db, db_data, beta, dy, dy_data, 1, &p);
    if (status == CUDNN_STATUS_SUCCESS) {
        for (int64_t i = 0; i < p.bias.elements; i++)
            p.bias.values[i] = p.beta != 0 ? p.beta * p.bias.values[i] : 0;
        for (int64_t i = 0; i < p.full.elements; i++)
            p.bias.values[bias_of(&p, i)] += p.alpha * p.full.values[i];
        status = data_write(&p.bias, db_data, h->stream);
    }
    return finish(__func__, status, h, &p);
}

cudnnStatus_t cudnnAddTensor(cudnnHandle_t h, const void *alpha, const cudnnTensorDescriptor_t a,
                             const void *a_data, const void *beta, const cudnnTensorDescriptor_t c,
                             void *c_data)
{
    pair p = {.alpha = NAN};
    FAIL_IF_TOLD();
    cudnnStatus_t status = read_pair(h, alpha, a, a_data, beta, c, c_data, 0, &p);
    if (status == CUDNN_STATUS_SUCCESS) {
        for (int64_t i = 0; i < p.full.elements; i++) {
            const double prior = p.beta != 0 ? p.beta * p.full.values[i] : 0;
            p.full.values[i] = p.alpha * p.bias.values[bias_of(&p, i)] + prior;
        }
        status = data_write(&p.full, c_data, h->stream);
    }
    return finish(__func__, status, h, &p);
}
