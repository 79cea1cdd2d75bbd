/* How far a result is from the float64 reference, and how far it may be.
 *
 * Two bounds must hold. Let u be the unit roundoff of the sums (2^-24; 2^-53 for f64 data), p the
 * bits of the element type's significand, K the products per output (cpg * taps forward, kpg * taps
 * backward-data, N * output pixels backward-filter), and `magnitude` the sum of the absolute values
 * of all terms of an output (reference.h).
 *
 * 1. Relative L2 error, ||y - ref|| / ||ref||, at most  rounding + accumulation * cancellation
 *
 *    rounding      of the result to its type: 4e-4 for f16, 3e-3 for bf16 (twice the error of
 *                  random data, 2.1e-4 and 1.7e-3), but the worst case 2^-p for fewer than 64
 *                  outputs; and never less than what rounding the reference itself costs, which is
 *                  more where many results are subnormal or lie between two numbers of the type.
 *                  0 for f32 and f64, where the next term covers it. In every type 8 sqrt(K) e for
 *                  each output, e the smallest number of the sums' type, as in the second bound:
 *                  nothing beside results that are not subnormal themselves.
 *    accumulation  gdnn_accumulation (tolerance.h): 2e-6 forward and backward-data in float32.
 *    cancellation  max(1, ||magnitude|| / (sqrt(K) ||ref||)): rounding errors go with the terms,
 *                  not with what is left of them. It is 1 for random data. Where the reference is
 *                  all zero, errors are relative to ||magnitude|| / sqrt(K) instead of ||ref||.
 *
 * 2. For every element |y - ref| at most  8 sqrt(K) (u * magnitude + e) + half an ulp of the result,
 *    e the smallest number of the sums' type. A random walk of K roundings stays within sqrt(K) u
 *    times the magnitude; 8 deviations do not happen. With TF32, 2^-10 * magnitude more.
 *
 * A reference beyond the range of the type is compared with what it rounds to, infinity. A result
 * that is not finite must be of the same kind and sign as the reference: one NaN too many makes both
 * errors infinite, and no maximum or sum can hide it. */
#ifndef MEASURE_H
#define MEASURE_H

#include "groupdnn.h"
#include <stdbool.h>

typedef struct measure {
    double err_l2;    /* relative L2 error; infinite where a non-finite value disagrees */
    double tol;       /* its bound */
    double worst;     /* largest |y - ref| / bound of an element; at most 1 to pass */
    int64_t worst_at; /* logical index of that element */
    bool pass;        /* both bounds hold */
} measure;

/* Compares `got`, the values of what `conv` writes in logical order, with `ref` and `magnitude` of
 * the reference. */
measure measure_result(const gdnn_conv *conv, const double *got, const double *ref,
                       const double *magnitude);

#endif
