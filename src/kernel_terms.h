/* The terms in which kernels.def and wins.def speak of a problem `p`, and of the `variant` and the
 * `workspace` on offer in the column of grids. p passed gdnn_check and decide's limits. */
#ifndef GDNN_KERNEL_TERMS_H
#define GDNN_KERNEL_TERMS_H

#include "filter_grid.h"
#include "general.h"
#include "gfilter_grid.h"
#include "gplane.h"
#include "kernel.h"
#include "plane.h"
#include "plane_filter.h"
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

/* Two spatial axes, one channel of x a group, and images that 31 bits can address. */
#define MULTIPLIED_2D(p)                                                                           \
    ((p)->spatial == 2 && gdnn_cpg(p) == 1 && X_ELEMENTS(p) / (p)->n < INT32_MAX / 8 &&            \
     Y_ELEMENTS(p) / (p)->n < INT32_MAX / 8 && PADS_BELOW(p, INT32_MAX / 8))
/* And one of y. */
#define DEPTHWISE_2D(p)     (MULTIPLIED_2D(p) && gdnn_kpg(p) == 1)
#define PADS_BELOW(p, most) ((p)->pad[0] < (most) && (p)->pad[1] < (most))
/* Filters, dilations and all padding far from the limits of 31 bits. */
#define GENERAL_2D(p)                                                                              \
    ((p)->filter[0] < INT32_MAX / 8 && (p)->filter[1] < INT32_MAX / 8 &&                           \
     (p)->dilation[0] < INT32_MAX / 8 && (p)->dilation[1] < INT32_MAX / 8 &&                       \
     (p)->pad_after[0] < INT32_MAX / 8 && (p)->pad_after[1] < INT32_MAX / 8)
/* Offsets in a plane, its padding included, are far from the limits of 31 bits. */
#define GPLANE_2D(p)                                                                               \
    (MULTIPLIED_2D(p) && GENERAL_2D(p) &&                                                          \
     ((p)->in[0] + (p)->pad[0] + (p)->pad_after[0]) *                                              \
             ((p)->in[1] + (p)->pad[1] + (p)->pad_after[1]) <                                      \
         INT32_MAX / 16)
/* Neighbouring outputs of a row share all but one of their elements of x; a row of taps is not too long to be one chunk. */
#define GENERAL_S1_2D(p)                                                                           \
    ((p)->stride[1] == 1 && (p)->dilation[1] == 1 && (p)->filter[1] > 1 && (p)->filter[1] <= 128)
#define FILTER_2D(p, h, w) ((p)->filter[0] == (h) && (p)->filter[1] == (w))
/* Both strides, and no dilation beside a stride. */
#define STRIDE_2D(p, s)                                                                            \
    ((p)->stride[0] == (s) && (p)->stride[1] == (s) &&                                             \
     ((s) == 1 ? (p)->dilation[0] < INT32_MAX / 8 && (p)->dilation[1] < INT32_MAX / 8              \
               : (p)->dilation[0] == 1 && (p)->dilation[1] == 1))

/* What wins.def speaks of. BYTES: that must move at least. */
#define BYTES(p)        gdnn_bytes(p)
#define SIXTEEN_BIT(p)  ((p)->dtype == GDNN_F16 || (p)->dtype == GDNN_BF16)
#define PLAIN_ONLY(p)   gdnn_is_plain(p)
#define UNDILATED_2D(p) ((p)->dilation[0] == 1 && (p)->dilation[1] == 1)
#define IN_2D(p, least) ((p)->in[0] >= (least) && (p)->in[1] >= (least))

/* No more sub-grids of a dilated problem than a block may do one after the other. */
#define FEW_GRIDS(p) ((p)->dilation[0] <= 64 && (p)->dilation[1] <= 64)

/* filter_h, filter_w, stride, channels, columns, ring, threads: as in the kernel's file. */
#define RING_GRID(...) gdnn_ring_grid(p, (gdnn_ring_shape){__VA_ARGS__})
/* filter, channels, columns, ring, threads, likewise */
#define UP_GRID(...) gdnn_up_grid(p, __VA_ARGS__)

/* filter_h, filter_w, stride, channels, columns, threads, blocks: as in the kernel's file. */
#define FILTER_GRID(...) gdnn_filter_grid(p, workspace, (gdnn_filter_shape){__VA_ARGS__})

/* filter_h, filter_w, stride, columns: as in the kernel's file. */
#define PLANE(p, h, w, s, columns)                                                                 \
    (DEPTHWISE_2D(p) && FILTER_2D(p, h, w) && STRIDE_2D(p, s) &&                                   \
     gdnn_plane_fits(p, (gdnn_plane_shape){h, w, s, columns}))
#define PLANE_GRID(...) gdnn_plane_grid(p, (gdnn_plane_shape){__VA_ARGS__})
/* filter, columns, likewise */
#define PLANE_UP(p, filter, columns)                                                               \
    (DEPTHWISE_2D(p) && FILTER_2D(p, filter, filter) && STRIDE_2D(p, 2) &&                         \
     gdnn_plane_up_fits(p, filter, columns))
#define PLANE_UP_GRID(...) gdnn_plane_up_grid(p, __VA_ARGS__)
/* filter_h, filter_w, stride, columns: likewise, of backward-filter */
#define PLANE_FILTER_GRID(...) gdnn_plane_filter_grid(p, workspace, (gdnn_plane_shape){__VA_ARGS__})

/* A block computes one tap of 1 (nchw) or 32 (nhwc) pairs of channels. */
#define DIRECT_BWD_FILTER_BLOCKS(p)                                                                \
    (TAPS(p) * CEIL_DIV(W_ELEMENTS(p) / TAPS(p), variant == GDNN_NHWC ? 32 : 1))

#endif
