/* Depthwise convolution, channels last: rows through a ring in shared memory.
 *
 * A thread owns CHANNELS neighbouring channels of a strip of COLUMNS outputs and marches down the rows. Each row of x is
 * brought once, by asynchronous copies that run RING - 1 rows ahead; its columns beyond the image are zeros that were
 * written before. A row of x takes part in up to FILTER_H / STRIDE rows of y: as many sets of sums rotate, at no cost,
 * since the loop over rows is unrolled by a whole turn. Filters stay in registers.
 *
 * A block has `lanes` threads along the channels and `strips` along the columns, for each of its `images`, and takes
 * `turns` such sets of images one after another; the ring does not run empty in between. A dilated
 * problem is run as its undilated sub-grids, each by blocks of its own. How the block is chosen: src/ring.c. */
#ifndef GDNN_DW_RING_H
#define GDNN_DW_RING_H

#include "depthwise.h"
#include "dw_ring_host.h"

template <class T>
struct RingOut;

template <int FILTER_H_, int FILTER_W_, int STRIDE_, int CHANNELS_, int COLUMNS_, int RING_>
struct RingShape {
    template <class T>
    using Out = RingOut<T>; /* where a thread writes */
    static const int FILTER_H = FILTER_H_, FILTER_W = FILTER_W_, STRIDE = STRIDE_;
    static const int CHANNELS = CHANNELS_, COLUMNS = COLUMNS_;
    static const int RING = RING_; /* slots of the ring, each for a row */
    static const int TAPS = FILTER_H * FILTER_W;
    static const int SETS = (FILTER_H + STRIDE - 1) / STRIDE; /* rows of y in the making */
    static const int IN_COLUMNS = (COLUMNS - 1) * STRIDE + FILTER_W;
    static const int SUMS = COLUMNS; /* of a step, for each channel */
};

/* The part of the problem that a block, and in it this thread, works on. */
struct RingPlace {
    SubAxis h, w;
    int first_row, end_row;    /* rows of y */
    int first_strip;           /* first column of y of the block */
    int group, in_group;       /* threads of an image, and which of them this is */
    int image, strip, lane;    /* in the block */
    int64_t n;                 /* first image */
    int64_t x_at;              /* where its sub-grid begins in x */
    int present;               /* how many images of this thread there are, one after another */
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
    p.n = block * t.turns * t.images + p.image;
    p.x_at = ((p.n * a.axis[1].in + p.h.first) * a.axis[2].in + p.w.first) * a.c;
    int64_t images = (a.n - p.n + t.images - 1) / t.images;
    p.present = p.image < t.images ? (int)max(min(images, (int64_t)t.turns), (int64_t)0) : 0;
    p.channel = p.channel_tile + p.lane * S::CHANNELS;
    return p;
}

/* Where a thread writes: COLUMNS columns of CHANNELS channels, of which some may lie outside of y. */
template <class T>
struct RingOut {
    char *y; /* in the row to be stored next */
    const char *z;
    const T *bias;
    int columns, channels; /* inside of y */
    int access;            /* a RingAccess */
};

enum RingAccess {
    RING_ELEMENTS, /* channels that are not all inside, or not aligned */
    RING_VECTORS,  /* all channels at once */
    RING_ALL       /* and all columns are inside */
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
    at += p.first_row * a.tiling.y_row;
    out.y = reinterpret_cast<char *>(y + at);
    out.z = reinterpret_cast<const char *>(z + at);
    out.bias = bias + p.channel;
    out.columns = p.present ? max(min(S::COLUMNS, p.w.out - q), 0) : 0;
    out.channels = max(min(S::CHANNELS, channels - p.channel), 0);
    uint64_t alignment = (uintptr_t)y | (uint64_t)channels * sizeof(T);
    if (a.has_z)
        alignment |= (uintptr_t)z;
    if (a.has_bias)
        alignment |= (uintptr_t)bias;
    bool vectors = out.channels == S::CHANNELS && alignment % (S::CHANNELS * sizeof(T)) == 0;
    out.access = !vectors ? RING_ELEMENTS : out.columns == S::COLUMNS ? RING_ALL : RING_VECTORS;
    gpu_keep(out.access);
    return out;
}

template <class T, bool PLAIN>
static __device__ __forceinline__ void store_one(const RingOut<T> &out, int64_t at, int channel,
                                                 float value, const gdnn_args &a)
{
    T *y = reinterpret_cast<T *>(out.y) + at;
    if (!PLAIN)
        value =
            forward_end(value, reinterpret_cast<const T *>(out.z) + at, y, out.bias + channel, a);
    store(y, value);
}

/* forward_end for neighbouring channels. */
template <class T, int V>
static __device__ __forceinline__ void end_values(float (&value)[V], const char *z, const char *y,
                                                  const T *bias, const gdnn_args &a)
{
    float other[V];
    GPU_UNROLL
    for (int c = 0; c < V; c++)
        value[c] *= a.alpha.f32;
    if (a.has_z) {
        load_values<T, V>(reinterpret_cast<const T *>(z), other);
        GPU_UNROLL
        for (int c = 0; c < V; c++)
            value[c] = fmaf(a.alpha2.f32, other[c], value[c]);
    }
    if (a.beta.nonzero) {
        load_values<T, V>(reinterpret_cast<const T *>(y), other);
        GPU_UNROLL
        for (int c = 0; c < V; c++)
            value[c] = fmaf(a.beta.f32, other[c], value[c]);
    }
    if (a.has_bias) {
        load_values<T, V>(bias, other);
        GPU_UNROLL
        for (int c = 0; c < V; c++)
            value[c] += other[c];
    }
    if (a.relu) {
        GPU_UNROLL
        for (int c = 0; c < V; c++)
            value[c] = value[c] < 0 ? 0 : value[c]; /* a NaN stays */
    }
}

template <class T, class S, bool PLAIN, bool GUARDED>
static __device__ __forceinline__ void store_vectors(const RingOut<T> &out,
                                                     const float (&sum)[S::COLUMNS][S::CHANNELS],
                                                     const gdnn_args &a)
{
    char *y = out.y;
    const char *z = out.z;
    const int step = a.tiling.y_column_bytes;
    GPU_UNROLL
    for (int q = 0; q < S::COLUMNS; q++, y += step, z += step) {
        if (GUARDED && q >= out.columns)
            continue;
        float value[S::CHANNELS];
        GPU_UNROLL
        for (int c = 0; c < S::CHANNELS; c++)
            value[c] = sum[q][c];
        if (!PLAIN)
            end_values<T, S::CHANNELS>(value, z, y, out.bias, a);
        store_values<T, S::CHANNELS>(reinterpret_cast<T *>(y), value);
    }
}

/* Channel by channel in a loop, which picks its sums: rare, and long if it were unrolled. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void store_elements(const RingOut<T> &out,
                                                      const float (&sum)[S::COLUMNS][S::CHANNELS],
                                                      const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (int c = 0; c < out.channels; c++) {
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++) {
            float value = sum[q][0];
            GPU_UNROLL
            for (int i = 1; i < S::CHANNELS; i++)
                value = i == c ? sum[q][i] : value;
            if (q < out.columns)
                store_one<T, PLAIN>(out, (int64_t)q * a.tiling.y_column + c, c, value, a);
        }
    }
}

/* Stores a row of y and goes on to the next one. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void
store_row(RingOut<T> &out, const float (&sum)[S::COLUMNS][S::CHANNELS], const gdnn_args &a)
{
    if (PLAIN && out.access == RING_ALL)
        store_vectors<T, S, PLAIN, false>(out, sum, a);
    else if (out.access != RING_ELEMENTS)
        store_vectors<T, S, PLAIN, true>(out, sum, a);
    else
        store_elements<T, S, PLAIN>(out, sum, a);
    out.y += a.tiling.y_row_bytes;
    if (!PLAIN)
        out.z += a.tiling.y_row_bytes;
}

/* From behind the `rows` rows that were stored to the first one in the images of the next turn. */
template <bool PLAIN, class T>
static __device__ __forceinline__ void next_images(RingOut<T> &out, int rows, const gdnn_tiling &t)
{
    int64_t next = t.y_turn_bytes - rows * t.y_row_bytes;
    out.y += next;
    if (!PLAIN)
        out.z += next;
}

template <class T>
static __device__ __forceinline__ void store_no_more(RingOut<T> &out)
{
    out.columns = 0;
    out.access = RING_VECTORS;
}

/* A thread's share of bringing a row of x: some of its columns, one chunk of each. */
template <class T>
struct RingSource {
    const char *from; /* of the row to be brought next */
    gpu_shared to;    /* in slot 0 */
    int span;         /* bytes from `to` to behind the last of its columns */
    int rows, left;   /* of an image; of this one that are not brought */
    int images;       /* that are not brought in full */
    int chunk;        /* bytes of a copy; 0: element by element, all chunks of every column */
};

/* Zeros, in all slots, where no copy writes: in columns `first` to `end` - 1 the channels beyond the first `own` ones,
 * and all other columns. */
template <class T, class S>
static __device__ __forceinline__ void clear_edges(T *image, int first, int end, int own,
                                                   const RingPlace &p, const gdnn_tiling &t)
{
    const int VECTOR = 16 / (int)sizeof(T);
    int inside = (end - first) * t.tile, edges = t.width * t.tile - inside;
    for (int slot = 0; slot < S::RING; slot++, image += t.slot) {
        if (t.chunk == 16)
            for (int i = p.in_group * VECTOR; i < edges; i += p.group * VECTOR)
                *reinterpret_cast<uint4 *>(image + i + (i < first * t.tile ? 0 : inside)) =
                    make_uint4(0, 0, 0, 0);
        else
            for (int i = p.in_group; i < edges; i += p.group)
                image[i + (i < first * t.tile ? 0 : inside)] = T(0.0f);
        if (own < t.tile)
            for (int i = p.in_group; i < inside; i += p.group)
                if (i % t.tile >= own)
                    image[first * t.tile + i] = T(0.0f);
    }
}

template <class T, class S>
static __device__ __forceinline__ RingSource<T> ring_source(const RingPlace &p, const T *x,
                                                            T *images, const gdnn_args &a)
{
    RingSource<T> s;
    const gdnn_tiling &t = a.tiling;
    int own = min(t.tile, (int)a.c - p.channel_tile);

    int window = p.first_strip * S::STRIDE - p.w.pad; /* column of x that is the ring's first */
    int before = max(-window, 0), end = max(min(window + t.width, p.w.in), window + before);
    int first = max(p.first_row * S::STRIDE - p.h.pad, 0);
    int last = min((p.end_row - 1) * S::STRIDE - p.h.pad + S::FILTER_H, p.h.in);
    s.rows = s.left = last - first;
    s.images = p.present;

    int column = 0, part = p.in_group, step = 1;
    s.chunk = t.chunk < 4 || (uintptr_t)x % t.chunk ? 0 : t.chunk;
    if (s.chunk) {
        column = small_divide(p.in_group, t.parts_inverse);
        part = (p.in_group - column * t.parts) * (t.chunk / (int)sizeof(T));
        step = t.copies;
    }
    gpu_keep(s.chunk);
    bool copies = p.present && part < own && (!s.chunk || column < step) && s.left > 0;
    int count = copies ? (end - window - before - column + step - 1) / step : 0;
    s.span = count * step * t.tile_bytes;
    column += before;
    T *image = images + p.image * t.width * t.tile;
    s.to = gpu_shared_address(image + column * t.tile + part);
    s.from = reinterpret_cast<const char *>(x + p.x_at + part + p.channel_tile + first * t.x_row +
                                            (int64_t)(window + column) * t.x_column);
    if (p.present)
        clear_edges<T, S>(image, before, end - window, own, p, t);
    return s;
}

/* Starts the next row's copies, if there is one, into the slot at `offset`; a commit in any case. */
template <class T, class S>
static __device__ __forceinline__ void fetch_row(RingSource<T> &s, int offset, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    gpu_shared to = s.to + offset;
    if (!copy_chunks_of(s.chunk, s.from, to, s.span, t)) {
        int64_t block = blockIdx.x;
        int channel_tile = (int)peel(block, t.channel_tiles) * t.tile;
        copy_elements<T>(s.from, to, s.span, min(t.tile, (int)a.c - channel_tile), t);
    }
    s.from += t.x_row_bytes;
    if (--s.left <= 0) {
        s.left = s.rows;
        s.from += t.x_turn_bytes - s.rows * t.x_row_bytes;
        if (--s.images <= 0)
            s.span = 0;
    }
    gpu_cp_async_commit();
}

/* The outputs of a thread from the definition, tap by tap without the padding: for filters that are not finite. `x` is
 * the thread's first channel at the sub-grid's first element, `filter` its first filter in shared memory. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void exact_rows(const RingPlace &p, const RingOut<T> &out,
                                                  const T *x, const T *filter, bool flipped,
                                                  const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (int row = p.first_row; row < p.end_row; row++) {
        GPU_NO_UNROLL
        for (int q = 0; q < out.columns; q++) {
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
                    sum = fmaf(load(filter + at),
                               load(x + i * a.tiling.x_row + (int64_t)j * a.tiling.x_column + c),
                               sum);
                }
                int64_t to = (row - p.first_row) * a.tiling.y_row + (int64_t)q * a.tiling.y_column;
                store_one<T, PLAIN>(out, to + c, c, sum, a);
            }
        }
    }
}

/* A thread on its march. A step is a row of y: STRIDE rows of x. Of the sets of sums, number U % SETS is that of the row of y
 * to which the rows of step U are the first; the one before it is number (U - 1) % SETS, and so on. */
template <class T, class S>
struct RingMarch {
    RingSource<T> source;
    typename S::template Out<T> out;
    gpu_shared row; /* the thread's first element of slot 0 */
    int slot, free; /* offsets of the slots to be read and filled next */
    int left;       /* whole steps on rows of x */
    int early;      /* rows of y above the slab that will be completed first */
    int rows;       /* of y, to be stored */
    float filter[S::TAPS][S::CHANNELS];
    float sum[S::SETS][S::SUMS][S::CHANNELS];
};

/* Waits for the next row and starts the copies of another one into the slot that has been read. */
template <class T, class S>
static __device__ __forceinline__ gpu_shared next_row(RingMarch<T, S> &m, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    gpu_cp_async_wait<S::RING - 2>();
    __syncthreads();
    fetch_row<T, S>(m.source, m.free, a);
    m.free = m.slot;
    m.slot = m.slot == t.last_slot ? 0 : m.slot + t.slot_bytes;
    return m.row + m.free;
}

/* Row PHASE of step U of x into all sets. */
template <int U, int PHASE, class T, class S>
static __device__ __forceinline__ void add_row(RingMarch<T, S> &m, const gdnn_args &a)
{
    gpu_shared row = next_row(m, a);
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++, row += a.tiling.tile_bytes) {
        float x[S::CHANNELS];
        load_values<T, S::CHANNELS>(row, x);
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++) {
            const int s = j - q * S::STRIDE;
            if (s < 0 || s >= S::FILTER_W)
                continue;
            GPU_UNROLL
            for (int i = 0; i < S::SETS; i++) {
                const int r = i * S::STRIDE + PHASE, set = (U - i + S::SETS) % S::SETS;
                if (r >= S::FILTER_H)
                    continue;
                GPU_UNROLL
                for (int c = 0; c < S::CHANNELS; c++)
                    m.sum[set][q][c] = r == 0 && s == 0 ? m.filter[0][c] * x[c]
                                                        : fmaf(m.filter[r * S::FILTER_W + s][c],
                                                               x[c], m.sum[set][q][c]);
            }
        }
    }
}
/* Sets are numbered as if step U were step 0. */
template <int U, class T, class S>
static __device__ __forceinline__ void renumber(RingMarch<T, S> &m)
{
    float old[S::SETS][S::SUMS][S::CHANNELS];
    GPU_UNROLL
    for (int pass = 0; pass < 2; pass++) {
        GPU_UNROLL
        for (int set = 0; set < S::SETS; set++) {
            GPU_UNROLL
            for (int q = 0; q < S::SUMS; q++) {
                GPU_UNROLL
                for (int c = 0; c < S::CHANNELS; c++)
                    if (pass == 0)
                        old[set][q][c] = m.sum[set][q][c];
                    else
                        m.sum[set][q][c] = old[(set + U) % S::SETS][q][c];
            }
        }
    }
}

template <class T, class S>
static __device__ __forceinline__ void clear(float (&sum)[S::SUMS][S::CHANNELS])
{
    GPU_UNROLL
    for (int q = 0; q < S::SUMS; q++) {
        GPU_UNROLL
        for (int c = 0; c < S::CHANNELS; c++)
            sum[q][c] = 0;
    }
}

/* Stores a row of y that is complete, unless it is above the slab. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void
end_row(RingMarch<T, S> &m, const float (&sum)[S::SUMS][S::CHANNELS], const gdnn_args &a)
{
    if (m.early > 0) {
        m.early--;
        return;
    }
    store_row<T, S, PLAIN>(m.out, sum, a);
    m.rows--;
}

/* The row of y that step U completes. */
template <int U, class T, class S, bool PLAIN>
static __device__ __forceinline__ void complete_row(RingMarch<T, S> &m, const gdnn_args &a)
{
    const int SET = (U - (S::FILTER_H - 1) / S::STRIDE + S::SETS) % S::SETS;
    end_row<T, S, PLAIN>(m, m.sum[SET], a);
}

/* Rows PHASE to STRIDE - 1 of step U, all of them rows of x. */
template <int U, int PHASE, class T, class S, bool PLAIN>
static __device__ __forceinline__ void whole_step(RingMarch<T, S> &m, const gdnn_args &a)
{
    if constexpr (PHASE < S::STRIDE) {
        add_row<U, PHASE>(m, a);
        if constexpr (PHASE == (S::FILTER_H - 1) % S::STRIDE)
            complete_row<U, T, S, PLAIN>(m, a);
        whole_step<U, PHASE + 1, T, S, PLAIN>(m, a);
    }
}

/* A step of the march, all of whose rows are rows of x. Shapes other than RingShape overload it. */
template <int U, bool PLAIN, class T, class S>
static __device__ __forceinline__ void step(RingMarch<T, S> &m, const gdnn_args &a)
{
    whole_step<U, 0, T, S, PLAIN>(m, a);
}

/* The whole steps from U to the end of a turn. False: there is none left. */
template <int U, class T, class S, bool PLAIN>
static __device__ __forceinline__ bool march(RingMarch<T, S> &m, const gdnn_args &a)
{
    if constexpr (U < S::SETS) {
        if (m.left <= 0) {
            renumber<U>(m);
            return false;
        }
        step<U, PLAIN>(m, a);
        m.left--;
        return march<U + 1, T, S, PLAIN>(m, a);
    }
    return true;
}

/* Rows PHASE to STRIDE - 1 of step 0, of which rows `first` to `end` - 1 are rows of x and the others padding. */
template <int PHASE, class T, class S, bool PLAIN>
static __device__ __forceinline__ void part_step(RingMarch<T, S> &m, int first, int end,
                                                 const gdnn_args &a)
{
    if constexpr (PHASE < S::STRIDE) {
        if (PHASE >= first && PHASE < end)
            add_row<0, PHASE>(m, a);
        else if constexpr (PHASE == 0)
            clear<T, S>(m.sum[0]);
        if constexpr (PHASE == (S::FILTER_H - 1) % S::STRIDE)
            complete_row<0, T, S, PLAIN>(m, a);
        part_step<PHASE + 1, T, S, PLAIN>(m, first, end, a);
    } else {
        renumber<1>(m);
    }
}

template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void store_zero_rows(RingMarch<T, S> &m, int rows,
                                                       const gdnn_args &a)
{
    float zero[S::SUMS][S::CHANNELS];
    clear<T, S>(zero);
    GPU_NO_UNROLL
    for (; rows > 0; rows--, m.rows--)
        store_row<T, S, PLAIN>(m.out, zero, a);
}

/* The steps that meet rows `first` to `end` - 1 of x, from `step` on. */
template <class T, class S>
static __device__ __forceinline__ void plain_steps(RingMarch<T, S> &m, int first, int end, int step,
                                                   const gdnn_args &a)
{
    if (first % S::STRIDE && end > first) {
        part_step<0, T, S, true>(m, first - step * S::STRIDE, end - step * S::STRIDE, a);
        step++;
    }
    m.left = (end - step * S::STRIDE) / S::STRIDE;
    step += max(m.left, 0);
    while (march<0, T, S, true>(m, a)) {
    }
    if (S::STRIDE > 1 && step * S::STRIDE < end)
        part_step<0, T, S, true>(m, 0, end - step * S::STRIDE, a);
}

/* The same with full epilogues. They are long: there is the code of one step, after which sums move. */
template <class T, class S>
static __device__ __forceinline__ void full_steps(RingMarch<T, S> &m, int first, int end, int from,
                                                  const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (int v = from * S::STRIDE; v < end && first < end; v += S::STRIDE) {
        if constexpr (S::STRIDE > 1) {
            part_step<0, T, S, false>(m, first - v, end - v, a);
        } else {
            step<0, false>(m, a);
            renumber<1>(m);
        }
    }
}

/* All rows of a slab. v counts rows of x from the top of the padding, so that row v begins row v / STRIDE of y. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void march_rows(RingMarch<T, S> &m, const RingPlace &p,
                                                  const gdnn_args &a)
{
    const int BEHIND = (S::FILTER_H - 1) / S::STRIDE; /* steps from a row's first to its last */
    int first = max(p.first_row * S::STRIDE, p.h.pad);
    int end = max(min((p.end_row - 1) * S::STRIDE + S::FILTER_H, p.h.pad + p.h.in), first);
    int step = first / S::STRIDE;
    m.rows = p.end_row - p.first_row;
    m.early = max(p.first_row + BEHIND - step, 0);
    GPU_UNROLL
    for (int set = 1; set < S::SETS; set++) /* set 0 begins with the first row */
        clear<T, S>(m.sum[set]);

    store_zero_rows<T, S, PLAIN>(m, min(step - BEHIND - p.first_row, m.rows), a);
    if (PLAIN)
        plain_steps(m, first, end, step, a);
    else
        full_steps(m, first, end, step, a);

    /* rows of y that end in the padding below; the oldest set is number 1 */
    GPU_UNROLL
    for (int set = 1; PLAIN && set < S::SETS; set++)
        if (m.rows > 0)
            end_row<T, S, PLAIN>(m, m.sum[set], a);
    if (!PLAIN)
        clear<T, S>(m.sum[0]);
    GPU_NO_UNROLL
    for (; !PLAIN && m.rows > 0; renumber<1>(m)) {
        end_row<T, S, PLAIN>(m, m.sum[1], a);
        clear<T, S>(m.sum[1]);
    }
    if (PLAIN)
        store_zero_rows<T, S, PLAIN>(m, m.rows, a);
}

/* What the block at `p` does. */
template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void
ring_run(const RingPlace &p, const T *__restrict__ x, const T *__restrict__ w,
         const typename S::template Out<T> &out, const gdnn_args &a)
{
    GPU_DYN_SHARED(T, shared);
    const gdnn_tiling &t = a.tiling;
    if (p.first_row >= p.end_row || p.first_strip >= p.w.out)
        return;

    T *filters = shared, *ring = shared + gdnn_ring_filters(t.tile * S::TAPS, sizeof(T));
    copy_run(filters, w + (int64_t)p.channel_tile * S::TAPS,
             min(t.tile, (int)a.c - p.channel_tile) * S::TAPS, t.tile * S::TAPS, threadIdx.x,
             blockDim.x);
    gpu_cp_async_commit();

    RingMarch<T, S> m;
    m.source = ring_source<T, S>(p, x, ring, a);
    m.out = out;
    GPU_UNROLL
    for (int i = 0; i < S::RING - 1; i++)
        fetch_row<T, S>(m.source, i * t.slot_bytes, a);
    gpu_cp_async_wait<S::RING - 1>();
    __syncthreads();

    const T *own = filters + p.lane * S::CHANNELS * S::TAPS;
    bool flipped = filter_is_flipped<S::FILTER_W>(a);
    load_filters<T, S::TAPS, S::CHANNELS>(own, flipped, m.filter);
    int64_t turns = min((a.n - p.n + p.image + t.images - 1) / t.images, (int64_t)t.turns);
    if (__syncthreads_or(!all_finite<S::TAPS, S::CHANNELS>(m.filter))) {
        gpu_cp_async_wait<0>();
        const T *image = x + p.x_at + p.channel;
        GPU_NO_UNROLL
        for (int turn = 0; turn < p.present; turn++, image += t.x_turn_bytes / (int)sizeof(T)) {
            exact_rows<T, S, PLAIN>(p, m.out, image, own, flipped, a);
            next_images<PLAIN>(m.out, 0, t);
        }
        return;
    }

    /* A thread without outputs goes along, on what is there: a branch around its sums would cost registers. */
    int strip = p.strip * S::COLUMNS * S::STRIDE, image = p.present ? p.image : 0;
    m.row = gpu_shared_address(ring + (image * t.width + strip) * t.tile + p.lane * S::CHANNELS);
    m.slot = 0;
    m.free = t.last_slot;
    clear<T, S>(m.sum[0]);
    GPU_NO_UNROLL
    for (int turn = 1;; turn++) {
        march_rows<T, S, PLAIN>(m, p, a);
        if (turn == turns)
            return;
        next_images<PLAIN>(m.out, p.end_row - p.first_row, t);
        if (turn >= p.present)
            store_no_more(m.out);
    }
}

template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void dw_ring(const T *__restrict__ x, const T *__restrict__ w,
                                               T *y, const T *z, const T *bias, const gdnn_args &a)
{
    address_absent<T>(z, bias, y, a);
    RingPlace p = ring_place<S>(a);
    ring_run<T, S, PLAIN>(p, x, w, ring_out<T, S>(p, y, z, bias, a), a);
}

#endif
