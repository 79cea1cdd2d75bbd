/* Filter descriptors of the flavour `plain`. */
#include "filter.h"
#include "types.h"
#include <stdlib.h>

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filter)
{
    REFUSE_IF(!filter);
    *filter = calloc(1, sizeof **filter);
    return created(*filter);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter)
{
    free(filter);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int count, const int dims[])
{
    const int vectors = type_vector(type) > 1;

    REFUSE_IF(!filter);
    REFUSE_IF(count <= 2);
    if (count > CUDNN_DIM_MAX)
        return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
    REFUSE_IF((format != CUDNN_TENSOR_NCHW) && (format != CUDNN_TENSOR_NHWC) &&
              (format != CUDNN_TENSOR_NCHW_VECT_C));
    if (!type_size(type) || type == CUDNN_DATA_INT32 || !dims)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    REFUSE_IF((CUDNN_TENSOR_NCHW_VECT_C == format) && !vectors);
    filter->type = type;
    filter->format = format;
    filter->count = count;
    /* What comes before a wrong size has been set. */
    for (int i = 0; i < count; i++) {
        REFUSE_IF(dims[i] <= 0);
        filter->dims[i] = dims[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    return cudnnSetFilterNdDescriptor(filter, type, format, 4, (const int[]){k, c, h, w});
}

cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filter, int requested,
                                         cudnnDataType_t *type, cudnnTensorFormat_t *format,
                                         int *count, int dims[])
{
    FAIL_IF_TOLD();
    REFUSE_IF(!filter);
    REFUSE_IF(requested <= 0);
    if (type)
        *type = filter->type;
    if (format)
        *format = filter->format;
    if (count)
        *count = filter->count;
    for (int i = 0; dims && i < requested && i < CUDNN_DIM_MAX; i++)
        dims[i] = filter->dims[i];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filter,
                                         cudnnDataType_t *type, cudnnTensorFormat_t *format, int *k,
                                         int *c, int *h, int *w)
{
    int dims[4];
    const cudnnStatus_t status = cudnnGetFilterNdDescriptor(filter, 4, type, format, NULL, dims);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    int *const out[] = {k, c, h, w};
    for (int i = 0; i < 4; i++)
        if (out[i])
            *out[i] = dims[i];
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filter, size_t *size)
{
    if (!filter || !size)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    size_t elements = filter->count > 0;
    for (int i = 0; i < filter->count; i++)
        elements *= (size_t)filter->dims[i];
    if (filter->format == CUDNN_TENSOR_NCHW_VECT_C)
        elements /= (size_t)type_vector(filter->type);
    *size = elements * (size_t)type_size(filter->type);
    return CUDNN_STATUS_SUCCESS;
}
