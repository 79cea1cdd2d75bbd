/* Depthwise convolution of any filter, stride, dilation, padding and channel multiplier, channels last.
 *
 * A thread computes VECTOR neighbouring channels of one output at a time. The taps that meet x are found first, so no loop
 * tests bounds and no tap in the padding is multiplied. Filters lie in shared memory as floats, a chunk of taps at a time, in
 * the order in which threads read them; x is read where it is, neighbours share it through the cache. The sums of chunks are
 * added up, so that rounding errors do not grow with the filter. */
#ifndef GDNN_DW_GENERAL_H
#define GDNN_DW_GENERAL_H

#include "dw_general_host.h"
#include "taps.h"
#include "values.h"

/* Of a chunk: taps first_h to first_h + chunk_rows - 1 and first_w to first_w + chunk_columns - 1, as far as there are so
 * many. In shared memory from `at`: rows of chunk_columns taps, for each of them the tile's channels; of a lane's VECTOR
 * channels first the fours of all lanes that come first, then the second ones. `w` is the filter of the tile's first
 * channel, of `channels` that there are, w_channel apart. */
template <class T>
static __device__ __forceinline__ void load_chunk(float *at, const T *__restrict__ w,
                                                  int64_t w_channel, int channels, int first_h,
                                                  int first_w, const gdnn_args &a)
{
    const int VECTOR = 16 / (int)sizeof(T), FOURS = VECTOR / 4;
    const gdnn_tiling &t = a.tiling;
    int lanes = t.lanes, tile = t.tile, channel = (int)threadIdx.x % tile;
    int columns = min(t.chunk_columns, (int)a.axis[2].filter_div.value - first_w);
    int rows = min(t.chunk_rows, (int)a.axis[1].filter_div.value - first_h);
    int lane = channel / VECTOR, place = channel % VECTOR;
    at += place / 4 * lanes * 4 + lane * 4 + place % 4;
    static_assert(FOURS >= 1, "fours of channels");
    bool present = channel < channels;
    const T *from = w + a.w_offset + channel * w_channel + first_h * a.axis[1].w_stride +
                    first_w * a.axis[2].w_stride;
    int step = (int)blockDim.x / tile;
    GPU_NO_UNROLL
    for (int r = 0; r < rows; r++)
        for (int s = (int)threadIdx.x / tile; s < columns; s += step)
            at[(r * t.chunk_columns + s) * tile] =
                present ? float(load(from + r * a.axis[1].w_stride + s * a.axis[2].w_stride)) : 0;
}

/* One tap of a thread's channels; their second four are `fours` bytes further. */
template <int VECTOR>
static __device__ __forceinline__ void load_factors(gpu_shared at, uint32_t fours,
                                                    float (&factor)[VECTOR])
{
    GPU_UNROLL
    for (int four = 0; four < VECTOR; four += 4, at += fours) {
        float part[4];
        gpu_load_shared(part, at);
        GPU_UNROLL
        for (int v = 0; v < 4; v++)
            factor[four + v] = part[v];
    }
}

template <int VECTOR>
static __device__ __forceinline__ void add_products(const float (&factor)[VECTOR],
                                                    const float (&x)[VECTOR], float (&sum)[VECTOR])
{
    GPU_UNROLL
    for (int v = 0; v < VECTOR; v++)
        sum[v] = fmaf(factor[v], x[v], sum[v]);
}

/* Rows of taps of a chunk: the first row meets x at `from`, and lies at `filter`. */
template <class T>
struct TapRows {
    const T *from;
    uint32_t places;
    gpu_shared filter;
    int rows;
};

/* Adds `columns` taps of each row, from the first on. */
template <class T, bool WIDE, int VECTOR>
static __device__ __forceinline__ void add_rows(TapRows<T> m, int columns, const gdnn_tiling &t,
                                                float (&sum)[VECTOR])
{
    const uint32_t tap_bytes = (uint32_t)t.tile_bytes, fours = (uint32_t)t.lanes * 16;
    GPU_NO_UNROLL
    for (; m.rows > 0; m.rows--, m.from += t.x_row, m.filter += (uint32_t)t.slot_bytes) {
        const T *from = m.from;
        gpu_shared at = m.filter;
        int left = columns;
        float x[VECTOR], factor[VECTOR];
        GPU_NO_UNROLL
        for (; WIDE && left > 1; left -= 2) { /* the loop itself costs as much as half a tap */
            load_channels<T, WIDE>(from, m.places, x);
            load_factors(at, fours, factor);
            add_products(factor, x, sum);
            load_channels<T, WIDE>(from + t.x_column, m.places, x);
            load_factors(at + tap_bytes, fours, factor);
            add_products(factor, x, sum);
            from += 2 * (int64_t)t.x_column;
            at += 2 * tap_bytes;
        }
        GPU_NO_UNROLL
        for (; left > 0; left--, from += t.x_column, at += tap_bytes) {
            load_channels<T, WIDE>(from, m.places, x);
            load_factors(at, fours, factor);
            add_products(factor, x, sum);
        }
    }
}

/* The next element of a row: with its own tap into the first of two neighbouring outputs, with the tap before into the
 * second. */
template <class T, bool WIDE, int VECTOR>
static __device__ __forceinline__ void add_pair(const TapRows<T> &m, const T *&from, gpu_shared &at,
                                                const gdnn_tiling &t, const float (&before)[VECTOR],
                                                float (&tap)[VECTOR], float (&sum)[2][VECTOR])
{
    float x[VECTOR];
    from += t.x_column;
    at += (uint32_t)t.tile_bytes;
    load_channels<T, WIDE>(from, m.places, x);
    load_factors(at, (uint32_t)t.lanes * 16, tap);
    add_products(tap, x, sum[0]);
    add_products(before, x, sum[1]);
}

/* The same for two neighbouring outputs of stride and dilation 1, for all taps of a row that meet x, `first` and `second`:
 * an element of x that meets tap s of the first meets tap s - 1 of the second, so each is read once for both. The first row
 * meets x at m.from with tap 0, which may lie outside. */
template <class T, bool WIDE, int VECTOR>
static __device__ __forceinline__ void add_row_pairs(TapRows<T> m, const TapRange &first,
                                                     const TapRange &second, const gdnn_tiling &t,
                                                     float (&sum)[2][VECTOR])
{
    const uint32_t tap_bytes = (uint32_t)t.tile_bytes, fours = (uint32_t)t.lanes * 16;
    bool some = first.end > first.first, others = second.end > second.first;
    if (!some && !others)
        return;
    /* an element at either end may meet only one of them */
    bool head = some && first.first == second.first, tail = others && first.end == second.end;
    m.from += second.first * (int64_t)t.x_column;
    m.filter += (uint32_t)second.first * tap_bytes;
    GPU_NO_UNROLL
    for (; m.rows > 0; m.rows--, m.from += t.x_row, m.filter += (uint32_t)t.slot_bytes) {
        const T *from = m.from;
        gpu_shared at = m.filter;
        float x[VECTOR], even[VECTOR], odd[VECTOR];
        load_factors(at, fours, even); /* the tap of the second output, always */
        if (head) {
            load_channels<T, WIDE>(from, m.places, x);
            add_products(even, x, sum[0]);
        }
        int left = first.end - second.first - 1;
        GPU_NO_UNROLL
        for (; left > 1; left -= 2) {
            add_pair<T, WIDE>(m, from, at, t, even, odd, sum);
            add_pair<T, WIDE>(m, from, at, t, odd, even, sum);
        }
        if (left > 0) {
            add_pair<T, WIDE>(m, from, at, t, even, odd, sum);
            GPU_UNROLL
            for (int v = 0; v < VECTOR; v++)
                even[v] = odd[v];
        }
        if (tail) {
            load_channels<T, WIDE>(from + t.x_column, m.places, x);
            add_products(even, x, sum[1]);
        }
    }
}

/* COLUMNS: outputs that a thread computes at a time; 2 for stride and dilation 1 along the columns. */
template <class T, int COLUMNS, bool PLAIN>
static __device__ __forceinline__ void dw_general(const T *__restrict__ x, const T *__restrict__ w,
                                                  T *y, const T *z, const T *bias,
                                                  const gdnn_args &a)
{
    if (!PLAIN)
        address_absent<T>(z, bias, y, a);
    GPU_DYN_SHARED(float, filters);
    const int VECTOR = 16 / (int)sizeof(T);
    const gdnn_tiling &t = a.tiling;
    const gdnn_axis &h = a.axis[1], &s = a.axis[2];
    int64_t block = blockIdx.x;
    int tile_first = (int)peel(block, t.channel_tiles) * t.tile;
    int slot = small_divide(threadIdx.x, t.lanes_inverse), lane = threadIdx.x - slot * t.lanes;
    int slots = small_divide(blockDim.x, t.lanes_inverse);
    int channel = tile_first + lane * VECTOR, channels = min((int)a.k - channel, VECTOR);
    bool wide = a.kpg.value == 1 && channels == VECTOR &&
                ((uintptr_t)x | (uintptr_t)y | (uint64_t)a.c * sizeof(T)) % 16 == 0;

    TapRows<T> m;
    m.places = 0;
    int first_x = channels > 0 ? (int)divide(channel, a.kpg) : 0;
    for (int v = 1; v < channels && !wide; v++)
        m.places |= (uint32_t)((int)divide(channel + v, a.kpg) - first_x) << 4 * v;
    x += first_x;
    w += tile_first * a.w_stride_k;

    int filter_h = (int)h.filter_div.value, filter_w = (int)s.filter_div.value;
    bool one_chunk = t.chunk_rows >= filter_h && t.chunk_columns >= filter_w;
    gpu_shared own = gpu_shared_address(filters + lane * 4);
    int64_t item = block * t.rows * slots + slot;

    if (one_chunk) {
        load_chunk(filters, w, a.w_stride_k, (int)a.k - tile_first, 0, 0, a);
        __syncthreads();
    }
    GPU_NO_UNROLL
    for (int step = 0; step < t.rows; step++, item += slots) {
        int64_t n = item;
        int column = (int)peel(n, t.columns) * COLUMNS, row = (int)peel(n, h.out_div);
        TapRange taps_h = taps_of(h, row), taps_w[COLUMNS];
        GPU_UNROLL
        for (int q = 0; q < COLUMNS; q++)
            taps_w[q] = taps_of(s, column + q);
        bool present = n < a.n && channels > 0;
        const T *image = x + n * h.in * s.in * a.c;
        float total[COLUMNS][VECTOR] = {};

        GPU_NO_UNROLL
        for (int r = 0; r < filter_h; r += t.chunk_rows) {
            GPU_NO_UNROLL
            for (int c = 0; c < filter_w; c += t.chunk_columns) {
                if (!one_chunk) {
                    __syncthreads();
                    load_chunk(filters, w, a.w_stride_k, (int)a.k - tile_first, r, c, a);
                    __syncthreads();
                }
                int h0 = max(taps_h.first, r);
                m.rows = min(taps_h.end, r + t.chunk_rows) - h0;
                if (!present || m.rows <= 0)
                    continue;
                int line = (taps_h.in + (h0 - taps_h.first) * (int)h.dilation.value) * (int)s.in;
                m.filter = own + (uint32_t)((h0 - r) * t.slot_bytes);
                float sum[COLUMNS][VECTOR] = {};
                if constexpr (COLUMNS == 1) {
                    int w0 = max(taps_w[0].first, c);
                    int columns = min(taps_w[0].end, c + t.chunk_columns) - w0;
                    int in = taps_w[0].in + (w0 - taps_w[0].first) * (int)s.dilation.value;
                    m.from = image + (line + in) * (int)a.c;
                    m.filter += (uint32_t)((w0 - c) * t.tile_bytes);
                    if (wide)
                        add_rows<T, true>(m, columns, t, sum[0]);
                    else
                        add_rows<T, false>(m, columns, t, sum[0]);
                } else {
                    m.from = image + (int64_t)(line + taps_w[0].in - taps_w[0].first) * a.c;
                    if (wide)
                        add_row_pairs<T, true>(m, taps_w[0], taps_w[1], t, sum);
                    else
                        add_row_pairs<T, false>(m, taps_w[0], taps_w[1], t, sum);
                }
                GPU_UNROLL
                for (int q = 0; q < COLUMNS; q++) {
                    GPU_UNROLL
                    for (int v = 0; v < VECTOR; v++)
                        total[q][v] += sum[q][v];
                }
            }
        }

        int64_t to = ((n * h.out + row) * s.out + column) * a.k + channel;
        GPU_UNROLL
        for (int q = 0; q < COLUMNS; q++, to += a.k) {
            if (!present || (q > 0 && column + q >= s.out))
                continue;
            if (PLAIN && wide) {
                store_values<T, VECTOR>(y + to, total[q]);
                continue;
            }
            GPU_UNROLL
            for (int v = 0; v < VECTOR; v++)
                if (v < channels) {
                    float value = total[q][v];
                    if (!PLAIN)
                        value = forward_end(value, z + to + v, y + to + v, bias + channel + v, a);
                    store(y + to + v, value);
                }
        }
    }
}

#endif
