/* The parts of the general backward-filter (dw_gfilter.h): which taps and items a thread has, and where they are. */
#ifndef GDNN_DW_GFILTER_WORK_H
#define GDNN_DW_GFILTER_WORK_H

#include "dw_gfilter_host.h"
#include "values.h"

/* Channels of a thread. */
template <bool LAST>
static __device__ __forceinline__ int gfilter_channels()
{
    return LAST ? GDNN_GFILTER_CHANNELS : 1;
}

/* Taps of a tile along the other axis. */
template <bool LAST>
static __device__ __forceinline__ int gfilter_cross(const gdnn_tiling &t)
{
    return LAST ? 1 : GDNN_GFILTER_CROSS(t.taps);
}

/* A tile of taps: taps cross, cross + 1, ... of one axis with taps first, first + tap_step, ... of the other. */
struct GfilterTile {
    int64_t cross, first;
    bool there;
};

template <bool LAST>
static __device__ __forceinline__ GfilterTile gfilter_tile(int64_t at, const gdnn_tiling &t)
{
    GfilterTile tile;
    tile.there = at < t.all_tap_tiles;
    int64_t of_class = peel(at, t.march_tiles);
    tile.cross = at * gfilter_cross<LAST>(t);
    int64_t in_class = peel(of_class, t.class_tiles);
    tile.first = of_class + in_class * t.taps * t.tap_step;
    tile.there = tile.there && tile.first < t.march.filter; /* classes may differ by a tap */
    return tile;
}

/* Which thread of its block this is. */
struct GfilterThread {
    int64_t part, first_tile; /* of the block */
    int first_channel;
    int in_block, slot, lane; /* number of its tile; place among the tile's threads */
};

static __device__ __forceinline__ GfilterThread gfilter_thread(int self, const gdnn_tiling &t)
{
    GfilterThread me;
    me.part = blockIdx.x;
    me.first_channel = (int)peel(me.part, t.channel_tiles) * t.tile;
    me.first_tile = peel(me.part, t.tap_groups) * t.tap_tiles;
    me.in_block = small_divide(self, t.group_inverse);
    int in_tile = self - me.in_block * t.tile_threads;
    me.slot = small_divide(in_tile, t.lanes_inverse);
    me.lane = in_tile - me.slot * t.lanes;
    return me;
}

/* Outputs of the other axis that meet x in any of `taps` taps: `count` from the first on, which meets x at `in` with the
 * first tap. */
struct GfilterSpan {
    int64_t first, in;
    int count;
};

static __device__ __forceinline__ GfilterSpan gfilter_span(const gdnn_gfilter_axis &axis,
                                                           int64_t tap, int taps)
{
    int64_t start = tap * axis.dilation - axis.pad; /* where output 0 reads, with either tap */
    int64_t last = start + (taps - 1) * axis.dilation;
    int64_t first = last < 0 ? divide_ceil(-last, axis.stride) : 0;
    int64_t end = start < axis.in ? divide_ceil(axis.in - start, axis.stride) : 0;
    end = end < axis.out ? end : axis.out;
    return {first, first * axis.stride.value + start, end > first ? (int)(end - first) : 0};
}

/* Items of one place, a slab of a march that begins at one of the first out_step outputs. A march has `steps` steps, of
 * which number j meets elements j to j + TAPS - 1 of x, as far as these are x_first to x_end - 1. */
template <class T>
struct GfilterItems {
    int count; /* of the thread */
    int at;    /* coordinate of the next item, from the first one of the span */
    int span;  /* coordinates of an image */
    int steps, x_first, x_end;
    int64_t in;          /* where coordinate 0 meets x with the tile's first tap */
    int step_n, step_at; /* from one of the thread's items to its next */
    const T *x, *dy;     /* element and output 0 of the next item */
};

/* A thread's part are rounds of items, as many items at a time as there are slots, place after place. Of these, `done` have
 * been taken; takes those of the next place, for `taps` taps of which the first is tap `skip` of the tile. False if there are
 * no more. */
template <bool LAST, class T>
static __device__ __forceinline__ bool gfilter_take(GfilterItems<T> &r, int64_t &done, int taps,
                                                    int skip, const T *x, const T *dy,
                                                    const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    const gdnn_gfilter_axis &m = t.march;
    /* What follows from it is computed again, rather than kept in registers during the marches. */
    int self = threadIdx.x;
    gpu_keep(self);
    GfilterThread me = gfilter_thread(self, t);
    GfilterTile tile = gfilter_tile<LAST>(me.first_tile + me.in_block, t);
    GfilterSpan span = gfilter_span(t.cross, tile.cross, gfilter_cross<LAST>(t));
    int channel = me.first_channel + me.lane * gfilter_channels<LAST>();
    if (!tile.there || channel >= a.k || span.count == 0)
        return false;

    int slots = (int)t.slots.value;
    int64_t rounds = divide_ceil(a.n * span.count, t.slots); /* of a place */
    int64_t all = rounds * t.out_step.value * t.slabs.value, each = divide_ceil(all, t.sharers);
    int64_t from = me.part * each + done, end = (me.part + 1) * each;
    end = end < all ? end : all;
    if (from >= end)
        return false;
    int64_t place = from / rounds, round = from - place * rounds;
    int64_t left = end - from < rounds - round ? end - from : rounds - round;
    r.count = left < 1 << 30 ? (int)left : 1 << 30;
    done += r.count;
    int64_t item = round * slots + me.slot;
    if (item + (int64_t)(r.count - 1) * slots >= a.n * span.count)
        r.count--; /* the last round may have less items than slots */

    int64_t n = item / span.count;
    r.at = (int)(item - n * span.count);
    r.span = span.count;
    r.in = span.in;
    r.step_n = slots / span.count;
    r.step_at = slots - r.step_n * span.count;

    int64_t phase = place;
    int slab = (int)peel(phase, t.slabs) * t.rows;
    int64_t base = phase * m.stride.value + (tile.first + skip * t.tap_step) * m.dilation - m.pad;
    int x_first = base < 0 ? (int)divide_ceil(-base, t.x_step) : 0;
    int x_end = base < m.in ? (int)divide_ceil(m.in - base, t.x_step) : 0;
    int first = max(slab, x_first - (taps - 1));
    int out = min(slab + t.rows, (int)divide_ceil(m.out - phase, t.out_step));
    r.steps = min(out, x_end) - first;
    r.x_first = x_first - first;
    r.x_end = x_end - first;
    r.x = x + divide(channel, a.kpg) * (LAST ? 1 : a.x_stride_c) + n * a.x_stride_n +
          (span.in + r.at * t.cross.stride.value) * t.cross.x_unit +
          (base + first * t.x_step.value) * m.x_unit;
    r.dy = dy + channel * (LAST ? 1 : a.y_stride_k) + n * a.y_stride_n +
           (span.first + r.at) * t.cross.y_unit + (phase + first * t.out_step.value) * m.y_unit;
    return true;
}

template <class T>
static __device__ __forceinline__ void gfilter_next(GfilterItems<T> &r, const gdnn_args &a)
{
    int n = r.step_n, at = r.step_at;
    if (r.at + at >= r.span) {
        at -= r.span;
        n++;
    }
    r.count--;
    r.at += at;
    r.x += n * a.x_stride_n + at * a.tiling.cross_x;
    r.dy += n * a.y_stride_n + at * a.tiling.cross.y_unit;
}

#endif
