/* A tensor of the client: on the host as the device has it, and as numbers. */
#ifndef GDNN_CLIENT_TENSOR_H
#define GDNN_CLIENT_TENSOR_H

#include "problem.h"

typedef struct tensor {
    cudnnDataType_t type;
    int axes, size[5], stride[5];
    int elements, span; /* of memory, gaps included, in elements */
    unsigned char *bytes;
    double *numbers; /* in logical order */
    void *device;
} tensor;

/* Random numbers, with NaN in the gaps; all NaN if it is `poisoned`. */
void tensor_make(tensor *t, cudnnDataType_t type, int axes, const int *size, order how,
                 int poisoned);
/* Puts an infinity and a NaN among the elements. */
void tensor_special(tensor *t);
void tensor_free(tensor *t);

/* Reads the memory from the device, and counts what is wrong with it: gaps that have changed,
 * and numbers farther from `result` than `bound` and rounding allow; the farthest in units of
 * that to *worst. From then on the numbers are those read; `result` may be the earlier ones. */
int tensor_wrong(tensor *t, const double *result, const double *bound, cudaStream_t stream,
                 double *worst);
/* Of the memory read last. */
unsigned long long tensor_bits(const tensor *t);

#endif
