/* The graph interface of the flavour `real`: NVIDIA's descriptors, which get a GPU where the program relies on its
 * handle to say which. */
#include "double.h"
#include "graph_device.h"
#include "graph_pack.h"
#include "passthrough.h"

/* What a new descriptor begins with. A GPU that the program sets later prevails. */
static cudnnStatus_t begin(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t descriptor)
{
    switch (type) {
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
        give_device(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
        break;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
        give_device(descriptor, CUDNN_ATTR_ENGINE_DEVICEPROP);
        break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
        give_device(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
        break;
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return pack_created(descriptor);
    default: break;
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *descriptor)
{
    FAIL_IF_TOLD();
    cudnnStatus_t status = REAL(cudnnBackendCreateDescriptor)(type, descriptor);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    status = begin(type, *descriptor);
    if (status != CUDNN_STATUS_SUCCESS)
        REAL(cudnnBackendDestroyDescriptor)(*descriptor);
    return status;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    FAIL_IF_TOLD();
    /* Before another thread may be given the address. */
    pack_destroyed(descriptor);
    return REAL(cudnnBackendDestroyDescriptor)(descriptor);
}

/* Makes a descriptor new again. Which type it has is not known: only one of these attributes is its own. */
cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor)
{
    FAIL_IF_TOLD();
    const cudnnStatus_t status = REAL(cudnnBackendInitialize)(descriptor);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    pack_blanked(descriptor);
    give_device(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
    give_device(descriptor, CUDNN_ATTR_ENGINE_DEVICEPROP);
    give_device(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    return status;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    FAIL_IF_TOLD();
    const cudnnStatus_t status = REAL(cudnnBackendFinalize)(descriptor);
    if (status == CUDNN_STATUS_SUCCESS)
        pack_finalized(descriptor);
    return status;
}

/* NVIDIA's library must not see the handle, which it would take for one of its own. It is asked with none instead: what
 * it says then is right about everything else. */
static cudnnStatus_t set_handle(cudnnBackendDescriptor_t descriptor,
                                cudnnBackendAttributeName_t name, int64_t count,
                                const cudnnHandle_t *handle)
{
    static const cudnnHandle_t none = NULL;
    const cudnnStatus_t null_pointer = (cudnnStatus_t)2002; /* BAD_PARAM_NULL_POINTER */
    const cudnnStatus_t status = REAL(cudnnBackendSetAttribute)(descriptor, name, CUDNN_TYPE_HANDLE,
                                                                count, handle ? &none : NULL);
    if (!descriptor || !handle || (status != CUDNN_STATUS_SUCCESS && status != null_pointer))
        return status;
    forget_real_text();
    if (!*handle)
        return fail(null_pointer, "nullptr == handle");
    REFUSE_IF((*handle)->self != *handle);
    return name == CUDNN_ATTR_DEVICEPROP_HANDLE ? describe_device(descriptor)
                                                : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *elements)
{
    FAIL_IF_TOLD();
    if (type == CUDNN_TYPE_HANDLE)
        return set_handle(descriptor, name, count, elements);
    const cudnnStatus_t status =
        REAL(cudnnBackendSetAttribute)(descriptor, name, type, count, elements);
    return status == CUDNN_STATUS_SUCCESS ? pack_set(descriptor, name, count, elements) : status;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t room,
                                       int64_t *count, void *values)
{
    FAIL_IF_TOLD();
    return REAL(cudnnBackendGetAttribute)(descriptor, name, type, room, count, values);
}
