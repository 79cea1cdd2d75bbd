/* Backward-data of a depthwise convolution of stride 2, channels last: rows of dy through a ring in shared memory.
 *
 * With j = i + pad, element i of dx gets tap t of dy[(j - t) / 2] for the t of j's parity. So dx is cut into pairs of an
 * even and an odd j, both ways: four elements, each of which has taps of its own, known to the compiler, and the same few
 * elements of dy. In terms of pairs all is a forward convolution of stride 1, whose y are pairs, and the ring and the march
 * of dw_ring.h serve it. Pairs of rows begin with an even j; pairs of columns with that parity which is dx's first
 * column's where the padding is half of the filter. Other paddings have a pair of which half lies beside dx. */
#ifndef GDNN_DW_UP_H
#define GDNN_DW_UP_H

#include "dw_pairs.h"
#include "dw_ring.h"

template <class T>
struct UpOut;

/* COLUMNS counts pairs. What has the names of RingShape is the convolution in terms of pairs. */
template <int FILTER_, int CHANNELS_, int COLUMNS_, int RING_>
struct UpShape {
    template <class T>
    using Out = UpOut<T>;
    static const int FILTER = FILTER_, TAPS = FILTER * FILTER;
    static const int SHIFT = gdnn_pair_shift(FILTER); /* of pairs of columns */
    static const int FILTER_H = gdnn_pair_reach(FILTER), FILTER_W = FILTER_H, STRIDE = 1;
    static const int CHANNELS = CHANNELS_, COLUMNS = COLUMNS_, IN_COLUMNS = COLUMNS + FILTER_W - 1;
    static const int SETS = FILTER_H, RING = RING_;
    static const int SUMS =
        4 * COLUMNS; /* 2 * COLUMNS of the pair's first row, then of its second */
};

/* An axis in terms of pairs. */
template <class S>
static __device__ __forceinline__ SubAxis up_axis(const gdnn_axis &axis, int shift)
{
    int first = gdnn_first_pair((int)axis.pad, shift);
    return {(int)axis.out, gdnn_pairs((int)axis.in, (int)axis.pad, shift),
            S::FILTER_H - 1 - shift - first, 0};
}

template <class S>
static __device__ __forceinline__ RingPlace up_place(const gdnn_args &a)
{
    RingPlace p = ring_place<S>(a);
    p.h = up_axis<S>(a.axis[1], 0);
    p.w = up_axis<S>(a.axis[2], S::SHIFT);
    p.end_row = min(p.first_row + a.tiling.rows, p.h.out);
    p.x_at = p.n * a.axis[1].out * a.axis[2].out * a.c;
    return p;
}

/* Where a thread writes: 2 * COLUMNS columns of CHANNELS channels, of which some may lie outside of dx. */
template <class T>
struct UpOut {
    T *dx;            /* the thread's first column in row 0 */
    int row, end;     /* from there the row to be stored next, the end of all rows */
    int first, count; /* columns first to first + count - 1 are inside */
    int channels;     /* inside */
    bool whole;       /* all channels, and aligned */
    bool wide;        /* all columns, too */
};

template <class T, class S>
static __device__ __forceinline__ UpOut<T> up_out(const RingPlace &p, T *dx, const gdnn_args &a)
{
    UpOut<T> out;
    int channels = (int)a.c, width = (int)a.axis[2].in;
    int column = 2 * (p.first_strip + p.strip * S::COLUMNS) - (((int)a.axis[2].pad - S::SHIFT) & 1);
    out.dx = dx + (p.n * a.axis[1].in * width + column) * channels + p.channel;
    out.row = (2 * p.first_row - ((int)a.axis[1].pad & 1)) * width * channels;
    out.end = (int)a.axis[1].in * width * channels;
    out.first = max(-column, 0);
    out.count = p.present ? max(min(2 * S::COLUMNS, width - column) - out.first, 0) : 0;
    out.channels = max(min(S::CHANNELS, channels - p.channel), 0);
    out.whole = out.channels == S::CHANNELS &&
                ((uintptr_t)dx | (uint64_t)channels * sizeof(T)) % (S::CHANNELS * sizeof(T)) == 0;
    out.wide = out.whole && out.count == 2 * S::COLUMNS;
    return out;
}

template <bool PLAIN, class T>
static __device__ __forceinline__ void next_images(UpOut<T> &out, int rows, const gdnn_tiling &t)
{
    out.dx += t.y_turn_bytes / (int)sizeof(T);
    out.row -= rows * (int)t.y_row;
}

template <class T>
static __device__ __forceinline__ void store_no_more(UpOut<T> &out)
{
    out.wide = out.whole = false;
    out.count = 0;
}

/* Stores a pair of rows and goes on to the next one. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void
store_row(UpOut<T> &out, const float (&sum)[S::SUMS][S::CHANNELS], const gdnn_args &a)
{
    const int WIDTH = 2 * S::COLUMNS;
    GPU_UNROLL
    for (int e = 0; e < 2; e++, out.row += (int)(a.tiling.y_row / 2)) {
        if (out.row < 0 || out.row >= out.end)
            continue;
        T *to = out.dx + out.row;
        if (PLAIN && out.wide) {
            GPU_UNROLL
            for (int k = 0; k < WIDTH; k++, to += a.tiling.y_column)
                store_values<T, S::CHANNELS>(to, sum[e * WIDTH + k]);
            continue;
        }
        GPU_UNROLL
        for (int k = 0; k < WIDTH; k++, to += a.tiling.y_column) {
            if (k < out.first || k >= out.first + out.count)
                continue;
            if (PLAIN && out.whole) {
                store_values<T, S::CHANNELS>(to, sum[e * WIDTH + k]);
                continue;
            }
            GPU_UNROLL
            for (int c = 0; c < S::CHANNELS; c++)
                if (c < out.channels) {
                    if (PLAIN)
                        store(to + c, sum[e * WIDTH + k][c]);
                    else
                        finish(to + c, sum[e * WIDTH + k][c], a);
                }
        }
    }
}

/* The row of dy at `row` into the sets to which it is number FROM to TO - 1 of step U. */
template <int U, int FROM, int TO, class T, class S>
static __device__ __forceinline__ void up_add(RingMarch<T, S> &m, gpu_shared row,
                                              const gdnn_tiling &t)
{
    const int WIDTH = 2 * S::COLUMNS;
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++, row += t.tile_bytes) {
        float dy[S::CHANNELS];
        load_values<T, S::CHANNELS>(row, dy);
        GPU_UNROLL
        for (int k = 0; k < WIDTH; k++) {
            const int d = j - k / 2, tap_w = up_tap<S>(k % 2, d, S::SHIFT);
            if (d < 0 || d >= S::FILTER_W || !is_tap<S>(tap_w))
                continue;
            const bool first_w = !is_tap<S>(tap_w + 2);
            GPU_UNROLL
            for (int i = 2 * FROM; i < 2 * TO; i++) {
                const int set = (U - i / 2 + S::SETS) % S::SETS, tap_h = up_tap<S>(i % 2, i / 2, 0);
                const bool first = first_w && !is_tap<S>(tap_h + 2);
                GPU_UNROLL
                for (int c = 0; c < S::CHANNELS; c++) {
                    float &sum = m.sum[set][i % 2 * WIDTH + k][c];
                    if (!is_tap<S>(tap_h)) /* dy may end before its first tap */
                        sum = 0;
                    else if (first)
                        sum = m.filter[tap_h * S::FILTER + tap_w][c] * dy[c];
                    else
                        sum = fmaf(m.filter[tap_h * S::FILTER + tap_w][c], dy[c], sum);
                }
            }
        }
    }
}

/* The pair of rows that is complete is stored before others need registers. */
template <int U, bool PLAIN, class T, int FILTER, int CHANNELS, int COLUMNS, int RING>
static __device__ __forceinline__ void
step(RingMarch<T, UpShape<FILTER, CHANNELS, COLUMNS, RING>> &m, const gdnn_args &a)
{
    typedef UpShape<FILTER, CHANNELS, COLUMNS, RING> S;
    gpu_shared row = next_row(m, a);
    up_add<U, S::SETS - 1, S::SETS>(m, row, a.tiling);
    complete_row<U, T, S, PLAIN>(m, a);
    up_add<U, 0, S::SETS - 1>(m, row, a.tiling);
}

/* The elements of a thread from the definition, tap by tap: for filters that are not finite. `dy` is the thread's first
 * channel at the image's first element, `filter` its first filter in shared memory. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void exact_rows(const RingPlace &p, const UpOut<T> &out,
                                                  const T *dy, const T *filter, bool flipped,
                                                  const gdnn_args &a)
{
    int row = out.row, rows = 2 * (p.end_row - p.first_row);
    int h = 2 * (p.first_row + gdnn_first_pair((int)a.axis[1].pad, 0)); /* i + pad */
    int w =
        2 * (p.first_strip + p.strip * S::COLUMNS + gdnn_first_pair((int)a.axis[2].pad, S::SHIFT)) +
        S::SHIFT;
    GPU_NO_UNROLL
    for (int i = 0; i < rows; i++, h++, row += (int)(a.tiling.y_row / 2)) {
        if (row < 0 || row >= out.end)
            continue;
        GPU_NO_UNROLL
        for (int k = out.first; k < out.first + out.count; k++) {
            GPU_NO_UNROLL
            for (int c = 0; c < out.channels; c++) {
                float sum = 0;
                GPU_NO_UNROLL
                for (int tap = 0; tap < S::TAPS; tap++) {
                    int y = h - tap / S::FILTER, x = w + k - tap % S::FILTER;
                    if (y < 0 || x < 0 || (y | x) & 1 || y / 2 >= p.h.in || x / 2 >= p.w.in)
                        continue;
                    int at = c * S::TAPS + (flipped ? S::TAPS - 1 - tap : tap);
                    sum = fmaf(load(filter + at),
                               load(dy + y / 2 * a.tiling.x_row +
                                    (int64_t)(x / 2) * a.tiling.x_column + c),
                               sum);
                }
                finish(out.dx + row + (int64_t)k * a.tiling.y_column + c, sum, a);
            }
        }
    }
}

template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void dw_up(T *dx, const T *__restrict__ w,
                                             const T *__restrict__ dy, const gdnn_args &a)
{
    RingPlace p = up_place<S>(a);
    ring_run<T, S, PLAIN>(p, dy, w, up_out<T, S>(p, dx, a), a);
}

#endif
