/* Tensor descriptors of the flavour `plain`. */
#include "tensor.h"
#include "types.h"
#include <stdlib.h>

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor)
{
    REFUSE_IF(!tensor);
    *tensor = calloc(1, sizeof **tensor);
    return created(*tensor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor)
{
    free(tensor);
    return CUDNN_STATUS_SUCCESS;
}

/* Elements that the memory spans. Wraps as 64 bits do. */
static uint64_t span(const struct cudnnTensorStruct *t)
{
    uint64_t span = t->count > 0;
    for (int i = 0; i < t->count; i++) {
        const uint64_t steps = (uint64_t)(i == 1 ? t->dims[i] / t->vector : t->dims[i]) - 1;
        span += steps * (uint64_t)llabs((long long)t->strides[i]);
    }
    return span;
}

static cudnnStatus_t set(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int count,
                         const int dims[], const int strides[], int vector)
{
    for (int i = 0; i < count; i++) {
        REFUSE_IF(dims[i] <= 0);
        REFUSE_IF((strides[i] == 0) && (dims[i] != 1));
    }
    tensor->type = type;
    tensor->count = count;
    tensor->vector = vector;
    double reach = 1;
    for (int i = 0; i < count; i++) {
        tensor->dims[i] = dims[i];
        tensor->strides[i] = strides[i];
        reach += (dims[i] - 1.0) / (i == 1 ? vector : 1) * abs(strides[i]);
    }
    return reach >= 2147483648.0 ? fail(CUDNN_STATUS_NOT_SUPPORTED, "") : CUDNN_STATUS_SUCCESS;
}

/* Strides wrap as NVIDIA's ints do. */
static void pack(cudnnTensorFormat_t format, int count, const int dims[], int vector, int strides[])
{
    unsigned step = 1;
    if (format == CUDNN_TENSOR_NHWC) {
        strides[1] = 1;
        step = (unsigned)dims[1];
    }
    for (int i = count - 1; i >= 0; i--) {
        if (i == 1 && format == CUDNN_TENSOR_NHWC)
            continue;
        strides[i] = (int)step;
        step *= (unsigned)(i == 1 ? dims[i] / vector : dims[i]);
    }
}

static cudnnStatus_t set_packed(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                cudnnDataType_t type, int count, const int dims[])
{
    const int vectors = format == CUDNN_TENSOR_NCHW_VECT_C;
    const int vector = vectors ? type_vector(type) : 1;
    int strides[CUDNN_DIM_MAX];

    if ((unsigned)format > CUDNN_TENSOR_NCHW_VECT_C || (vectors && vector == 1))
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    if (dims[1] % vector)
        return fail(CUDNN_STATUS_BAD_PARAM, vector == 4 ? "c % 4" : "c % 32");
    pack(format, count, dims, vector, strides);
    return set(tensor, type, count, dims, strides, vector);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w)
{
    REFUSE_IF(!tensor);
    REFUSE_IF((n <= 0) || (c <= 0) || (h <= 0) || (w <= 0));
    REFUSE_IF(!type_size(type));
    return set_packed(tensor, format, type, 4, (const int[]){n, c, h, w});
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                           int n, int c, int h, int w, int ns, int cs, int hs,
                                           int ws)
{
    REFUSE_IF(!tensor);
    if (!type_size(type))
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    return set(tensor, type, 4, (const int[]){n, c, h, w}, (const int[]){ns, cs, hs, ws}, 1);
}

static cudnnStatus_t check_count(int count)
{
    REFUSE_IF(count < 2);
    return count > CUDNN_DIM_MAX ? fail(CUDNN_STATUS_NOT_SUPPORTED, "") : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                         int count, const int dims[], const int strides[])
{
    REFUSE_IF(!tensor);
    const cudnnStatus_t status = check_count(count);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    if (!type_size(type) || !dims || !strides)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    return set(tensor, type, count, dims, strides, 1);
}

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensor,
                                           cudnnTensorFormat_t format, cudnnDataType_t type,
                                           int count, const int dims[])
{
    if (!tensor)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    const cudnnStatus_t status = check_count(count);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    if (!type_size(type) || !dims)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    return set_packed(tensor, format, type, count, dims);
}

cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensor,
                                         cudnnDataType_t *type, int *n, int *c, int *h, int *w,
                                         int *ns, int *cs, int *hs, int *ws)
{
    REFUSE_IF(!tensor);
    int *const dims[] = {n, c, h, w}, *const strides[] = {ns, cs, hs, ws};
    if (type)
        *type = tensor->type;
    for (int i = 0; i < 4; i++) {
        if (dims[i])
            *dims[i] = tensor->dims[i];
        if (strides[i])
            *strides[i] = tensor->strides[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensor, int requested,
                                         cudnnDataType_t *type, int *count, int dims[],
                                         int strides[])
{
    FAIL_IF_TOLD();
    REFUSE_IF(!tensor || !count);
    *count = tensor->count;
    if (type)
        *type = tensor->type;
    for (int i = 0; i < requested && i < tensor->count; i++) {
        if (dims)
            dims[i] = tensor->dims[i];
        if (strides)
            strides[i] = tensor->strides[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensor, size_t *size)
{
    REFUSE_IF(!tensor);
    if (!size)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    *size = span(tensor) * (uint64_t)type_size(tensor->type);
    return CUDNN_STATUS_SUCCESS;
}
