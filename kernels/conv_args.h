/* What a kernel is told about its problem: one struct for all kernels, filled by src/args.c, plain
 * C and CUDA C. Every kernel has the parameters (x, w, y, z, bias, workspace, gdnn_args), pointers
 * first, by role: in backward-data x is written, in backward-filter w. All strides count elements. */
#ifndef GDNN_CONV_ARGS_H
#define GDNN_CONV_ARGS_H

#include <stdint.h>

/* Division by a number known at launch, for numerators below 2^63: q = (mulhi(n, magic) + n) >>
 * shift. Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994,
 * figure 4.1. */
typedef struct gdnn_divisor {
    uint64_t magic;
    uint32_t shift;
    uint32_t unused;
    int64_t value;
} gdnn_divisor;

/* n / d = n * gdnn_small_inverse(d) >> 20 for 0 <= n and 1 <= d with n * d < 2^20. */
#define gdnn_small_inverse(d) ((1 << 20) / (d) + 1)

/* A factor in both precisions: a kernel reads the one that its sums have. */
typedef struct gdnn_scale {
    double f64;
    float f32;
    uint32_t nonzero; /* 0: what it scales is not read */
} gdnn_scale;

/* One spatial axis; missing leading axes have size 1, filter 1, stride 1. Axis 2 is the fastest. */
typedef struct gdnn_axis {
    int64_t in, out;
    int64_t pad; /* before the first element */
    int64_t x_stride, y_stride, z_stride;
    int64_t w_stride; /* negative in mode conv: w_offset then points at the last tap */
    gdnn_divisor in_div, out_div, filter_div;
    gdnn_divisor stride, dilation; /* .value is the stride, the dilation */
    /* Backward-data: which taps t reach input i. i + pad - t * dilation = p * stride has solutions
     * iff i + pad is a multiple of gcd = gcd(stride, dilation), and then t = ((i + pad) / gcd *
     * inverse) mod tap_step. */
    gdnn_divisor gcd;
    gdnn_divisor tap_step; /* stride / gcd */
    int64_t inverse;       /* of dilation / gcd, mod tap_step */
    int64_t out_step;      /* dilation / gcd: p falls by it from one such tap to the next */
} gdnn_axis;

/* One axis as dw_gfilter.h sees it. Where there is one output, the stride is 1; with one tap, the dilation. */
typedef struct gdnn_gfilter_axis {
    int32_t in, out, pad, filter;
    int64_t dilation;
    gdnn_divisor stride;
    int64_t x_unit, y_unit; /* elements from one coordinate to the next */
} gdnn_gfilter_axis;

/* How a kernel cuts its problem into blocks; kernels without such a cut have zeros. What a kernel would have to compute
 * from these numbers and keep is here too: the launch's constants cost no registers. */
typedef struct gdnn_tiling {
    int32_t lanes;  /* of a block, threads along the channels */
    int32_t strips; /* threads along the columns, each of which has a strip of them */
    int32_t images; /* images; all of this again for `turns` sets of images, one after another */
    int32_t turns;
    int32_t rows; /* rows of the output in a slab, which is what a thread marches through */
    int32_t lanes_inverse, group_inverse; /* gdnn_small_inverse of lanes, and of lanes * strips */
    gdnn_divisor channel_tiles, strip_tiles, slabs; /* blocks along these axes */

    /* Of kernels with a ring of rows in shared memory (dw_ring.h); in elements, or bytes where the name says so. */
    int32_t tile;  /* channels of a block; in the ring, from one column to the next */
    int32_t width; /* columns of a row in the ring, the padding among them */
    int32_t slot;  /* from one row of the ring to the next */
    int32_t tile_bytes, slot_bytes, last_slot; /* the offset of the last slot, in bytes */
    int32_t
        chunk; /* bytes of a copy, 16, 8 or 4, where x is aligned to it; else element by element */
    int32_t parts,
        parts_inverse; /* copies for a column, which as many threads make; gdnn_small_inverse */
    int32_t copies;    /* columns that the threads of an image copy at a time */
    int32_t copies_from,
        copies_to; /* bytes from one of a thread's columns to its next, in x and in the ring */
    int32_t x_column, y_column; /* from one column of a sub-grid to the next */
    int64_t x_row, y_row;
    int32_t y_column_bytes;
    int64_t x_row_bytes, y_row_bytes;
    int64_t x_turn_bytes, y_turn_bytes; /* from the images of one turn to those of the next */

    /* Of backward-filter (dw_filter.h). */
    int32_t split;                        /* blocks that share a sum; 1: none do */
    int64_t places, all_places;           /* of a block, of all */
    int32_t depth;                        /* images that a thread takes one after the other */
    int32_t chain;                        /* of them, those of one chain of additions */
    int32_t image_bytes;                  /* from one image of a slot to the next */
    int32_t row_bytes;                    /* from one row of x to the next */
    int32_t dy_offset, dy_bytes;          /* the image's row of dy */
    int64_t x_round_bytes, y_round_bytes; /* from one of a thread's images to the next */
    int32_t
        sums; /* bytes to the sums of chains; 0: there is but one chain, and the ring's memory is theirs */

    /* Of dw_general.h, where `rows` counts the steps of a thread: taps that are in shared memory at a time, and the
     * outputs or pairs of outputs in a row. */
    int32_t chunk_rows, chunk_columns;
    gdnn_divisor columns;

    /* Of kernels with planes in shared memory (dw_plane.h). */
    int32_t strips_inverse;     /* gdnn_small_inverse of strips */
    int32_t half;               /* 0; or threads after which odd planes follow the even ones */
    int32_t edges;              /* how columns outside the plane are left out: a gdnn_plane_edges */
    int32_t stage_rows;         /* rows of x that are brought at a time */
    int32_t run_planes;         /* planes of a contiguous run of x: all of a block, or 1 */
    int32_t x_run, y_run;       /* bytes from one run to the next in shared memory */
    int32_t x_buffer, y_buffer; /* bytes between the buffers of x; offset of y's, from the first */
    int32_t x_pitch, y_pitch;   /* bytes of a row */
    int32_t x_plane, y_plane;   /* bytes of a plane in a run */
    int32_t whole_sectors;      /* x is a multiple of 16 bytes long */
    /* And of backward-data of stride 2 (dw_plane_up.h): pairs of dx, and padding of dy before them, in these terms. */
    int32_t pairs_h, pairs_w, pair_pad_h, pair_pad_w;

    /* Of dw_gfilter.h, where `rows` counts steps of a march. */
    gdnn_gfilter_axis march, cross; /* the axis along which threads march, and the other one */
    int64_t cross_x;                /* elements of x from one item to the next coordinate */
    int32_t march_columns;          /* the march is along the columns */
    int32_t taps;                   /* of a tile of taps; in dw_gplane.h most of a phase */
    int32_t tap_step;               /* from one of them to the next */
    int32_t tap_tiles;              /* of a block */
    int32_t tap_tiles_inverse;      /* gdnn_small_inverse */
    int32_t tile_threads;           /* of a block, for each of them */
    int64_t all_tap_tiles;
    gdnn_divisor tap_groups;  /* blocks along the taps */
    gdnn_divisor march_tiles; /* tiles of taps for each tap of the other axis */
    gdnn_divisor class_tiles; /* those of one class of taps */
    gdnn_divisor out_step;    /* outputs from one step of a march to the next */
    gdnn_divisor x_step;      /* elements of the axis likewise, in x */
    gdnn_divisor slots;       /* items that the threads of a tile have at a time */
    gdnn_divisor sharers;     /* split, as a divisor */

    /* Of dw_gplane.h, where the source is what is read, x or dy, and the result what is written; `rows` counts the groups
     * of rows that a thread computes one after the other, `lanes` the threads of a channel, and x_column is the step of
     * the source from one tap of a row to the next. */
    gdnn_divisor
        row_phases; /* rows of the result with taps of their own, row_step apart: a group is of one phase */
    gdnn_divisor
        source_step; /* rows of the source from one row of a group, or tap of a phase, to the next */
    int32_t row_step;
    int64_t source_row_bytes;          /* of a source_step */
    int32_t source_whole, source_rest; /* rows of the source over source_step, and what remains */
    int32_t tap_phases, chunk_phases;  /* phases of the filter's rows, tap_step apart; in a chunk */
    int32_t one_chunk;                 /* the filter is one chunk, and there is one filter */
    gdnn_divisor run, run_columns;     /* chunk_rows, chunk_columns */
    int32_t filter_floats;             /* of a channel, in a chunk */
    int32_t phase_bytes, run_bytes;    /* of a phase, of a tap of a row */
    int32_t column_bytes;              /* from one tap of a row to a thread's next */

    /* Of backward-filter with planes in shared memory (dw_plane_filter.h), where stage_rows counts rows of dy, and y_buffer
     * is from x to dy in a buffer. */
    int32_t y_whole_sectors; /* dy is a multiple of 16 bytes long */
} gdnn_tiling;

typedef struct gdnn_args {
    int64_t n, c, k;
    gdnn_divisor c_div, k_div; /* C, K */
    gdnn_divisor cpg, kpg;     /* channels of x and y in a group */
    int64_t x_stride_n, x_stride_c;
    int64_t w_stride_k, w_stride_c;
    int64_t w_offset; /* of the tap that has index 0 in this struct's terms */
    int64_t y_stride_n, y_stride_k;
    int64_t z_stride_n, z_stride_k;
    gdnn_axis axis[3];
    gdnn_scale alpha, beta, alpha2;
    uint32_t has_bias, has_z, relu;
    /* Channels whose products make one chain of additions: long sums are sums of chains, so that rounding errors do not
     * grow with their length. */
    int32_t chain;
    gdnn_tiling tiling;
} gdnn_args;

#endif
