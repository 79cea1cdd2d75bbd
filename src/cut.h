/* What the cuts of the fast kernels into blocks have in common. */
#ifndef GDNN_CUT_H
#define GDNN_CUT_H

#include "kernel.h"

static inline int64_t gdnn_divide_up(int64_t n, int64_t d)
{
    return (n + d - 1) / d;
}

static inline int64_t gdnn_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t gdnn_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A block of a kernel with a ring of rows (dw_ring.h, dw_filter.h), and what there is for all blocks to cover. */
typedef struct gdnn_cut {
    int channels;                        /* of a thread */
    int width;                           /* columns of a row of x in the ring */
    int64_t lanes, strips, images, rows; /* of a block, as in gdnn_tiling */
    int64_t all_lanes, all_strips, all_rows;
} gdnn_cut;

/* What both families are told of their block: everything but the ring's slots and the images one after another. */
gdnn_tiling gdnn_cut_tiling(const gdnn_conv *p, const gdnn_cut *c);

/* `lanes` of `lane_bytes`, or more, so that they are a whole number of `grain` bytes, if a pixel of `pixel_bytes` is. */
int64_t gdnn_whole_lanes(int64_t lanes, int64_t lane_bytes, int64_t pixel_bytes, int64_t grain);

/* Bytes of the 32-byte sectors that hold `bytes` neighbouring ones, on average, over `bytes`. */
double gdnn_sector_bytes(int64_t bytes);

/* Says in `grid`, of a backward-filter problem, that `split` blocks share a sum: its workspace and the second launch
 * (kernels/filter_finish.h); neither, if it is 1. */
void gdnn_cut_split(gdnn_grid *grid, const gdnn_conv *p, int64_t split);

#endif
