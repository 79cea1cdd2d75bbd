/* Plans that are executed: ours by our kernels, the others by cuDNN. */
#ifndef GDNN_GRAPH_EXECUTE_H
#define GDNN_GRAPH_EXECUTE_H

#include "graph_types.h"

/* Answers the program's cudnnBackendExecute. The stream is the handle's, asked each time; the workspace is that of the
 * variant pack, of the size that cuDNN's plan has. Whatever is not as it should be goes to cuDNN: the plan is a real
 * one. */
cudnnStatus_t gdnn_graph_execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                 cudnnBackendDescriptor_t variant_pack);

#endif
