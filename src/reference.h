/* The definition of a convolution, in float64 and plain loops, for a reader to check and for every
 * kernel to be compared with. It shares no index arithmetic with the kernels. */
#ifndef GDNN_REFERENCE_H
#define GDNN_REFERENCE_H

#include "groupdnn.h"

/* Tensors in logical order, packed: x (N, C, in...), w (K, C/groups, filter...), y and z (N, K,
 * out...), bias (K). The strides of the problem are not looked at. */
typedef struct gdnn_reference {
    double *x, *w, *y; /* by role; the direction says which is written, and beta reads it first */
    const double *z, *bias;
    /* NULL, or as large as what is written: gets the sum of the absolute values of all terms of
     * each element, |alpha| sum |x||w| + |beta y| + |alpha2 z| + |bias|, the scale that bounds
     * rounding errors refer to. */
    double *magnitude;
} gdnn_reference;

/* Computes `conv`, which passed gdnn_check. Allocates nothing. */
void gdnn_reference_run(const gdnn_conv *conv, const gdnn_reference *tensors);

#endif
