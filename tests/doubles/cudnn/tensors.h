/* The tensors of a convolution: where they are on the device, and what they hold. */
#ifndef GDNN_CUDNN_DOUBLE_TENSORS_H
#define GDNN_CUDNN_DOUBLE_TENSORS_H

#include "data.h"

/* Device memory; z and bias where the problem has them. */
typedef struct places {
    void *role[3]; /* by gdnn_role */
    const void *z, *bias;
} places;

/* In host memory. */
typedef struct tensors {
    data role[3], z, bias;
} tensors;

/* Reads all that the problem has, and z only where alpha2 is not 0. A zeroed `t` is filled as far as it goes. */
cudnnStatus_t tensors_read(tensors *t, const gdnn_conv *conv, const places *device,
                           cudaStream_t stream);
/* Runs the reference. */
void tensors_compute(tensors *t, const gdnn_conv *conv);
/* Rounds and writes the one that is computed. */
cudnnStatus_t tensors_write(tensors *t, const gdnn_conv *conv, const places *device,
                            cudaStream_t stream);
/* A zeroed `t` is allowed. */
void tensors_free(tensors *t);

#endif
