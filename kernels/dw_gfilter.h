/* Depthwise backward-filter of any filter, stride, dilation, padding and channel multiplier, in both layouts.
 *
 * A thread owns V neighbouring channels of a tile of TAPS taps, which lie along one axis, and keeps their sums in
 * registers while it marches along that axis, with one element of x and one of dy a step: the tile's taps are `tap_step`
 * apart and the steps `out_step` outputs, so that element j + u of x (counted in steps) meets output j in tap u, whatever
 * the stride and the dilation, and the last TAPS elements of x are all that a step needs. They stay in registers, in places
 * that rotate at no cost, since a whole turn is unrolled.
 *
 * An item is one march: an image and a coordinate of the other axis, of those that meet x in the tile's tap of that axis, so
 * that a march has no padding at its sides. In channels last neighbouring lanes have neighbouring channels, in channels first
 * neighbouring columns. A block has a few tiles of taps, which read the same tensors through the cache, and a part of the
 * items; where several blocks share a sum, each writes its part to the workspace, [split][K][taps], and a second launch
 * (filter_finish.h) adds the parts.
 *
 * Padding at the ends of a march is multiplied as zeros, and a thread whose sums are not finite computes them again from the
 * definition. Long sums are sums of chains of some 1024 products. How all this is cut: src/gfilter_grid.c. */
#ifndef GDNN_DW_GFILTER_H
#define GDNN_DW_GFILTER_H

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
    int self = threadIdx.x;
    gpu_keep(
        self); /* what follows from it is computed again, rather than kept in registers during the marches */
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

/* Where a thread's channels are: one access, or places of their own, 4 bits each. */
struct GfilterPlaces {
    uint32_t x, dy;
};

/* A march: x_left elements of x are left, `left` outputs. */
template <class T, int V>
struct GfilterMarch {
    const T *x, *dy;
    int x_left, left;
    GfilterPlaces places;
    /* Several taps of the other axis: where they meet x, or some other element, times 0 */
    int offset[V];
    float factor[V];
};

/* V values of x, zeros in the padding. */
template <bool LAST, bool WIDE, int V, class T>
static __device__ __forceinline__ void gfilter_x(bool there, const GfilterMarch<T, V> &m,
                                                 float (&values)[V])
{
    GPU_UNROLL
    for (int v = 0; v < V; v++)
        values[v] = 0;
    if (!there)
        return;
    if constexpr (LAST) {
        load_channels<T, WIDE>(m.x, m.places.x, values);
    } else if constexpr (V == 1) {
        values[0] = load(m.x);
    } else {
        GPU_UNROLL
        for (int v = 0; v < V; v++)
            values[v] = load(m.x + m.offset[v]) * m.factor[v];
    }
}

/* One of dy for each of the thread's channels. */
template <bool LAST, bool WIDE, int V, class T>
static __device__ __forceinline__ void gfilter_dy(bool there, const T *from, uint32_t places,
                                                  float (&values)[V])
{
    GPU_UNROLL
    for (int v = 0; v < V; v++)
        values[v] = 0;
    if (!there)
        return;
    if constexpr (LAST) {
        load_channels<T, WIDE>(from, places, values);
    } else {
        float value = load(from);
        GPU_UNROLL
        for (int v = 0; v < V; v++)
            values[v] = value;
    }
}

/* TAPS steps. CHECKED: the last of them may be none, or meet padding. */
template <bool CHECKED, bool LAST, bool WIDE, int TAPS, int V, class T>
static __device__ __forceinline__ void gfilter_turn(GfilterMarch<T, V> &m, float (&window)[TAPS][V],
                                                    float (&sum)[TAPS][V], const gdnn_tiling &t)
{
    GPU_UNROLL
    for (int q = 0; q < TAPS; q++) {
        float dy[V];
        gfilter_x<LAST, WIDE>(!CHECKED || q < m.x_left, m, window[(q + TAPS - 1) % TAPS]);
        gfilter_dy<LAST, WIDE>(!CHECKED || q < m.left, m.dy, m.places.dy, dy);
        m.x += t.x_row;
        m.dy += t.y_row;
        GPU_UNROLL
        for (int u = 0; u < TAPS; u++) {
            GPU_UNROLL
            for (int v = 0; v < V; v++)
                sum[u][v] = fmaf(dy[v], window[(q + u) % TAPS][v], sum[u][v]);
        }
    }
    m.x_left -= TAPS;
    m.left -= TAPS;
}

/* The coordinate where the next item meets x with tap `v` of the tile along the other axis. */
template <class T>
static __device__ __forceinline__ int64_t gfilter_meets(const GfilterItems<T> &r, int v,
                                                        const gdnn_tiling &t)
{
    return r.in + r.at * t.cross.stride.value + v * t.cross.dilation;
}

/* One item. */
template <bool LAST, bool WIDE, int TAPS, int V, class T>
static __device__ __forceinline__ void gfilter_march(const GfilterItems<T> &r, GfilterPlaces places,
                                                     float (&sum)[TAPS][V], const gdnn_tiling &t)
{
    GfilterMarch<T, V> m = {r.x, r.dy, r.x_end - (TAPS - 1), r.steps, places, {}, {}};
    if (!LAST && V > 1) {
        GPU_UNROLL
        for (int v = 0; v < V; v++) {
            int64_t in = gfilter_meets(r, v, t);
            bool inside = in >= 0 && in < t.cross.in;
            m.factor[v] = inside ? 1 : 0;
            m.offset[v] = (int)(inside ? v * t.cross.dilation : -gfilter_meets(r, 0, t));
        }
    }
    float window[TAPS][V];
    GPU_UNROLL
    for (int i = 0; i < TAPS - 1; i++, m.x += t.x_row)
        gfilter_x<LAST, WIDE>(i >= r.x_first && i < r.x_end, m, window[i]);
    GPU_NO_UNROLL
    while (min(m.left, m.x_left) >= TAPS)
        gfilter_turn<false, LAST, WIDE>(m, window, sum, t);
    GPU_NO_UNROLL
    while (m.left > 0)
        gfilter_turn<true, LAST, WIDE>(m, window, sum, t);
}

/* Ends a thread's chains. */
template <int TAPS, int V>
static __device__ __forceinline__ void gfilter_close(float (&sum)[TAPS][V], float *sums, int pitch)
{
    GPU_UNROLL
    for (int k = 0; k < TAPS * V; k++) {
        sums[k * pitch] += sum[k / V][k % V];
        sum[k / V][k % V] = 0;
    }
}

/* The thread's sums over its part, of TAPS taps from tap `skip` of the tile on, added to `sums`. */
template <bool LAST, bool WIDE, int TAPS, int V, class T>
static __device__ __forceinline__ void gfilter_sums(const T *x, const T *dy, int skip,
                                                    GfilterPlaces places, float *sums, int pitch,
                                                    const gdnn_args &a)
{
    float sum[TAPS][V];
    GPU_UNROLL
    for (int k = 0; k < TAPS * V; k++)
        sum[k / V][k % V] = 0;
    GfilterItems<T> r;
    int64_t done = 0;
    int items = 0;
    GPU_NO_UNROLL
    while (gfilter_take<LAST>(r, done, TAPS, skip, x, dy, a)) {
        GPU_NO_UNROLL
        for (; r.count > 0; gfilter_next(r, a)) {
            gfilter_march<LAST, WIDE>(r, places, sum, a.tiling);
            if (++items != a.tiling.chain)
                continue;
            items = 0;
            gfilter_close(sum, sums, pitch);
        }
    }
    gfilter_close(sum, sums, pitch);
}

/* The same from the definition, without the padding, for the whole tile of `values` values. */
template <bool LAST, class T>
static __device__ __forceinline__ void gfilter_exact(const T *x, const T *dy, GfilterPlaces places,
                                                     int values, float *sums, int pitch,
                                                     const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    GPU_NO_UNROLL
    for (int k = 0; k < t.taps * values; k++)
        sums[k * pitch] = 0;
    GfilterItems<T> r;
    int64_t done = 0;
    GPU_NO_UNROLL
    while (gfilter_take<LAST>(r, done, t.taps, 0, x, dy, a)) {
        GPU_NO_UNROLL
        for (; r.count > 0; gfilter_next(r, a)) {
            GPU_NO_UNROLL
            for (int k = 0; k < t.taps * values; k++) {
                int u = k / values, v = k - u * values;
                int first = max(0, r.x_first - u), end = min(r.steps, r.x_end - u);
                int64_t in = LAST ? 0 : gfilter_meets(r, v, t);
                if (in < 0 || in >= t.cross.in)
                    continue;
                const T *x_at = r.x + (first + u) * t.x_row +
                                (LAST ? places.x >> 4 * v & 15 : v * t.cross.dilation);
                const T *dy_at = r.dy + first * t.y_row + (places.dy >> 4 * v & 15);
                float chain = 0;
                GPU_NO_UNROLL
                for (int j = first; j < end; j++, x_at += t.x_row, dy_at += t.y_row)
                    chain = fmaf(load(x_at), load(dy_at), chain);
                sums[k * pitch] += chain;
            }
        }
    }
}

/* The sums of all threads of a weight, in order, and out: sums[tap * values + value][thread]. */
template <bool LAST, class T>
static __device__ __forceinline__ void gfilter_reduce(const float *sums, int pitch, int values,
                                                      T *dw, float *partial, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    GfilterThread me = gfilter_thread(threadIdx.x, t);
    int channels = min(t.tile, (int)a.k - me.first_channel), cross = gfilter_cross<LAST>(t);
    int64_t march_stride = a.axis[t.march_columns ? 2 : 1].w_stride;
    int64_t cross_stride = a.axis[t.march_columns ? 1 : 2].w_stride;
    if (t.split > 1)
        partial += me.part * a.k * t.march.filter * t.cross.filter;
    GPU_NO_UNROLL
    for (int i = threadIdx.x; i < channels * cross * t.taps * t.tap_tiles; i += blockDim.x) {
        int rest = i / t.taps, tap = i - rest * t.taps;
        int item = small_divide(rest, t.tap_tiles_inverse), in_block = rest - item * t.tap_tiles;
        int channel = LAST ? item : 0, across = LAST ? 0 : item;
        GfilterTile tile = gfilter_tile<LAST>(me.first_tile + in_block, t);
        int64_t march_tap = tile.first + tap * t.tap_step, cross_tap = tile.cross + across;
        if (!tile.there || march_tap >= t.march.filter || cross_tap >= t.cross.filter)
            continue;
        const float *from = sums + (tap * values + item % values) * pitch +
                            in_block * t.tile_threads + channel / gfilter_channels<LAST>();
        float sum = 0;
        GPU_NO_UNROLL
        for (int left = (int)t.slots.value; left > 0; left--, from += t.lanes)
            sum += *from;
        int64_t to = a.w_offset + (me.first_channel + channel) * a.w_stride_k +
                     march_tap * march_stride + cross_tap * cross_stride;
        if (t.split > 1)
            partial[to] = sum;
        else
            finish(dw + to, sum, a);
    }
}

/* LAST: the channels are the last axis. */
template <bool LAST, class T>
static __device__ __forceinline__ void dw_gfilter(const T *__restrict__ x, T *dw,
                                                  const T *__restrict__ dy, float *partial,
                                                  const gdnn_args &a)
{
    GPU_DYN_SHARED(float, sums);
    const int CHANNELS = GDNN_GFILTER_CHANNELS, FEWEST = GDNN_GFILTER_TAPS;
    const gdnn_tiling &t = a.tiling;
    int pitch = blockDim.x + 1, values = LAST ? CHANNELS : gfilter_cross<LAST>(t);
    int rows = LAST ? max(t.taps, FEWEST) * values : t.taps * values;
    GfilterPlaces places = {0, 0};
    float *own = sums + threadIdx.x;
    GPU_NO_UNROLL
    for (int k = 0; k < rows; k++)
        own[k * pitch] = 0;

    if constexpr (LAST) {
        GfilterThread me = gfilter_thread(threadIdx.x, t);
        int channel = me.first_channel + me.lane * CHANNELS;
        bool wide = a.kpg.value == 1 && a.k % CHANNELS == 0 &&
                    ((uintptr_t)x | (uintptr_t)dy) % (CHANNELS * sizeof(T)) == 0;
        int64_t first_x = divide(channel, a.kpg);
        for (int v = 1; v < CHANNELS && channel + v < a.k; v++) {
            places.x |= (uint32_t)(divide(channel + v, a.kpg) - first_x) << 4 * v;
            places.dy |= (uint32_t)v << 4 * v;
        }
        if (!wide) {
            GPU_NO_UNROLL
            for (int skip = 0; skip < t.taps; skip += FEWEST)
                gfilter_sums<true, false, FEWEST, CHANNELS>(
                    x, dy, skip, places, own + skip * CHANNELS * pitch, pitch, a);
        } else if (t.taps == 8) {
            gfilter_sums<true, true, 8, CHANNELS>(x, dy, 0, places, own, pitch, a);
        } else if (t.taps == 4) {
            gfilter_sums<true, true, 4, CHANNELS>(x, dy, 0, places, own, pitch, a);
        } else {
            gfilter_sums<true, true, 2, CHANNELS>(x, dy, 0, places, own, pitch, a);
        }
    } else {
        if (t.taps == 8)
            gfilter_sums<false, true, 8, GDNN_GFILTER_CROSS(8)>(x, dy, 0, places, own, pitch, a);
        else if (t.taps == 4)
            gfilter_sums<false, true, 4, GDNN_GFILTER_CROSS(4)>(x, dy, 0, places, own, pitch, a);
        else
            gfilter_sums<false, true, 2, GDNN_GFILTER_CROSS(2)>(x, dy, 0, places, own, pitch, a);
    }

    float zero = 0;
    GPU_NO_UNROLL
    for (int k = 0; k < rows; k++)
        zero = fmaf(own[k * pitch], 0.0f, zero);
    if (zero != 0) /* what is not finite may have met zeros of the padding */
        gfilter_exact<LAST>(x, dy, places, values, own, pitch, a);
    __syncthreads();
    gfilter_reduce<LAST>(sums, pitch, values, dw, partial, a);
}

#endif
