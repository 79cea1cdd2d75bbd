/* The terms in which kernels.def and wins.def speak of a problem `p`, and of the `variant` in the
 * column of grids. p passed gdnn_check and decide's limits. */
#ifndef GDNN_KERNEL_TERMS_H
#define GDNN_KERNEL_TERMS_H

#include "kernel.h"
#include "problem.h"

#define ALWAYS         true
#define CEIL_DIV(n, d) (((n) + (d)-1) / (d))

/* A grid without a cut, shared memory or workspace. */
#define GRID(threads_, blocks_) ((gdnn_grid){.threads = (threads_), .blocks = (blocks_)})

#define X_ELEMENTS(p) gdnn_elements(p, GDNN_ROLE_X)
#define W_ELEMENTS(p) gdnn_elements(p, GDNN_ROLE_W)
#define Y_ELEMENTS(p) gdnn_elements(p, GDNN_ROLE_Y)
#define TAPS(p)       gdnn_taps(p)

/* A block computes one tap of 1 (nchw) or 32 (nhwc) pairs of channels. */
#define DIRECT_BWD_FILTER_BLOCKS(p)                                                                \
    (TAPS(p) * CEIL_DIV(W_ELEMENTS(p) / TAPS(p), variant == GDNN_NHWC ? 32 : 1))

#endif
