#include "graph.h"
#include "api.h"
#include "graph_track.h"

cudnnStatus_t gdnn_cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                cudnnBackendDescriptor_t *descriptor)
{
    cudnnStatus_t status = GDNN_REAL(cudnnBackendCreateDescriptor)(type, descriptor);
    if (status == CUDNN_STATUS_SUCCESS)
        gdnn_graph_created(type, *descriptor);
    return status;
}

cudnnStatus_t gdnn_cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    gdnn_graph_forget(descriptor);
    return GDNN_REAL(cudnnBackendDestroyDescriptor)(descriptor);
}

/* Makes a blank descriptor of one that may have been none. */
cudnnStatus_t gdnn_cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor)
{
    gdnn_graph_forget(descriptor);
    return GDNN_REAL(cudnnBackendInitialize)(descriptor);
}

cudnnStatus_t gdnn_cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    cudnnStatus_t status = GDNN_REAL(cudnnBackendFinalize)(descriptor);
    if (status == CUDNN_STATUS_SUCCESS)
        gdnn_graph_finalized(descriptor);
    return status;
}

cudnnStatus_t gdnn_cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                            cudnnBackendAttributeName_t name,
                                            cudnnBackendAttributeType_t type, int64_t count,
                                            const void *elements)
{
    cudnnStatus_t status =
        GDNN_REAL(cudnnBackendSetAttribute)(descriptor, name, type, count, elements);
    if (status == CUDNN_STATUS_SUCCESS)
        gdnn_graph_set(descriptor, name, type, count, elements);
    return status;
}

cudnnStatus_t gdnn_cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                            cudnnBackendAttributeName_t name,
                                            cudnnBackendAttributeType_t type, int64_t requested,
                                            int64_t *count, void *elements)
{
    cudnnStatus_t status =
        GDNN_REAL(cudnnBackendGetAttribute)(descriptor, name, type, requested, count, elements);
    if (status == CUDNN_STATUS_SUCCESS)
        gdnn_graph_got(descriptor, name, type, requested, count, elements);
    return status;
}

cudnnStatus_t gdnn_cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                       cudnnBackendDescriptor_t variant_pack)
{
    gdnn_graph_fate fate = gdnn_graph_fate_of(plan);
    gdnn_graph_plan_count(&fate);
    return GDNN_REAL(cudnnBackendExecute)(handle, plan, variant_pack);
}
