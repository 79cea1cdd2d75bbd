/* Depthwise backward-filter of any filter, stride, dilation, padding and channel multiplier, in both layouts.
 *
 * A thread owns a tile of TAPS taps, which lie along one axis, for V neighbouring channels (channels last) or for V
 * neighbouring taps of the other axis (channels first). It keeps their sums in registers while it marches along the first
 * axis, with V elements of x and their elements of dy a step: the tile's taps are `tap_step` apart and the steps `out_step`
 * outputs, so that element j + u of x (counted in steps) meets output j in tap u, whatever the stride and the dilation, and
 * the last TAPS elements of x are all that a step needs. They stay in registers, in places that rotate at no cost, since a
 * whole turn is unrolled.
 *
 * An item is one march: an image and a coordinate of the other axis, of those that meet x in a tap of the tile. In channels
 * last neighbouring lanes have neighbouring channels, in channels first neighbouring columns. A block has a few tiles of
 * taps, which read the same tensors through the cache, and a part of the items; where several blocks share a sum, each writes
 * its part to the workspace, [split][K][taps], and a second launch (filter_finish.h) adds the parts.
 *
 * Padding is multiplied as zeros, and a thread whose sums are not finite computes them again from the
 * definition. Long sums are sums of chains of some 1024 products. How all this is cut: src/gfilter_grid.c. */
#ifndef GDNN_DW_GFILTER_H
#define GDNN_DW_GFILTER_H

#include "dw_gfilter_work.h"

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
    /* Of several taps of the other axis: where they meet x; in the padding, another element of x and a factor of 0. */
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

/* Adds all of `r` to `sums`, of TAPS taps. */
template <bool LAST, bool WIDE, int TAPS, int V, class T>
static __device__ __forceinline__ void gfilter_add(GfilterItems<T> &r, GfilterPlaces places,
                                                   float *sums, int pitch, const gdnn_args &a)
{
    float sum[TAPS][V];
    GPU_UNROLL
    for (int k = 0; k < TAPS * V; k++)
        sum[k / V][k % V] = 0;
    int left = a.tiling.chain;
    GPU_NO_UNROLL
    for (; r.count > 0; gfilter_next(r, a)) {
        gfilter_march<LAST, WIDE>(r, places, sum, a.tiling);
        if (--left > 0 && r.count > 1)
            continue;
        left = a.tiling.chain;
        gfilter_close(sum, sums, pitch);
    }
}

/* The same from the definition, without the padding, for the whole tile of `values` values. */
template <bool LAST, class T>
static __device__ __forceinline__ void gfilter_exact(GfilterItems<T> &r, GfilterPlaces places,
                                                     int values, float *sums, int pitch,
                                                     const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
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

/* How a thread goes through its part, the last time from the definition. */
struct GfilterPass {
    int skip; /* the first tap of the tile of which sums are made */
    bool wide, exact;
};

template <bool LAST, class T>
static __device__ __forceinline__ void gfilter_pass(const GfilterPass &pass, const T *x,
                                                    const T *dy, GfilterPlaces places, int values,
                                                    float *sums, int pitch, const gdnn_args &a)
{
    const int V = GDNN_GFILTER_CHANNELS, FEWEST = GDNN_GFILTER_TAPS, taps = a.tiling.taps;
    GfilterItems<T> r;
    int64_t done = 0;
    GPU_NO_UNROLL
    while (
        gfilter_take<LAST>(r, done, pass.wide || pass.exact ? taps : FEWEST, pass.skip, x, dy, a)) {
        if (pass.exact)
            gfilter_exact<LAST>(r, places, values, sums, pitch, a);
        else if (LAST && !pass.wide)
            gfilter_add<LAST, !LAST, FEWEST, V>(r, places, sums, pitch, a);
        else if (taps == 8)
            gfilter_add<LAST, true, 8, LAST ? V : GDNN_GFILTER_CROSS(8)>(r, places, sums, pitch, a);
        else if (taps == 4)
            gfilter_add<LAST, true, 4, LAST ? V : GDNN_GFILTER_CROSS(4)>(r, places, sums, pitch, a);
        else
            gfilter_add<LAST, true, 2, LAST ? V : GDNN_GFILTER_CROSS(2)>(r, places, sums, pitch, a);
    }
}

/* Whether all of a thread's sums are finite; if not, all become zeros. */
static __device__ __forceinline__ bool gfilter_finite(float *sums, int pitch, int count)
{
    float zero = 0;
    GPU_NO_UNROLL
    for (int k = 0; k < count; k++)
        zero = fmaf(sums[k * pitch], 0.0f, zero);
    if (zero == 0)
        return true;
    GPU_NO_UNROLL
    for (int k = 0; k < count; k++)
        sums[k * pitch] = 0;
    return false;
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
    const int CHANNELS = gfilter_channels<LAST>(), FEWEST = GDNN_GFILTER_TAPS;
    const gdnn_tiling &t = a.tiling;
    int pitch = blockDim.x + 1, values = LAST ? CHANNELS : gfilter_cross<LAST>(t);
    int rows = (LAST ? max(t.taps, FEWEST) : t.taps) * values;
    float *own = sums + threadIdx.x;
    GPU_NO_UNROLL
    for (int k = 0; k < rows; k++)
        own[k * pitch] = 0;

    GfilterPlaces places = {0, 0};
    GfilterPass pass = {0, true, false};
    if (LAST) {
        GfilterThread me = gfilter_thread(threadIdx.x, t);
        int channel = me.first_channel + me.lane * CHANNELS;
        int64_t first_x = divide(channel, a.kpg);
        for (int v = 1; v < CHANNELS && channel + v < a.k; v++) {
            places.x |= (uint32_t)(divide(channel + v, a.kpg) - first_x) << 4 * v;
            places.dy |= (uint32_t)v << 4 * v;
        }
        pass.wide = a.kpg.value == 1 && a.k % CHANNELS == 0 &&
                    ((uintptr_t)x | (uintptr_t)dy) % (CHANNELS * sizeof(T)) == 0;
    }
    GPU_NO_UNROLL
    for (;;) {
        gfilter_pass<LAST>(pass, x, dy, places, values, own + pass.skip * values * pitch, pitch, a);
        if (!pass.exact && !pass.wide && pass.skip + FEWEST < t.taps) {
            pass.skip += FEWEST;
            continue;
        }
        /* what is not finite may have met zeros of the padding */
        if (pass.exact || gfilter_finite(own, pitch, rows))
            break;
        pass.skip = 0;
        pass.exact = true;
    }
    __syncthreads();
    gfilter_reduce<LAST>(sums, pitch, values, dw, partial, a);
}

#endif
