/* Whether our result and cuDNN's can both be right, without knowing the right one.
 *
 * Each may be as far from it as tools/lib/measure.h says, which follows measured errors; so they
 * may be apart by the sum of two such bounds. Where a bound there goes with the terms of the result, a
 * bound on these terms, M, stands for them (magnitude.h): it is larger, so a right kernel stays
 * within, also where little is left of large terms. With K products per output, u the unit roundoff
 * of the sums (2^-24; 2^-53 for f64 data; cuDNN's 2^-11 where the program asked for sums in f16),
 * p the bits of the element type's significand, both of these must hold:
 *
 * 1. Every element:  |ours - cudnn| <= chains + products + 2 half ulps of the larger one + step
 *
 *    chains    8 sqrt(K) (u M + e) for each, e the smallest number of the sums' type; cuDNN may take
 *              subnormal products for 0: K times the smallest normal number more. Its tensor cores
 *              (16-bit and TF32) cut sums off instead of rounding them, always in one direction:
 *              K/8 u M more, one step of at most 2 u for 16 products.
 *    products  2^-10 M for each where the problem allows TF32.
 *    step      cuDNN may store the convolution before it scales it or adds bias, z and prior
 *              contents: 2^-p M, unless there is nothing of that kind.
 *
 * 2. All elements together, in the L2 norm:
 *
 *    ||ours - cudnn|| <= 2 ||half ulps|| + (a + a') max(||result||, ||T||) + ||step||
 *
 *    T is M with the sum of products divided by sqrt(K), since their errors are random; a is
 *    gdnn_accumulation, ours; a', cuDNN's, the same for its sums' type, but never below
 *    sqrt(K) u, one long chain, and K/16 u more on tensor cores.
 *
 * cuDNN's algorithms by FFT and Winograd, and those that add with atomics, are allowed 16 times the
 * chains' share, and 16 * 2^-p M more for 16-bit data, which they may store on the way: Winograd's
 * transforms amplify errors by about that (Lavin, Gray: "Fast algorithms for convolutional neural
 * networks", CVPR 2016, table 6).
 *
 * Values that are not finite must be of one kind and sign at the same places, except that
 * - cuDNN may have a NaN anywhere if what is multiplied is not all finite: some of its algorithms
 *   multiply padding, or mix neighbours;
 * - cuDNN may make 0 of a NaN that passes relu (CUDNN_NOT_PROPAGATE_NAN);
 * - either may be infinite or NaN where M exceeds the range of its sums: an order of additions can
 *   overflow where another does not;
 * - one may be infinite where the other's bound reaches beyond the type's range. */
#ifndef GDNN_DIFFERENCE_H
#define GDNN_DIFFERENCE_H

#include "magnitude.h"

typedef struct gdnn_difference {
    double l2,
        l2_bound;   /* relative to the larger of the two norms; infinite where one is not finite */
    double element; /* largest |ours - cudnn| of an element in units of its bound */
    double share;   /* the larger of l2 / l2_bound and `element`: above 1, one of them is wrong */
    int64_t at[GDNN_MAX_DIMS]; /* of `element` */
    double ours, cudnn;        /* there */
} gdnn_difference;

/* Compares `ours`, laid out as what `conv` writes, with `cudnn`, made by its algorithm `algo` (-1:
 * not known). `magnitude` was opened before either was written. False: no host memory, or they
 * could not be fetched. */
bool gdnn_difference_measure(gdnn_difference *difference, const gdnn_magnitude *magnitude, int algo,
                             const void *ours, const void *cudnn, const gdnn_fetch *fetch);

#endif
