/* How exact results in floating point can be: what bounds on errors are made of. Needs no libm. */
#ifndef GDNN_TOLERANCE_H
#define GDNN_TOLERANCE_H

#include "groupdnn.h"

/* Largest relative error of rounding to the type: 2^-11 for f16, 2^-8, 2^-24, 2^-53. */
double gdnn_unit(gdnn_dtype type);

/* The smallest positive number of the type, the smallest normal one, and the largest. */
double gdnn_smallest(gdnn_dtype type);
double gdnn_smallest_normal(gdnn_dtype type);
double gdnn_largest(gdnn_dtype type);

/* Half the distance between |value| and its neighbour in the type: the most that rounding costs
 * there. `value` is finite. */
double gdnn_half_ulp(gdnn_dtype type, double value);

/* Products per output, K: cpg * taps forward, kpg * taps backward-data, N * output pixels
 * backward-filter. */
double gdnn_products(const gdnn_conv *conv);

/* Relative L2 error that sums of random terms may have before they are rounded to the type: 2e-6
 * forward and backward-data (4e-6 for K > 4096), 5e-6 backward-filter: chains of float32 FMAs
 * measure 5.7e-8 for K = 9, 1.1e-6 for K = 4096, and 9.5e-7 for K = 2^20 in two levels. 5e-4 where
 * f32 products may be rounded to TF32 (2.9e-4 for any K). For f64 data 2^-29 of it, times 4, since
 * what they are compared with is float64 too. */
double gdnn_accumulation(const gdnn_conv *conv);

/* True where f32 products may be rounded to TF32. */
int gdnn_may_use_tf32(const gdnn_conv *conv);

#endif
