/* What the ring kernels and their host agree on, plain C and CUDA C. */
#ifndef GDNN_DW_RING_HOST_H
#define GDNN_DW_RING_HOST_H

/* Rows of x and of dy that the ring of a backward-filter kernel holds. */
#define GDNN_FILTER_RING 4

/* Elements of shared memory before the ring, for `count` elements of filters of `size` bytes: a multiple of 16 bytes. */
#define gdnn_ring_filters(count, size) (((count) * (int)(size) + 15) / 16 * 16 / (int)(size))

#endif
