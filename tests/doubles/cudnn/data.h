/* Tensors on the device as float64 in logical order. */
#ifndef GDNN_CUDNN_DOUBLE_DATA_H
#define GDNN_CUDNN_DOUBLE_DATA_H

#include "double.h"

/* One tensor in host memory: `bytes` as on the device, gaps included, and its elements'
 * `values`, packed. */
typedef struct data {
    gdnn_dtype type;
    int dims;
    int64_t size[GDNN_MAX_DIMS], stride[GDNN_MAX_DIMS];
    int64_t elements, span;
    unsigned char *bytes;
    double *values;
} data;

/* Reads a tensor. On failure nothing is allocated. */
cudnnStatus_t data_read(data *d, gdnn_dtype type, int dims, const int64_t *size,
                        const int64_t *stride, const void *device, cudaStream_t stream);
/* Rounds the values once, puts them among the bytes, and writes all of these. */
cudnnStatus_t data_write(data *d, void *device, cudaStream_t stream);
/* A zeroed data is allowed. */
void data_free(data *d);

#endif
