#include "graph.h"
#include "api.h"
#include "graph_execute.h"
#include "graph_results.h"
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
    gdnn_graph_parts parts;
    if (status == CUDNN_STATUS_SUCCESS && gdnn_graph_finalized(descriptor, &parts))
        gdnn_graph_plan_made(descriptor, &parts);
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
    cudnnStatus_t status;
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS && type == CUDNN_TYPE_BACKEND_DESCRIPTOR &&
        gdnn_graph_results(descriptor, requested, count, elements, &status))
        return status;
    status =
        GDNN_REAL(cudnnBackendGetAttribute)(descriptor, name, type, requested, count, elements);
    if (status == CUDNN_STATUS_SUCCESS)
        gdnn_graph_got(descriptor, name, type, requested, count, elements);
    return status;
}

cudnnStatus_t gdnn_cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                       cudnnBackendDescriptor_t variant_pack)
{
    return gdnn_graph_execute(handle, plan, variant_pack);
}
