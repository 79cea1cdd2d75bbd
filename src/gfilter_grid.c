#include "gfilter_grid.h"
#include "args.h"
#include "cut.h"
#include "dw_gfilter_host.h"
#include "problem.h"

/* Lanes share 64 or 128 bytes of a pixel. Tiles of taps of a block, which read the same tensors. */
enum { MOST_LANES = 16, MOST_TAP_TILES = 8 };

/* Products of one chain of additions in float32. */
enum { CHAIN = 1024 };

/* More blocks than these gain nothing, nor do blocks whose threads have fewer steps: what a thread does once is worth
 * some 30 of them. */
enum { ENOUGH_BLOCKS = 132 * 8, FEWEST_STEPS = 128, FEWEST_ROWS = 64 };

/* Sums that are shared by more blocks would take the second launch too long. */
enum { MOST_SPLIT = 4096 };

/* An axis for the march: its taps in classes, tap_step apart within one, and its outputs, out_step apart in one march. */
typedef struct way {
    int axis, taps, cross; /* the axis of the problem; taps of a tile along it, along the other */
    int64_t tap_step, out_step;
    int64_t class_tiles, tiles; /* tiles of taps: of a class, of the whole filter */
    int64_t steps;              /* outputs of the longest march */
} way;

/* Where there is one output, any stride is right, with one tap any dilation. */
static int64_t stride_of(const gdnn_conv *p, int axis)
{
    return gdnn_out_size(p, axis) > 1 ? p->stride[axis] : 1;
}

static int64_t dilation_of(const gdnn_conv *p, int axis)
{
    return p->filter[axis] > 1 ? p->dilation[axis] : 1;
}

static way way_of(const gdnn_conv *p, gdnn_layout variant, int axis, int taps)
{
    int64_t stride = stride_of(p, axis), dilation = dilation_of(p, axis);
    int64_t gcd = gdnn_gcd(stride, dilation), out = gdnn_out_size(p, axis);
    way w = {.axis = axis, .taps = taps};
    w.cross = variant == GDNN_NHWC ? 1 : GDNN_GFILTER_CROSS(taps);
    w.tap_step = gdnn_smaller(stride / gcd, p->filter[axis]);
    w.out_step = gdnn_smaller(dilation / gcd, out);
    w.class_tiles = gdnn_divide_up(gdnn_divide_up(p->filter[axis], w.tap_step), taps);
    w.tiles = w.tap_step * w.class_tiles * gdnn_divide_up(p->filter[1 - axis], w.cross);
    w.steps = gdnn_divide_up(out, w.out_step);
    return w;
}

/* Instructions for a thread's `channels` channels of an image. */
static double cost(const gdnn_conv *p, const way *w, int channels)
{
    double x = w->cross > 1 ? 4 * w->cross : 1 + channels;
    double step = w->taps * channels * w->cross + x + channels + 8;
    double item = 60 + (w->taps - 1) * (x + 4) + w->taps * 5 + (w->cross > 1 ? 50 : 0);
    double steps = (double)(gdnn_divide_up(w->steps, w->taps) * w->taps);
    return (double)w->tiles * (double)(gdnn_out_size(p, 1 - w->axis) * w->out_step) *
           (steps * step + item);
}

/* In channels first, neighbouring threads have neighbouring columns: their march is along the rows. */
static way best_way(const gdnn_conv *p, gdnn_layout variant, int channels)
{
    way best = way_of(p, variant, 0, 2);
    for (int axis = 0; axis < (variant == GDNN_NHWC ? 2 : 1); axis++)
        for (int taps = 2; taps <= 8; taps *= 2) {
            way w = way_of(p, variant, axis, taps);
            if (cost(p, &w, channels) < cost(p, &best, channels))
                best = w;
        }
    return best;
}

/* `x_pixel`, `y_pixel`: elements from one column to the next. */
static gdnn_gfilter_axis axis_of(const gdnn_conv *p, int axis, int64_t x_pixel, int64_t y_pixel)
{
    return (gdnn_gfilter_axis){.in = (int)p->in[axis],
                               .out = (int)gdnn_out_size(p, axis),
                               .pad = (int)p->pad[axis],
                               .filter = (int)p->filter[axis],
                               .dilation = dilation_of(p, axis),
                               .stride = gdnn_divide_by(stride_of(p, axis)),
                               .x_unit = axis ? x_pixel : p->in[1] * x_pixel,
                               .y_unit = axis ? y_pixel : gdnn_out_size(p, 1) * y_pixel};
}

/* Rows of a slab: all, unless that makes chains too long or leaves too few items for enough blocks. */
static int64_t slab_rows(const gdnn_conv *p, const way *w, int64_t slots, int64_t blocks)
{
    int64_t slabs = gdnn_divide_up(w->steps, CHAIN);
    int64_t marches = p->n * gdnn_out_size(p, 1 - w->axis) * w->out_step;
    while (gdnn_divide_up(w->steps, slabs * 2) >= FEWEST_ROWS &&
           marches * slabs / slots * blocks < ENOUGH_BLOCKS)
        slabs *= 2;
    return gdnn_divide_up(w->steps, slabs);
}

/* Parts of `rounds` rounds of items, of `rows` steps each; `blocks` have each part. */
static int64_t split_of(int64_t rounds, int64_t rows, int64_t blocks, int64_t most)
{
    int64_t split = gdnn_smaller(ENOUGH_BLOCKS / gdnn_smaller(blocks, ENOUGH_BLOCKS), MOST_SPLIT);
    split = gdnn_smaller(gdnn_smaller(split, most), rounds);
    split = gdnn_larger(gdnn_smaller(split, rounds * rows / FEWEST_STEPS), 1);
    return gdnn_divide_up(rounds, gdnn_divide_up(rounds, split));
}

gdnn_grid gdnn_gfilter_grid(const gdnn_conv *p, gdnn_layout variant, int64_t workspace)
{
    bool last = variant == GDNN_NHWC;
    int channels = last ? GDNN_GFILTER_CHANNELS : 1, lanes = 1;
    while (last && lanes < MOST_LANES && lanes * channels < p->k)
        lanes *= 2;
    int tile = lanes * channels;
    way w = best_way(p, variant, channels);
    int64_t groups = gdnn_divide_up(w.tiles, MOST_TAP_TILES);
    int tap_tiles = (int)gdnn_divide_up(w.tiles, groups);
    int tile_threads = tap_tiles > 3 ? 32 : tap_tiles > 1 ? 64 : 128;
    int threads = tap_tiles * tile_threads, slots = tile_threads / lanes;
    int64_t channel_tiles = gdnn_divide_up(p->k, tile), blocks = groups * channel_tiles;

    int64_t rows = slab_rows(p, &w, slots, blocks), slabs = gdnn_divide_up(w.steps, rows);
    int64_t rounds =
        gdnn_divide_up(p->n * gdnn_out_size(p, 1 - w.axis), slots) * w.out_step * slabs;
    int64_t weights = gdnn_elements(p, GDNN_ROLE_W), part = weights * (int64_t)sizeof(float);
    int64_t split = split_of(rounds, rows, blocks, workspace / part);

    int64_t sums = last ? gdnn_larger(w.taps, GDNN_GFILTER_TAPS) * channels : w.taps * w.cross;

    gdnn_tiling t = {.lanes = lanes, .tile = tile, .rows = (int)rows, .taps = w.taps};
    t.lanes_inverse = gdnn_small_inverse(lanes);
    t.group_inverse = gdnn_small_inverse(tile_threads);
    t.channel_tiles = gdnn_divide_by(channel_tiles);
    t.slabs = gdnn_divide_by(slabs);
    t.sharers = gdnn_divide_by(split);
    t.chain = (int)gdnn_larger(CHAIN / rows, 1);
    t.march = axis_of(p, w.axis, last ? p->c : 1, last ? p->k : 1);
    t.cross = axis_of(p, 1 - w.axis, last ? p->c : 1, last ? p->k : 1);
    t.march_columns = w.axis;
    t.tap_step = (int)w.tap_step;
    t.tap_tiles = tap_tiles;
    t.tap_tiles_inverse = gdnn_small_inverse(tap_tiles);
    t.tile_threads = tile_threads;
    t.all_tap_tiles = w.tiles;
    t.tap_groups = gdnn_divide_by(groups);
    t.march_tiles = gdnn_divide_by(w.tap_step * w.class_tiles);
    t.class_tiles = gdnn_divide_by(w.class_tiles);
    t.out_step = gdnn_divide_by(w.out_step);
    t.slots = gdnn_divide_by(slots);
    /* elements that are further apart than this are not both in x */
    int64_t far = (int64_t)t.march.in + t.march.pad;
    int64_t stride = stride_of(p, w.axis), dilation = dilation_of(p, w.axis);
    int64_t x_step = gdnn_smaller(dilation / gdnn_gcd(stride, dilation) * stride, far);
    t.x_step = gdnn_divide_by(x_step);
    t.x_row = x_step * t.march.x_unit;
    t.y_row = w.out_step * t.march.y_unit;
    t.cross_x = stride_of(p, 1 - w.axis) * t.cross.x_unit;
    gdnn_grid grid = {
        .threads = threads,
        .blocks = blocks * split,
        .shared = sums * (threads + 1) * (int64_t)sizeof(float),
        .tiling = t,
    };
    gdnn_cut_split(&grid, p, split);
    return grid;
}
