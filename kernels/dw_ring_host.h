/* What the ring kernels and their host agree on, plain C and CUDA C. */
#ifndef GDNN_DW_RING_HOST_H
#define GDNN_DW_RING_HOST_H

/* Rows of x and of dy that the ring of a backward-filter kernel holds. */
#define GDNN_FILTER_RING 4

/* Elements of shared memory before the ring, for `count` elements of filters of `size` bytes: a multiple of 16 bytes. */
#define gdnn_ring_filters(count, size) (((count) * (int)(size) + 15) / 16 * 16 / (int)(size))

/* Backward-data of stride 2 (dw_up.h). With j = i + pad, the elements i of dx that have j = 2 m + shift and the one after
 * it are pair m; the first pair of an axis, and their number, for dx of `in` elements. */
#define gdnn_first_pair(pad, shift) (((pad) - (shift) + 2) / 2 - 1)
#define gdnn_pairs(in, pad, shift)                                                                 \
    (gdnn_first_pair((pad) + (in)-1, shift) - gdnn_first_pair(pad, shift) + 1)

/* Elements of dy that meet a pair. */
#define gdnn_pair_reach(filter) (((filter) + 1) / 2)

/* The padding of dy before the pairs, or less than none. */
#define gdnn_pair_pad(filter, pad, shift)                                                          \
    (gdnn_pair_reach(filter) - 1 - (shift)-gdnn_first_pair(pad, shift))

/* The shift with which pairs fill dx where the padding is half of the filter. */
#define gdnn_pair_shift(filter) (((filter)-1) / 2 % 2)

#endif
