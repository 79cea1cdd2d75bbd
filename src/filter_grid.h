/* How the backward-filter kernels (kernels/dw_filter.h) cut a problem into blocks. */
#ifndef GDNN_FILTER_GRID_H
#define GDNN_FILTER_GRID_H

#include "kernel.h"

/* What a kernel is made for: FilterShape's numbers. */
typedef struct gdnn_filter_shape {
    int filter_h, filter_w, stride;
    int channels, columns; /* of a thread */
    int threads;           /* most of a block */
    int blocks;            /* of an SM, as far as registers go */
} gdnn_filter_shape;

/* The grid for `p`, a depthwise problem with this filter and stride, if `workspace` bytes are on offer: the cheapest by
 * an estimate of its time on an H200. Sums are split among blocks as far as the workspace holds the parts, or not at all.
 * It depends on the problem and the workspace alone; more than the returned workspace changes nothing. */
gdnn_grid gdnn_filter_grid(const gdnn_conv *p, int64_t workspace, gdnn_filter_shape shape);

#endif
