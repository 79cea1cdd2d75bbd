/* Depthwise convolution, channels last: rows through a ring in shared memory.
 *
 * A thread owns CHANNELS neighbouring channels of a strip of COLUMNS outputs and marches down the rows. Each row of x is
 * brought once, by asynchronous copies that run RING - 1 rows ahead; its columns beyond the image are zeros that were
 * written before. A row of x takes part in up to FILTER_H / STRIDE rows of y: as many sets of sums rotate, at no cost,
 * since the loop over rows is unrolled by a whole turn. Filters stay in registers.
 *
 * A block has `lanes` threads along the channels and `strips` along the columns, for each of its `images`. A dilated
 * problem is run as its undilated sub-grids, each by blocks of its own. How the block is chosen: src/ring.c. */
#ifndef GDNN_DW_RING_H
#define GDNN_DW_RING_H

#include "depthwise.h"
#include "dw_ring_host.h"

template <int FILTER_H_, int FILTER_W_, int STRIDE_, int CHANNELS_, int COLUMNS_>
struct RingShape {
    static const int FILTER_H = FILTER_H_, FILTER_W = FILTER_W_, STRIDE = STRIDE_;
    static const int CHANNELS = CHANNELS_, COLUMNS = COLUMNS_;
    static const int TAPS = FILTER_H * FILTER_W;
    static const int SETS = (FILTER_H + STRIDE - 1) / STRIDE; /* rows of y in the making */
    static const int TURN = SETS * STRIDE; /* rows of x until the sets are where they were */
    static const int IN_COLUMNS = (COLUMNS - 1) * STRIDE + FILTER_W;
};

/* The part of the problem that a block, and in it this thread, works on. */
struct RingPlace {
    SubAxis h, w;
    int first_row, end_row; /* rows of y */
    int first_strip;        /* first column of y of the block */
    int group, in_group;    /* threads of an image, and which of them this is */
    int image, strip, lane; /* in the block */
    int64_t n;
    int channel_tile, channel; /* first channels of the block, of the thread */
    int step_h, step_w;        /* dilations */
    int phase_h, phase_w;
};

template <class S>
static __device__ __forceinline__ RingPlace ring_place(const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    RingPlace p;
    int64_t block = blockIdx.x;
    p.channel_tile = (int)peel(block, t.channel_tiles) * t.lanes * S::CHANNELS;
    p.first_strip = (int)peel(block, t.strip_tiles) * t.strips * S::COLUMNS;
    int slab = (int)peel(block, t.slabs);
    p.step_h = (int)a.axis[1].dilation.value;
    p.step_w = (int)a.axis[2].dilation.value;
    p.phase_h = (int)peel(block, a.axis[1].dilation);
    p.phase_w = (int)peel(block, a.axis[2].dilation);
    p.h = sub_axis(a.axis[1], p.phase_h);
    p.w = sub_axis(a.axis[2], p.phase_w);
    p.first_row = slab * t.rows;
    p.end_row = min(p.first_row + t.rows, p.h.out);

    p.group = t.lanes * t.strips;
    p.image = small_divide(threadIdx.x, t.group_inverse);
    p.in_group = threadIdx.x - p.image * p.group;
    p.strip = small_divide(p.in_group, t.lanes_inverse);
    p.lane = p.in_group - p.strip * t.lanes;
    p.n = block * t.images + p.image;
    p.channel = p.channel_tile + p.lane * S::CHANNELS;
    return p;
}

/* Where a thread writes: COLUMNS columns of CHANNELS channels, of which some may lie outside of y. */
template <class T>
struct RingOut {
    T *y;
    const T *z, *bias;
    int column;            /* elements from one column to the next */
    int columns, channels; /* inside of y */
    bool wide;             /* all of them, and aligned */
};

template <class T, class S>
static __device__ __forceinline__ RingOut<T> ring_out(const RingPlace &p, T *y, const T *z,
                                                      const T *bias, const gdnn_args &a)
{
    RingOut<T> out;
    int q = p.first_strip + p.strip * S::COLUMNS, channels = (int)a.k;
    int64_t at =
        ((p.n * a.axis[1].out + p.phase_h) * a.axis[2].out + q * p.step_w + p.phase_w) * channels +
        p.channel;
    out.y = y + at;
    out.z = z + at;
    out.bias = bias + p.channel;
    out.column = p.step_w * channels;
    bool present = p.image < a.tiling.images && p.n < a.n;
    out.columns = present ? max(min(S::COLUMNS, p.w.out - q), 0) : 0;
    out.channels = max(min(S::CHANNELS, channels - p.channel), 0);
    out.wide = out.columns == S::COLUMNS && out.channels == S::CHANNELS &&
               ((uintptr_t)y | (uint64_t)channels * sizeof(T)) % (S::CHANNELS * sizeof(T)) == 0;
    return out;
}

template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void store_row(const RingOut<T> &out, int64_t row,
                                                 const float (&sum)[S::COLUMNS][S::CHANNELS],
                                                 const gdnn_args &a)
{
    if (PLAIN && out.wide) {
        T *to = out.y + row;
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++, to += out.column)
            store_values<T, S::CHANNELS>(to, sum[q]);
        return;
    }
    GPU_UNROLL
    for (int q = 0; q < S::COLUMNS; q++)
        GPU_UNROLL
    for (int c = 0; c < S::CHANNELS; c++)
        if (q < out.columns && c < out.channels) {
            int64_t at = row + q * out.column + c;
            float value = sum[q][c];
            if (!PLAIN)
                value = forward_end(value, out.z + at, out.y + at, out.bias + c, a);
            store(out.y + at, value);
        }
}

/* The rows of x that a group of threads brings, and this thread's share of one: every column_step-th column from `column`,
 * of which it copies every part_step-th chunk from `part`. */
template <class T>
struct RingSource {
    const T *row; /* the row to be brought next, at the first column that exists */
    int left;     /* rows to be brought */
    T *slot;      /* where that column is in slot 0 of the ring */
    int columns;  /* that exist */
    int column, column_step, part, part_step;
    int chunk;         /* bytes of a copy */
    int parts, filled; /* chunks of a column in the ring, and of those the ones inside of x */
    int64_t x_row;
    int x_column, pitch; /* elements from one column to the next, in x and in the ring */
};

template <class T, class S>
static __device__ __forceinline__ RingSource<T> ring_source(const RingPlace &p, const T *x,
                                                            T *images, const gdnn_args &a)
{
    RingSource<T> s;
    const gdnn_tiling &t = a.tiling;
    int channels = (int)a.c, width = (t.strips * S::COLUMNS - 1) * S::STRIDE + S::FILTER_W;
    s.pitch = t.lanes * S::CHANNELS;
    s.x_column = p.step_w * channels;
    s.x_row = (int64_t)p.step_h * a.axis[2].in * channels;

    int window = p.first_strip * S::STRIDE - p.w.pad; /* column of x that is the ring's first */
    int before = max(-window, 0), end = min(window + width, p.w.in);
    s.columns = max(end - window - before, 0);
    int first = max(p.first_row * S::STRIDE - p.h.pad, 0);
    int last = min((p.end_row - 1) * S::STRIDE - p.h.pad + S::FILTER_H, p.h.in);
    s.left = last - first;
    s.row = x +
            ((p.n * a.axis[1].in + p.h.first + (int64_t)first * p.step_h) * a.axis[2].in +
             p.w.first + (int64_t)(window + before) * p.step_w) *
                channels +
            p.channel_tile;
    T *image = images + p.image * width * s.pitch;
    s.slot = image + before * s.pitch;

    s.chunk = alignment_of((uintptr_t)x | (uint64_t)channels * sizeof(T) | s.pitch * sizeof(T));
    s.chunk = s.chunk == 8 ? 4 : s.chunk;
    int elements = s.chunk / (int)sizeof(T);
    s.parts = s.pitch / elements;
    s.filled = min(s.parts, (channels - p.channel_tile) / elements);
    s.part_step = min(s.parts, p.group);
    s.column_step = p.group / s.part_step;
    s.column = p.in_group / s.part_step;
    s.part = p.in_group - s.column * s.part_step;
    bool present = p.image < t.images && p.n < a.n;
    if (!present || s.column >= s.column_step)
        s.columns = 0;

    /* what no copy writes: the columns beyond the image, in every slot */
    if (present)
        for (int i = p.in_group; i < width * s.pitch; i += p.group)
            if (i < before * s.pitch || i >= (end - window) * s.pitch)
                for (int slot = 0; slot < GDNN_RING; slot++)
                    image[slot * t.images * width * s.pitch + i] = T(0.0f);
    return s;
}

template <int BYTES, class T>
static __device__ __forceinline__ void fetch_chunks(const RingSource<T> &s, T *slot)
{
    const int ELEMENTS = BYTES / (int)sizeof(T);
    GPU_NO_UNROLL
    for (int part = s.part; part < s.parts; part += s.part_step) {
        const T *from = s.row + (int64_t)s.column * s.x_column + part * ELEMENTS;
        T *to = slot + s.column * s.pitch + part * ELEMENTS;
        bool inside = part < s.filled;
        GPU_NO_UNROLL
        for (int column = s.column; column < s.columns; column += s.column_step) {
            copy_chunk<BYTES>(to, from, inside);
            from += (int64_t)s.column_step * s.x_column;
            to += s.column_step * s.pitch;
        }
    }
}

/* Starts the next row's copies, if there is one, into the slot at `offset`; a commit in any case. */
template <class T>
static __device__ __forceinline__ void fetch_row(RingSource<T> &s, int offset)
{
    if (s.left > 0) {
        if (s.chunk == 16)
            fetch_chunks<16>(s, s.slot + offset);
        else if (sizeof(T) == 4 || s.chunk == 4)
            fetch_chunks<4>(s, s.slot + offset);
        else
            fetch_chunks<sizeof(T)>(s, s.slot + offset);
        s.row += s.x_row;
        s.left--;
    }
    gpu_cp_async_commit();
}

/* One row of x, at `row` in shared memory, into all sets. It is row `u` of a turn, in which set u / STRIDE begins. */
template <class T, class S>
static __device__ __forceinline__ void add_row(const T *row, int pitch, int u,
                                               const float (&filter)[S::TAPS][S::CHANNELS],
                                               float (&sum)[S::SETS][S::COLUMNS][S::CHANNELS])
{
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++, row += pitch) {
        float x[S::CHANNELS];
        load_values<T, S::CHANNELS>(row, x);
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++) {
            const int s = j - q * S::STRIDE;
            if (s < 0 || s >= S::FILTER_W)
                continue;
            GPU_UNROLL
            for (int i = 0; i < S::SETS; i++) {
                const int r = i * S::STRIDE + u % S::STRIDE;
                if (r >= S::FILTER_H)
                    continue;
                const int set = (u / S::STRIDE - i + S::SETS) % S::SETS;
                GPU_UNROLL
                for (int c = 0; c < S::CHANNELS; c++)
                    sum[set][q][c] = r == 0 && s == 0 ? filter[0][c] * x[c]
                                                      : fmaf(filter[r * S::FILTER_W + s][c], x[c],
                                                             sum[set][q][c]);
            }
        }
    }
}

/* The outputs of a thread from the definition, tap by tap without the padding: for filters that are not finite. `x` is
 * the thread's first channel at the sub-grid's first element, `filter` its first filter in shared memory. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void
exact_rows(const RingPlace &p, const RingOut<T> &out, const T *x, const T *filter, bool flipped,
           int64_t x_row, int x_column, int64_t y_row, const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (int row = p.first_row; row < p.end_row; row++)
        GPU_NO_UNROLL
    for (int q = 0; q < out.columns; q++)
        GPU_NO_UNROLL
    for (int c = 0; c < out.channels; c++) {
        int i0 = row * S::STRIDE - p.h.pad;
        int j0 = (p.first_strip + p.strip * S::COLUMNS + q) * S::STRIDE - p.w.pad;
        float sum = 0;
        GPU_NO_UNROLL
        for (int tap = 0; tap < S::TAPS; tap++) {
            int i = i0 + tap / S::FILTER_W, j = j0 + tap % S::FILTER_W;
            if (i < 0 || i >= p.h.in || j < 0 || j >= p.w.in)
                continue;
            int at = c * S::TAPS + (flipped ? S::TAPS - 1 - tap : tap);
            sum = fmaf(load(filter + at), load(x + i * x_row + (int64_t)j * x_column + c), sum);
        }
        int64_t at = row * y_row + q * out.column + c;
        if (!PLAIN)
            sum = forward_end(sum, out.z + at, out.y + at, out.bias + c, a);
        store(out.y + at, sum);
    }
}

template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void dw_ring(const T *__restrict__ x, const T *__restrict__ w,
                                               T *y, const T *z, const T *__restrict__ bias,
                                               const gdnn_args &a)
{
    GPU_DYN_SHARED(T, shared);
    const gdnn_tiling &t = a.tiling;
    RingPlace p = ring_place<S>(a);
    if (p.first_row >= p.end_row || p.first_strip >= p.w.out)
        return;

    int tile = t.lanes * S::CHANNELS, channels = (int)a.c;
    int width = (t.strips * S::COLUMNS - 1) * S::STRIDE + S::FILTER_W;
    int slot_size = t.images * width * tile;
    T *filters = shared, *ring = shared + gdnn_ring_filters(tile * S::TAPS, sizeof(T));
    copy_run(filters, w + (int64_t)p.channel_tile * S::TAPS,
             min(tile, channels - p.channel_tile) * S::TAPS, tile * S::TAPS, threadIdx.x,
             blockDim.x);
    gpu_cp_async_commit();
    RingSource<T> source = ring_source<T, S>(p, x, ring, a);
    int to = 0, from = 0; /* offsets of slots */
    for (int i = 0; i < GDNN_RING - 1; i++, to += slot_size)
        fetch_row(source, to);
    gpu_cp_async_wait<GDNN_RING - 1>();
    __syncthreads();

    RingOut<T> out = ring_out<T, S>(p, y, z, bias, a);
    int64_t y_row = (int64_t)p.step_h * a.axis[2].out * channels;
    const T *own = filters + p.lane * S::CHANNELS * S::TAPS;
    bool flipped = filter_is_flipped<S::FILTER_W>(a), active = out.columns && out.channels;
    float filter[S::TAPS][S::CHANNELS];
    load_filters<T, S::TAPS, S::CHANNELS>(own, flipped, filter);
    if (__syncthreads_or(!all_finite<S::TAPS, S::CHANNELS>(filter))) {
        gpu_cp_async_wait<0>();
        const T *origin = x +
                          ((p.n * a.axis[1].in + p.h.first) * a.axis[2].in + p.w.first) * channels +
                          p.channel;
        exact_rows<T, S, PLAIN>(p, out, origin, own, flipped, source.x_row, source.x_column, y_row,
                                a);
        return;
    }

    float sum[S::SETS][S::COLUMNS][S::CHANNELS] = {};
    const T *row =
        ring + (p.image * width + p.strip * S::COLUMNS * S::STRIDE) * tile + p.lane * S::CHANNELS;
    int i = p.first_row * S::STRIDE - p.h.pad, ready = i + S::FILTER_H - 1;
    int end = (p.end_row - 1) * S::STRIDE - p.h.pad + S::FILTER_H;
    int64_t y_at = p.first_row * y_row;
    for (;;) {
        GPU_UNROLL
        for (int u = 0; u < S::TURN; u++, i++) {
            if (i >= end)
                return;
            if (i >= 0 && i < p.h.in) {
                gpu_cp_async_wait<GDNN_RING - 2>();
                __syncthreads();
                fetch_row(source, to);
                to = to == (GDNN_RING - 1) * slot_size ? 0 : to + slot_size;
                if (active)
                    add_row<T, S>(row + from, tile, u, filter, sum);
                from = from == (GDNN_RING - 1) * slot_size ? 0 : from + slot_size;
            } else if (u % S::STRIDE == 0) {
                GPU_UNROLL
                for (int q = 0; q < S::COLUMNS; q++)
                    GPU_UNROLL
                for (int c = 0; c < S::CHANNELS; c++)
                    sum[u / S::STRIDE][q][c] = 0;
            }
            if (u % S::STRIDE == (S::FILTER_H - 1) % S::STRIDE && i >= ready) {
                const int set = (u / S::STRIDE - (S::FILTER_H - 1) / S::STRIDE + S::SETS) % S::SETS;
                if (active)
                    store_row<T, S, PLAIN>(out, y_at, sum[set], a);
                y_at += y_row;
            }
        }
    }
}

#endif
