/* Handles. */
#include "double.h"
#include <stdlib.h>

cudnnStatus_t created(const void *object)
{
    const cudnnStatus_t memory = (cudnnStatus_t)4003; /* INTERNAL_ERROR_HOST_ALLOCATION_FAILED */
    return object ? CUDNN_STATUS_SUCCESS : fail(memory, "!object");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!handle);
    *handle = calloc(1, sizeof **handle);
    if (*handle)
        (*handle)->self = *handle;
    return created(*handle);
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    FAIL_IF_TOLD();
    if (!handle)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!handle || !stream);
    *stream = handle->stream;
    return CUDNN_STATUS_SUCCESS;
}
