/* The GPU that the flavour `real` says is there. */
#ifndef GDNN_CUDNN_DOUBLE_GRAPH_DEVICE_H
#define GDNN_CUDNN_DOUBLE_GRAPH_DEVICE_H

#include "../../clients/graph_client.h"

/* Makes it what `attribute` of a descriptor is, which takes a descriptor of a GPU, until the program sets another.
 * Nothing where the descriptor has no such attribute, or NVIDIA's library no such descriptors. */
void give_device(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attribute);

/* Sets its properties on a descriptor of a GPU. */
cudnnStatus_t describe_device(cudnnBackendDescriptor_t descriptor);

#endif
