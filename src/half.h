/* Conversions between float64 and the element types of a problem. To f16, bf16 and f32 they round
 * once, straight from the double, to nearest with ties to even, whatever the rounding mode of the
 * processor; too large becomes infinite, subnormal values are kept, and a NaN stays a NaN of the
 * same sign. */
#ifndef GDNN_HALF_H
#define GDNN_HALF_H

#include "groupdnn.h"
#include <stddef.h>

/* The value of `type` nearest to `value`. */
double gdnn_round_to(gdnn_dtype type, double value);

/* Rounds `n` values to `type` and stores them in memory as a GPU holds them. `out` needs no
 * alignment and must not overlap `in`. */
void gdnn_encode(gdnn_dtype type, const double *in, void *out, size_t n);

/* The values of `n` elements of `type`; exact. `in` needs no alignment and must not overlap `out`.
 */
void gdnn_decode(gdnn_dtype type, const void *in, double *out, size_t n);

#endif
