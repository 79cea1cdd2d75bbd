/* The terms in which kernels.def and wins.def speak of a problem `p`, and of the `variant` in the
 * column of grids. p passed gdnn_check and decide's limits. */
#ifndef GDNN_KERNEL_TERMS_H
#define GDNN_KERNEL_TERMS_H

#include "kernel.h"
#include "plane.h"
#include "problem.h"
#include "ring.h"

#define ALWAYS         true
#define CEIL_DIV(n, d) (((n) + (d)-1) / (d))

/* A grid without a cut, shared memory or workspace. */
#define GRID(threads_, blocks_) ((gdnn_grid){.threads = (threads_), .blocks = (blocks_)})

#define X_ELEMENTS(p) gdnn_elements(p, GDNN_ROLE_X)
#define W_ELEMENTS(p) gdnn_elements(p, GDNN_ROLE_W)
#define Y_ELEMENTS(p) gdnn_elements(p, GDNN_ROLE_Y)
#define TAPS(p)       gdnn_taps(p)

/* Two spatial axes, one channel of x and of y a group, and images that 31 bits can address. */
#define DEPTHWISE_2D(p)                                                                            \
    ((p)->spatial == 2 && gdnn_cpg(p) == 1 && gdnn_kpg(p) == 1 &&                                  \
     X_ELEMENTS(p) / (p)->n < INT32_MAX / 8 && Y_ELEMENTS(p) / (p)->n < INT32_MAX / 8 &&           \
     PADS_BELOW(p, INT32_MAX / 8))
#define PADS_BELOW(p, most) ((p)->pad[0] < (most) && (p)->pad[1] < (most))
#define FILTER_2D(p, h, w)  ((p)->filter[0] == (h) && (p)->filter[1] == (w))
/* Both strides, and no dilation beside a stride. */
#define STRIDE_2D(p, s)                                                                            \
    ((p)->stride[0] == (s) && (p)->stride[1] == (s) &&                                             \
     ((s) == 1 ? (p)->dilation[0] < INT32_MAX / 8 && (p)->dilation[1] < INT32_MAX / 8              \
               : (p)->dilation[0] == 1 && (p)->dilation[1] == 1))

/* filter_h, filter_w, stride, channels, columns, threads: as in the kernel's file. */
#define RING_GRID(...) gdnn_ring_grid(p, (gdnn_ring_shape){__VA_ARGS__})

/* filter_h, filter_w, stride, columns: as in the kernel's file. */
#define PLANE(p, h, w, s, columns)                                                                 \
    (DEPTHWISE_2D(p) && FILTER_2D(p, h, w) && STRIDE_2D(p, s) &&                                   \
     gdnn_plane_fits(p, (gdnn_plane_shape){h, w, s, columns}))
#define PLANE_GRID(...) gdnn_plane_grid(p, (gdnn_plane_shape){__VA_ARGS__})

/* A block computes one tap of 1 (nchw) or 32 (nhwc) pairs of channels. */
#define DIRECT_BWD_FILTER_BLOCKS(p)                                                                \
    (TAPS(p) * CEIL_DIV(W_ELEMENTS(p) / TAPS(p), variant == GDNN_NHWC ? 32 : 1))

#endif
