/* Depthwise convolution, and its backward-data, of any filter, stride, dilation, padding and channel multiplier, channels
 * first.
 *
 * Along the rows, output o meets input o * stride + tap * dilation - pad. Rows of outputs that are dilation / gcd apart meet
 * the same rows of inputs, with taps that are stride / gcd apart: together they are a convolution of stride 1 with a part of
 * the filter, one of stride / gcd "phases", and with every so many rows of x. Backward-data is the same with dy for x, with
 * one phase for each row, and with the taps in reverse. So both have the same inner loop: ROWS rows of a column are computed
 * from a window of ROWS + TAPS - 1 rows that moves down a column of the source by TAPS rows and as many taps at a time.
 * Lanes lie along a row of the result, so that they read neighbours; columns have no bounds tests, since a thread finds
 * first which taps of a row it meets.
 *
 * Filters lie in shared memory as floats, by phase and column, filled up with zeros to a multiple of TAPS. Rows of the
 * source that do not exist count as zeros. Where that is wrong, because something that is not finite was multiplied with
 * such a zero, the sum is not finite: sums that are not are computed again from the definition.
 *
 * Filters that are too long for that are cut into chunks, whose sums are added up, so that rounding errors do not grow. */
#ifndef GDNN_DW_GPLANE_H
#define GDNN_DW_GPLANE_H

#include "dw_gplane_columns.h"
#include "taps.h"
#include "values.h"

/* Taps of a row that a thread's column meets, `first` with column `in` of the source; the following ones at fixed steps. */
struct RowTaps {
    int first, count, in;
};

template <bool DATA>
static __device__ __forceinline__ RowTaps row_taps(const gdnn_axis &axis, int at)
{
    if constexpr (DATA) {
        DataTaps taps = data_taps(axis, at);
        return {(int)taps.first, taps.count, (int)taps.out};
    } else {
        TapRange taps = taps_of(axis, at);
        return {taps.first, taps.end - taps.first, taps.in};
    }
}

/* Those of them from `first` on, below `end`. */
template <bool DATA>
static __device__ __forceinline__ RowTaps part_of(const RowTaps &taps, int first, int end,
                                                  const gdnn_args &a)
{
    const gdnn_axis &axis = a.axis[2];
    int skip = max(first - taps.first, 0), last = max(end - taps.first, 0);
    if (DATA) {
        skip = (int)divide_ceil(skip, axis.tap_step);
        last = (int)divide_ceil(last, axis.tap_step);
    }
    skip = min(skip, taps.count);
    return {taps.first + skip * (DATA ? (int)axis.tap_step.value : 1),
            max(min(last, taps.count) - skip, 0), taps.in + skip * a.tiling.x_column};
}

/* Of a chunk: phases from `phase` on, of each the taps from number `tap` on, in the order in which they meet the rows of the
 * source; columns from `column` on. `w` is the channel's filter. */
template <class T, bool DATA>
static __device__ __forceinline__ void load_chunk(float *at, const T *__restrict__ w, int slot,
                                                  int phase, int tap, int column,
                                                  const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    const gdnn_axis &h = a.axis[1], &s = a.axis[2];
    GPU_NO_UNROLL
    for (int i = slot; i < t.filter_floats; i += t.lanes) {
        int64_t rest = i;
        int number = tap + (int)peel(rest, t.run);
        int tap_w = column + (int)peel(rest, t.run_columns), first = phase + (int)rest;
        if (DATA)
            number = t.taps - 1 - number;
        int tap_h = first + number * t.tap_step;
        bool is_tap = first < t.tap_phases && number >= 0 && tap_h < (int)h.filter_div.value &&
                      tap_w < (int)s.filter_div.value;
        at[i] = is_tap ? load(w + tap_h * h.w_stride + tap_w * s.w_stride) : 0;
    }
}

/* One element of the result from the definition. `source` is the plane, `w` the channel's first filter. */
template <class T, bool DATA>
static __device__ __forceinline__ float exact_sum(const T *source, const T *__restrict__ w, int row,
                                                  const RowTaps &across, const gdnn_args &a)
{
    const gdnn_axis &h = a.axis[1], &s = a.axis[2];
    RowTaps down = row_taps<DATA>(h, row);
    int64_t width = DATA ? s.out : s.in, plane = width * (DATA ? h.out : h.in);
    int64_t w_step_h = h.w_stride * (DATA ? h.tap_step.value : 1),
            w_step_w = s.w_stride * (DATA ? s.tap_step.value : 1);
    int64_t step_h = width * (DATA ? -h.out_step : h.dilation.value);
    int64_t step_w = DATA ? -s.out_step : s.dilation.value;
    source += down.in * width + across.in;
    w += down.first * h.w_stride + across.first * s.w_stride;
    float sum = 0;
    GPU_NO_UNROLL
    for (int m = DATA ? (int)a.kpg.value : 1; m > 0; m--, source += plane, w += a.w_stride_k) {
        GPU_NO_UNROLL
        for (int i = 0; i < down.count; i++) {
            const T *x = source + i * step_h, *tap = w + i * w_step_h;
            GPU_NO_UNROLL
            for (int j = 0; j < across.count;) {
                float part = 0;
                int end = row_end(j, across.count);
                GPU_NO_UNROLL
                for (; j < end; j++, x += step_w, tap += w_step_w)
                    part = fmaf(load(tap), load(x), part);
                sum += part;
            }
        }
    }
    return sum;
}

template <class T, bool DATA, bool PLAIN>
static __device__ __forceinline__ void put(T *y, float sum, const T *z, const T *bias,
                                           const gdnn_args &a)
{
    if (!PLAIN && DATA) {
        finish(y, sum, a);
        return;
    }
    if (!PLAIN)
        sum = forward_end(sum, z, y, bias, a);
    store(y, sum);
}

/* A thread: its column of one plane. */
template <class T>
struct GPlanePlace {
    const T *source, *w; /* the plane; the first filter */
    int row, column;     /* of the result: the first of the first group */
    int64_t to;          /* offset of the column in y */
    RowTaps across;
    int phase; /* of backward-data: of its rows */
    int begin; /* row of the source that `row` meets with the first tap of phase 0, or of `phase` */
    bool exists;   /* the channel does */
    int slot;      /* number among the channel's threads */
    float *filter; /* of the channel, in shared memory */
    int channel;
};

template <class T, bool DATA>
static __device__ __forceinline__ GPlanePlace<T> gplane_place(const T *x, const T *w,
                                                              float *filters, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    const gdnn_axis &h = a.axis[1], &s = a.axis[2];
    GPlanePlace<T> p;
    int64_t n = blockIdx.x;
    int member = small_divide(threadIdx.x, t.lanes_inverse);
    p.slot = threadIdx.x - member * t.lanes;
    p.channel = (int)peel(n, t.channel_tiles) * t.tile + member;
    n = n * t.lanes + p.slot;
    p.column = (int)peel(n, t.columns);
    p.row = (int)peel(n, t.slabs) * t.rows * GDNN_GPLANE_ROWS * t.row_step;
    p.row += (int)peel(n, t.row_phases);

    int64_t channels = DATA ? a.c : a.k, filter = p.channel, plane;
    if (DATA) {
        filter *= a.kpg.value;
        plane = (n * a.k + filter) * h.out * s.out;
        p.to = (n * channels + p.channel) * h.in * s.in + p.column;
    } else {
        plane = (n * a.c + divide(p.channel, a.kpg)) * h.in * s.in;
        p.to = (n * channels + p.channel) * h.out * s.out + p.column;
    }
    p.source = x + plane;
    p.w = w + a.w_offset + filter * a.w_stride_k;
    p.exists = p.channel < channels;
    p.filter = filters + member * t.filter_floats;

    p.across = row_taps<DATA>(s, p.column);
    p.phase = 0;
    if (DATA) {
        int64_t from = p.row + h.pad, first = first_tap(h, from);
        p.phase = first < t.tap_phases ? (int)first : -1; /* -1: no tap reaches these rows */
        p.begin = (int)divide_floor(from - max(p.phase, 0) * h.dilation.value, h.stride) -
                  (t.taps - 1) * (int)t.source_step.value;
    } else {
        p.begin = (int)(p.row * h.stride.value - h.pad);
    }
    if (!p.exists || n >= a.n || p.phase < 0) {
        p.across.count = 0;
        p.phase = 0;
    }
    if (n >= a.n)
        p.channel = (int)channels;
    return p;
}

/* Adds the taps of the chunk that begins with `phase`, number `tap` of it and `column`. */
template <class T, bool DATA, int ROWS>
static __device__ __forceinline__ void add_chunk(const GPlanePlace<T> &p, int begin, int phase,
                                                 int tap, int column, const gdnn_args &a,
                                                 float (&sum)[ROWS])
{
    const gdnn_tiling &t = a.tiling;
    const gdnn_axis &h = a.axis[1], &s = a.axis[2];
    int width = (int)(DATA ? s.out : s.in);
    RowTaps across = p.across;
    if (!t.one_chunk)
        across = part_of<DATA>(across, column, column + t.chunk_columns, a);
    const T *source = p.source + across.in;
    gpu_shared filter = gpu_shared_address(p.filter);
    filter += (uint32_t)((across.first - column) * (t.run_bytes));
    begin += tap * (int)t.source_step.value;
    if constexpr (DATA) {
        int own = p.phase - phase;
        if ((uint32_t)own >= (uint32_t)t.chunk_phases)
            across.count = own = 0;
        filter += (uint32_t)(own * t.phase_bytes);
        Column<T> c = column_at(source, begin, width, filter, t);
        add_columns(c, c.pieces > 0 ? across.count : 0, t, sum);
    } else {
        int end = min(phase + t.chunk_phases, t.tap_phases);
        begin += phase * (int)h.dilation.value;
        GPU_NO_UNROLL
        for (; phase < end; phase++) {
            Column<T> c = column_at(source, begin, width, filter, t);
            add_columns(c, c.pieces > 0 ? across.count : 0, t, sum);
            filter += (uint32_t)t.phase_bytes;
            begin += (int)h.dilation.value;
        }
    }
}

/* Stores the sums of a group of rows, `row` the first. A full epilogue is long: one copy of it serves all rows. */
template <class T, bool DATA, bool PLAIN, int ROWS>
static __device__ __forceinline__ void put_rows(const GPlanePlace<T> &p, int row, T *y, const T *z,
                                                const T *bias, float (&sum)[ROWS],
                                                const gdnn_args &a)
{
    const gdnn_axis &h = a.axis[1], &s = a.axis[2];
    const int rows = (int)(DATA ? h.in : h.out), width = (int)(DATA ? s.in : s.out);
    if (p.channel >= (DATA ? a.c : a.k))
        return;
    const int step = a.tiling.row_step, end = min(rows, row + ROWS * step);
    const int64_t to_step = a.tiling.y_row;
    int64_t to = p.to + row * width;
    float zero = 0;
    GPU_UNROLL
    for (int q = 0; q < ROWS; q++)
        zero = fmaf(sum[q], 0.0f, zero);
    bool finite = zero == 0;
    if (PLAIN && finite) {
        y += to;
        GPU_UNROLL
        for (int q = 0; q < ROWS; q++, y += to_step, row += step)
            if (row < end)
                store(y, sum[q]);
        return;
    }
    GPU_NO_UNROLL
    for (; row < end; row += step, to += to_step) {
        float value = sum[0];
        if (!finite)
            value = exact_sum<T, DATA>(p.source, p.w, row, row_taps<DATA>(s, p.column), a);
        put<T, DATA, PLAIN>(y + to, value, z + to, bias + p.channel, a);
        GPU_UNROLL
        for (int q = 0; !PLAIN && q + 1 < ROWS; q++)
            sum[q] = sum[q + 1];
    }
}

/* x, w and y are the source, the filter and the result; DATA: of backward-data. */
template <class T, bool DATA, bool PLAIN>
static __device__ __forceinline__ void dw_gplane(const T *__restrict__ x, const T *__restrict__ w,
                                                 T *y, const T *z, const T *bias,
                                                 const gdnn_args &a)
{
    if (!PLAIN)
        address_absent<T>(z, bias, y, a);
    GPU_DYN_SHARED(float, filters);
    const int ROWS = GDNN_GPLANE_ROWS;
    const gdnn_tiling &t = a.tiling;
    const int filter_w = (int)a.axis[2].filter_div.value;
    GPlanePlace<T> p = gplane_place<T, DATA>(x, w, filters, a);
    if (t.one_chunk) {
        if (p.exists)
            load_chunk<T, DATA>(p.filter, p.w, p.slot, 0, 0, 0, a);
        __syncthreads();
    }
    int row = p.row, begin = p.begin;
    GPU_NO_UNROLL
    for (int group = 0; group < t.rows; group++) {
        float total[ROWS] = {};
        GPlanePlace<T> of = p; /* this output channel's */
        int outputs = DATA ? (int)a.kpg.value : 1;
        GPU_NO_UNROLL
        for (int m = 0, phase = 0, tap = 0, column = 0; m < outputs;) {
            if (!t.one_chunk) {
                __syncthreads();
                if (p.exists)
                    load_chunk<T, DATA>(p.filter, of.w, p.slot, phase, tap, column, a);
                __syncthreads();
            }
            float sum[ROWS] = {};
            add_chunk<T, DATA>(of, begin, phase, tap, column, a, sum);
            GPU_UNROLL
            for (int q = 0; q < ROWS; q++)
                total[q] += sum[q];
            /* the next chunk */
            if ((column += t.chunk_columns) < filter_w)
                continue;
            column = 0;
            if ((tap += t.chunk_rows) < t.taps)
                continue;
            tap = 0;
            if ((phase += t.chunk_phases) < t.tap_phases)
                continue;
            phase = 0;
            m++;
            of.w += a.w_stride_k;
            of.source += a.axis[1].out * a.axis[2].out;
        }
        put_rows<T, DATA, PLAIN>(p, row, y, z, bias, total, a);
        row += ROWS * t.row_step;
        begin += ROWS * (int)t.source_step.value;
    }
}

#endif
