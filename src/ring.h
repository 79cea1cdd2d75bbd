/* How the ring kernels (kernels/dw_ring.h) cut a problem into blocks. */
#ifndef GDNN_RING_H
#define GDNN_RING_H

#include "kernel.h"

/* What a ring kernel is made for: RingShape's numbers. */
typedef struct gdnn_ring_shape {
    int filter_h, filter_w, stride;
    int channels, columns; /* of a thread */
    int ring;              /* rows in shared memory */
    int threads;           /* most of a block */
} gdnn_ring_shape;

/* The grid for `p`, a depthwise problem with this filter and stride: the cheapest by a count of the steps that all
 * threads, idle ones included, take, of the bytes that are read twice, and of how evenly blocks fill 132 multiprocessors.
 * It depends on the problem alone. */
gdnn_grid gdnn_ring_grid(const gdnn_conv *p, gdnn_ring_shape shape);

/* The same for `p`, backward-data of stride 2 with a filter of `filter` x `filter`, as kernels/dw_up.h runs it: by pairs, of
 * which a thread has `columns`. */
gdnn_grid gdnn_up_grid(const gdnn_conv *p, int filter, int channels, int columns, int ring,
                       int threads);

#endif
