/* Device memory, through whatever libcuda.so.1 the process finds. */
#ifndef GDNN_CUDNN_DOUBLE_MEMORY_H
#define GDNN_CUDNN_DOUBLE_MEMORY_H

#include "double.h"

/* Copies after what was enqueued on `stream`, and waits. EXECUTION_FAILED_CUDA_DRIVER: the
 * driver refused. */
cudnnStatus_t read_device(void *host, const void *device, size_t bytes, cudaStream_t stream);
cudnnStatus_t write_device(void *device, const void *host, size_t bytes, cudaStream_t stream);

#endif
