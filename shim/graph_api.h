/* The signatures of cuDNN's graph interface, as legacy_api.h has those of the legacy one. */
#ifndef GDNN_GRAPH_API_H
#define GDNN_GRAPH_API_H

#include "graph_types.h"

cudnnStatus_t gdnn_proto_cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t,
                                                      cudnnBackendDescriptor_t *);
cudnnStatus_t gdnn_proto_cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t);
cudnnStatus_t gdnn_proto_cudnnBackendInitialize(cudnnBackendDescriptor_t);
cudnnStatus_t gdnn_proto_cudnnBackendFinalize(cudnnBackendDescriptor_t);
cudnnStatus_t gdnn_proto_cudnnBackendSetAttribute(cudnnBackendDescriptor_t,
                                                  cudnnBackendAttributeName_t,
                                                  cudnnBackendAttributeType_t, int64_t count,
                                                  const void *elements);
cudnnStatus_t gdnn_proto_cudnnBackendGetAttribute(cudnnBackendDescriptor_t,
                                                  cudnnBackendAttributeName_t,
                                                  cudnnBackendAttributeType_t, int64_t requested,
                                                  int64_t *count, void *elements);
cudnnStatus_t gdnn_proto_cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t plan,
                                             cudnnBackendDescriptor_t variant_pack);
void gdnn_proto_cudnnGetLastErrorString(char *text, size_t size);

#endif
