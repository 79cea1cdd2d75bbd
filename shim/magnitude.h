/* How large the terms of each result can be, from what the convolution reads: rounding errors go
 * with the terms, not with what is left of them. */
#ifndef GDNN_MAGNITUDE_H
#define GDNN_MAGNITUDE_H

#include "groupdnn.h"
#include "walk.h"
#include <stdbool.h>

/* Bounds on the parts of |alpha| sum |a||b| + |beta prior| + |alpha2 z| + |bias|. The sum of products
 * of an element is bounded by the product of two norms:
 *
 *     forward          max |x| of the group        * sum |w| of the output channel
 *     backward-data    max |dy| of the group       * sum |w| of the input channel
 *     backward-filter  root of sum x^2 of channel c * root of sum dy^2 of channel k
 *
 * and the other terms by their largest value. Values that are not finite are left out: results
 * whose terms are finite do not have them. */
typedef struct gdnn_magnitude {
    const gdnn_conv *conv;
    double *first, *second; /* the two norms: by group or channel, by channel */
    double others;          /* of prior contents, z and bias together */
    bool finite;            /* both tensors that are multiplied are */
} gdnn_magnitude;

/* Reads the tensors as they are before anything is written. `conv` must live as long as
 * `magnitude`. False: no host memory, or they could not be fetched. Close it in any case. */
bool gdnn_magnitude_open(gdnn_magnitude *magnitude, const gdnn_conv *conv,
                         const gdnn_tensors *tensors, const gdnn_fetch *fetch);
void gdnn_magnitude_close(gdnn_magnitude *magnitude);

/* |alpha| times the sum of products of the written element at `index`. */
double gdnn_magnitude_at(const gdnn_magnitude *magnitude, const int64_t index[GDNN_MAX_DIMS]);

/* The square root; sqrt itself would need libm. `value` is not negative. */
long double gdnn_root(long double value);

#endif
