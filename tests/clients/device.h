/* The device, through whatever libcuda.so.1 the process finds. A failure ends the program with a
 * message. */
#ifndef GDNN_CLIENT_DEVICE_H
#define GDNN_CLIENT_DEVICE_H

#include "cudnn_client.h"

/* Makes the first device's context current. 0, with a message: there is none. */
int device_open(void);
/* Everything must have been freed. */
void device_close(void);

void *device_new(size_t bytes);
void device_free(void *memory);
void device_put(void *device, const void *host, size_t bytes);
/* After everything on `stream`. */
void device_get(void *host, const void *device, size_t bytes, cudaStream_t stream);

cudaStream_t device_stream(void);
void device_stream_free(cudaStream_t stream);

#endif
