/* cuDNN's graph interface, as the drop-in answers it. Signatures and statuses are NVIDIA's, and so are all
 * descriptors. What the program says is remembered; the heuristics' lists may grow, and plans of ours run our kernels:
 * every other call is the real library's, arguments untouched. */
#ifndef GDNN_GRAPH_H
#define GDNN_GRAPH_H

#include "graph_api.h"

extern __typeof__(gdnn_proto_cudnnBackendCreateDescriptor) gdnn_cudnnBackendCreateDescriptor;
extern __typeof__(gdnn_proto_cudnnBackendDestroyDescriptor) gdnn_cudnnBackendDestroyDescriptor;
extern __typeof__(gdnn_proto_cudnnBackendInitialize) gdnn_cudnnBackendInitialize;
extern __typeof__(gdnn_proto_cudnnBackendFinalize) gdnn_cudnnBackendFinalize;
extern __typeof__(gdnn_proto_cudnnBackendSetAttribute) gdnn_cudnnBackendSetAttribute;
extern __typeof__(gdnn_proto_cudnnBackendGetAttribute) gdnn_cudnnBackendGetAttribute;
extern __typeof__(gdnn_proto_cudnnBackendExecute) gdnn_cudnnBackendExecute;

#endif
