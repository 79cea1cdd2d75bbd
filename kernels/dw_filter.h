/* Depthwise backward-filter, channels last: rows of x and of dy through a ring in shared memory, each read once.
 *
 * A thread owns CHANNELS neighbouring channels of a strip of COLUMNS columns of dy, and keeps their TAPS * CHANNELS sums
 * in registers while it marches down the rows, image after image. A step of the march is a row of dy and the STRIDE rows
 * of x that are the first it meets; the rows of dy of the SETS - 1 steps before are still in registers, in sets that
 * rotate at no cost, since the loop over steps is unrolled by a whole turn. Columns beyond the tensors are zeros in
 * the ring.
 *
 * A place is a strip tile, a slab of rows, a sub-grid of a dilated problem, and a run of images; a block does a few of
 * them in turn for its channels. Its strips are added up in order, and where several blocks share a sum, each writes its
 * part to the workspace, [split][K][taps], and a second launch (filter_finish.h) adds the parts.
 *
 * Long sums are sums of chains of some 1024 products. How all this is cut: src/filter_grid.c. */
#ifndef GDNN_DW_FILTER_H
#define GDNN_DW_FILTER_H

#include "depthwise.h"
#include "dw_ring_host.h"

template <int FILTER_H_, int FILTER_W_, int STRIDE_, int CHANNELS_, int COLUMNS_>
struct FilterShape {
    static const int FILTER_H = FILTER_H_, FILTER_W = FILTER_W_, STRIDE = STRIDE_;
    static const int CHANNELS = CHANNELS_, COLUMNS = COLUMNS_;
    static const int TAPS = FILTER_H * FILTER_W;
    static const int SETS =
        (FILTER_H + STRIDE - 1) / STRIDE; /* rows of dy that a step of x meets */
    static const int IN_COLUMNS = (COLUMNS - 1) * STRIDE + FILTER_W;
};

/* Which thread of its block this is. */
struct FilterThread {
    int group, in_group;    /* threads of an image, and which of them this is */
    int image, strip, lane; /* in the block */
    int channel_tile;       /* first channel of the block */
    bool there; /* false: it goes along with another one, and what it does counts nothing */
};

/* One place, for this thread's image. */
struct FilterPlace {
    SubAxis h, w;
    int first_row, end_row; /* rows of dy */
    int first_strip;        /* first column of dy of the block */
    int phase_h, phase_w;
    int64_t n;       /* the thread's first image */
    int rounds;      /* images one after the other */
    bool lacks_last; /* the last of them is none for this thread */
};

/* The steps of an image in a place, counted from the first row of dy that meets x. */
struct FilterSteps {
    int all;               /* 0: no row of dy meets x */
    int before;            /* steps without rows of x */
    int dy_rows;           /* steps with a row of dy */
    int x_rows;            /* rows of x */
    int first_phase;       /* rows of padding in the first step with rows of x */
    int first_dy, first_x; /* the first rows, of the sub-grid */
};

template <class S>
static __device__ __forceinline__ FilterThread filter_thread(int64_t &block, const gdnn_tiling &t)
{
    FilterThread me;
    me.channel_tile = (int)peel(block, t.channel_tiles) * t.lanes * S::CHANNELS;
    me.group = t.lanes * t.strips;
    int thread = min((int)threadIdx.x, me.group * t.images - 1);
    me.there = thread == (int)threadIdx.x;
    me.image = small_divide(thread, t.group_inverse);
    me.in_group = thread - me.image * me.group;
    me.strip = small_divide(me.in_group, t.lanes_inverse);
    me.lane = me.in_group - me.strip * t.lanes;
    return me;
}

template <class S>
static __device__ __forceinline__ FilterPlace filter_place(int64_t at, const FilterThread &me,
                                                           const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    FilterPlace p;
    p.first_strip = (int)peel(at, t.strip_tiles) * t.strips * S::COLUMNS;
    p.first_row = (int)peel(at, t.slabs) * t.rows;
    p.phase_h = (int)peel(at, a.axis[1].dilation);
    p.phase_w = (int)peel(at, a.axis[2].dilation);
    p.h = sub_axis(a.axis[1], p.phase_h);
    p.w = sub_axis(a.axis[2], p.phase_w);
    p.end_row = p.first_strip < p.w.out ? min(p.first_row + t.rows, p.h.out) : 0;
    int64_t first = at * t.depth * t.images, left = divide_up(a.n - first, t.images);
    p.n = first + me.image;
    p.rounds = left < t.depth ? (int)left : t.depth;
    p.lacks_last = p.n + (int64_t)(p.rounds - 1) * t.images >= a.n;
    return p;
}

/* v counts rows of x from the top of the padding, so that row v belongs to step v / STRIDE of the march through all of dy. */
template <class S>
static __device__ __forceinline__ FilterSteps filter_steps(const FilterPlace &p)
{
    FilterSteps s = {0, 0, 0, 0, 0, 0, 0};
    int first = max(p.first_row * S::STRIDE, p.h.pad);
    int end = min((p.end_row - 1) * S::STRIDE + S::FILTER_H, p.h.pad + p.h.in);
    if (p.first_row >= p.end_row || first >= end)
        return s;
    int step = first / S::STRIDE, last = (end - 1) / S::STRIDE;
    s.first_dy = max(p.first_row, step - (S::SETS - 1));
    s.first_x = first - p.h.pad;
    s.all = last + 1 - s.first_dy;
    s.before = step - s.first_dy;
    s.dy_rows = min(p.end_row, last + 1) - s.first_dy;
    s.x_rows = end - first;
    s.first_phase = first - step * S::STRIDE;
    return s;
}

/* A thread's share of bringing rows of one tensor: one chunk of some of its columns. */
template <class T>
struct FilterShare {
    const char *from; /* in the row to be brought next */
    gpu_shared to;    /* in slot 0 */
    int span;         /* bytes from `to` to behind the last of its columns */
};

template <class T>
struct FilterSource {
    FilterShare<T> x, dy;
    gpu_shared image; /* the image's part of slot 0 */
    int chunk;        /* bytes of a copy; 0: element by element, or zeros */
    int elements;     /* of a column, where they are copied one by one */
    int step;         /* to be brought next */
    int rounds;       /* images to be brought */
    bool lacks_last;  /* instead of the last of them zeros are */
};

/* Zeros in the columns of a row that no copy writes, those before `first` and from `end` on, in all slots. */
static __device__ __forceinline__ void filter_edges(gpu_shared row, int first, int end, int width,
                                                    const FilterThread &me, const gdnn_tiling &t)
{
    int before = first * t.tile_bytes, inside = end * t.tile_bytes - before;
    for (int i = me.in_group * 4; i < width * t.tile_bytes - inside; i += me.group * 4)
        for (int slot = 0; slot < GDNN_FILTER_RING; slot++)
            gpu_store_shared(row + slot * t.slot_bytes + i + (i < before ? 0 : inside), 0u);
}

/* The share of `rows` rows of a slot, from `to` on, with columns `window` to `window` + `width` - 1, of which 0 to
 * `columns` - 1 exist. */
template <class T>
static __device__ __forceinline__ FilterShare<T>
filter_share(const T *row, int window, int width, int columns, gpu_shared to, int rows, int chunk,
             const FilterThread &me, int own, const gdnn_tiling &t)
{
    int before = min(max(-window, 0), width), end = max(min(width, columns - window), before);
    int column = 0, part = me.in_group, step = 1;
    if (chunk) {
        column = small_divide(me.in_group, t.parts_inverse);
        part = (me.in_group - column * t.parts) * (t.chunk / (int)sizeof(T));
        step = t.copies;
    }
    bool copies = me.there && part < own && column < step;
    column += before;
    FilterShare<T> s;
    s.span = copies && column < end ? (end - column + step - 1) / step * step * t.tile_bytes : 0;
    s.to = to + (column * t.tile + part) * (int)sizeof(T);
    s.from = reinterpret_cast<const char *>(row + (int64_t)(window + column) * t.x_column + part);
    if (me.there)
        for (int i = 0; i < rows; i++)
            filter_edges(to + i * t.row_bytes, before, own < t.tile ? before : end, width, me, t);
    return s;
}

/* `rounds` images are left. */
template <class T>
static __device__ __forceinline__ void filter_round(FilterSource<T> &s, int rounds)
{
    s.rounds = rounds;
    if (rounds == 1 && s.lacks_last)
        s.chunk = s.elements = 0;
    if (rounds == 0)
        s.x.span = s.dy.span = 0;
}

template <class T, class S>
static __device__ __forceinline__ FilterSource<T>
filter_source(const FilterPlace &p, const FilterSteps &steps, const FilterThread &me, const T *x,
              const T *dy, gpu_shared ring, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    FilterSource<T> s;
    int own = min(t.tile, (int)a.c - me.channel_tile);
    s.chunk = t.chunk < 4 || ((uintptr_t)x | (uintptr_t)dy) % t.chunk ? 0 : t.chunk;
    s.elements = s.chunk ? 0 : own;
    s.image = ring + me.image * t.image_bytes;
    s.step = 0;
    s.lacks_last = p.lacks_last;
    const T *x_row =
        x + me.channel_tile +
        ((p.n * a.axis[1].in + p.h.first + (int64_t)steps.first_x * a.axis[1].dilation.value) *
             a.axis[2].in +
         p.w.first) *
            a.c;
    const T *y_row =
        dy + me.channel_tile +
        ((p.n * a.axis[1].out + p.phase_h + (int64_t)steps.first_dy * a.axis[1].dilation.value) *
             a.axis[2].out +
         p.phase_w) *
            a.c;
    s.x = filter_share(x_row, p.first_strip * S::STRIDE - p.w.pad, t.width, p.w.in, s.image,
                       S::STRIDE, s.chunk, me, own, t);
    s.dy = filter_share(y_row, p.first_strip, t.strips * S::COLUMNS, p.w.out, s.image + t.dy_offset,
                        1, s.chunk, me, own, t);
    filter_round(s, p.rounds);
    return s;
}

/* Zeros in `bytes` of the image's part of a slot, from `at` on: its threads together. */
static __device__ __forceinline__ void filter_clear(gpu_shared at, int bytes, const gdnn_tiling &t)
{
    int group = t.lanes * t.strips;
    if ((int)threadIdx.x >= group * t.images)
        return;
    GPU_NO_UNROLL
    for (int i = (int)threadIdx.x % group * 4; i < bytes; i += group * 4)
        gpu_store_shared(at + i, 0u);
}

/* Starts the copies of a share's row into the slot at `offset`; the row of the thread's image has `bytes` from `row` on. */
template <class T>
static __device__ __forceinline__ void filter_copy(const FilterShare<T> &s, int offset, int chunk,
                                                   int elements, gpu_shared row, int bytes,
                                                   const gdnn_tiling &t)
{
    if (copy_chunks_of(chunk, s.from, s.to + offset, s.span, t))
        return;
    if (elements)
        copy_elements<T>(s.from, s.to + offset, s.span, elements, t);
    else
        filter_clear(row + offset, bytes, t);
}

/* Starts the copies of the next step into the slot at `offset`; none after the last, but a commit in any case. */
template <class T, class S>
static __device__ __forceinline__ void filter_fetch(FilterSource<T> &s, const FilterSteps &steps,
                                                    int offset, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    gpu_shared dy = s.image + t.dy_offset;
    if (s.step < steps.dy_rows) {
        filter_copy(s.dy, offset, s.chunk, s.elements, dy, t.dy_bytes, t);
        s.dy.from += t.y_row_bytes;
    } else if (s.step < S::SETS - 1) {
        filter_clear(dy + offset, t.dy_bytes, t);
    }
    GPU_UNROLL
    for (int phase = 0; phase < S::STRIDE; phase++) {
        int row = (s.step - steps.before) * S::STRIDE + phase - steps.first_phase;
        if (s.step < steps.before)
            continue;
        int at = offset + phase * t.row_bytes;
        if (S::STRIDE == 1 || (row >= 0 && row < steps.x_rows)) {
            filter_copy(s.x, at, s.chunk, s.elements, s.image, t.row_bytes, t);
            s.x.from += t.x_row_bytes;
        } else {
            filter_clear(s.image + at, t.row_bytes, t);
        }
    }
    if (++s.step == steps.all) {
        s.step = 0;
        s.x.from += t.x_round_bytes - steps.x_rows * t.x_row_bytes;
        s.dy.from += t.y_round_bytes - steps.dy_rows * t.y_row_bytes;
        filter_round(s, s.rounds - 1);
    }
    gpu_cp_async_commit();
}

/* A thread on its march. In step U, set number U % SETS is the step's row of dy, number (U - 1) % SETS the one before,
 * and so on. */
template <class T, class S>
struct FilterMarch {
    FilterSource<T> source;
    gpu_shared x, dy; /* the thread's first elements of slot 0 */
    int slot, free;   /* offsets of the slots to be read and filled next */
    float sum[S::TAPS][S::CHANNELS];
    float set[S::SETS][S::COLUMNS][S::CHANNELS];
};

/* Waits for the next step's rows and starts the copies of another one into the slot that has been read. The offset of the
 * step's slot. */
template <class T, class S>
static __device__ __forceinline__ int filter_next(FilterMarch<T, S> &m, const FilterSteps &steps,
                                                  const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    gpu_cp_async_wait<GDNN_FILTER_RING - 2>();
    __syncthreads();
    filter_fetch<T, S>(m.source, steps, m.free, a);
    m.free = m.slot;
    m.slot = m.slot == t.last_slot ? 0 : m.slot + t.slot_bytes;
    return m.free;
}

/* The row of dy of a step becomes set SET. */
template <int SET, class T, class S>
static __device__ __forceinline__ void filter_load(FilterMarch<T, S> &m, int slot,
                                                   const gdnn_tiling &t)
{
    gpu_shared at = m.dy + slot;
    GPU_UNROLL
    for (int q = 0; q < S::COLUMNS; q++, at += t.tile_bytes)
        load_values<T, S::CHANNELS>(at, m.set[SET][q]);
}

/* Row PHASE of x of step U with the rows of dy of steps U - TO to U - FROM. */
template <int U, int PHASE, int FROM, int TO, class T, class S>
static __device__ __forceinline__ void filter_add(FilterMarch<T, S> &m, int slot,
                                                  const gdnn_tiling &t)
{
    if constexpr (FROM * S::STRIDE + PHASE < S::FILTER_H) {
        gpu_shared at = m.x + slot + PHASE * t.row_bytes;
        GPU_UNROLL
        for (int j = 0; j < S::IN_COLUMNS; j++, at += t.tile_bytes) {
            float x[S::CHANNELS];
            load_values<T, S::CHANNELS>(at, x);
            GPU_UNROLL
            for (int q = 0; q < S::COLUMNS; q++) {
                const int s = j - q * S::STRIDE;
                if (s < 0 || s >= S::FILTER_W)
                    continue;
                GPU_UNROLL
                for (int i = FROM; i <= TO; i++) {
                    const int r = i * S::STRIDE + PHASE, set = (U - i + 2 * S::SETS) % S::SETS;
                    if (r >= S::FILTER_H)
                        continue;
                    GPU_UNROLL
                    for (int c = 0; c < S::CHANNELS; c++)
                        m.sum[r * S::FILTER_W + s][c] =
                            fmaf(m.set[set][q][c], x[c], m.sum[r * S::FILTER_W + s][c]);
                }
            }
        }
    }
}

/* Rows PHASE to STRIDE - 1 of x, all there. */
template <int U, int PHASE, int FROM, int TO, class T, class S>
static __device__ __forceinline__ void filter_add_all(FilterMarch<T, S> &m, int slot,
                                                      const gdnn_tiling &t)
{
    if constexpr (PHASE < S::STRIDE) {
        filter_add<U, PHASE, FROM, TO>(m, slot, t);
        filter_add_all<U, PHASE + 1, FROM, TO>(m, slot, t);
    }
}

/* Rows PHASE to STRIDE - 1 of x from `first` on, the others being padding. */
template <int U, int PHASE, int TO, class T, class S>
static __device__ __forceinline__ void filter_add_from(FilterMarch<T, S> &m, int first, int slot,
                                                       const gdnn_tiling &t)
{
    if constexpr (PHASE < S::STRIDE) {
        if (PHASE >= first)
            filter_add<U, PHASE, 0, TO>(m, slot, t);
        filter_add_from<U, PHASE + 1, TO>(m, first, slot, t);
    }
}

/* Steps J to SETS - 2 of an image, which meet only J + 1 rows of dy. */
template <int J, class T, class S>
static __device__ __forceinline__ void filter_open(FilterMarch<T, S> &m, const FilterSteps &steps,
                                                   const gdnn_args &a)
{
    if constexpr (J < S::SETS - 1) {
        if (J >= steps.all)
            return;
        int slot = filter_next(m, steps, a);
        filter_load<J + 1>(m, slot, a.tiling);
        if (J >= steps.before)
            filter_add_from<J + 1, 0, J>(m, J > steps.before ? 0 : steps.first_phase, slot,
                                         a.tiling);
        filter_open<J + 1>(m, steps, a);
    }
}

/* Steps U to the end of a turn. */
template <int U, class T, class S>
static __device__ __forceinline__ void filter_turn(FilterMarch<T, S> &m, const FilterSteps &steps,
                                                   const gdnn_args &a)
{
    if constexpr (U < S::SETS) {
        int slot = filter_next(m, steps, a);
        filter_load<U>(m, slot, a.tiling);
        filter_add_all<U, 0, 0, S::SETS - 1>(m, slot, a.tiling);
        filter_turn<U + 1>(m, steps, a);
    }
}

/* Sets are numbered as if step 0 were the last of a turn. */
template <class T, class S>
static __device__ __forceinline__ void filter_renumber(FilterMarch<T, S> &m)
{
    GPU_UNROLL
    for (int set = 1; set <= S::SETS - 1; set++) {
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++) {
            GPU_UNROLL
            for (int c = 0; c < S::CHANNELS; c++)
                m.set[set][q][c] = m.set[(set + 1) % S::SETS][q][c];
        }
    }
}

/* The steps after dy's last row, which meet rows of dy of BACK and more steps before. */
template <int BACK, class T, class S>
static __device__ __forceinline__ void filter_close(FilterMarch<T, S> &m, int left,
                                                    const FilterSteps &steps, const gdnn_args &a)
{
    if constexpr (BACK < S::SETS) {
        if (left <= 0)
            return;
        int slot = filter_next(m, steps, a);
        filter_add_all<BACK - 1, 0, BACK, S::SETS - 1>(m, slot, a.tiling);
        filter_close<BACK + 1>(m, left - 1, steps, a);
    }
}

/* All steps of an image. */
template <class T, class S>
static __device__ __forceinline__ void filter_image(FilterMarch<T, S> &m, const FilterSteps &steps,
                                                    const gdnn_args &a)
{
    filter_open<0>(m, steps, a);
    int left = steps.dy_rows - (S::SETS - 1);
    GPU_NO_UNROLL
    for (; left >= S::SETS; left -= S::SETS)
        filter_turn<0>(m, steps, a);
    GPU_NO_UNROLL
    for (; left > 0; left--) {
        int slot = filter_next(m, steps, a);
        filter_load<0>(m, slot, a.tiling);
        filter_add_all<0, 0, 0, S::SETS - 1>(m, slot, a.tiling);
        filter_renumber(m);
    }
    filter_close<1>(m, steps.all - max(steps.dy_rows, S::SETS - 1), steps, a);
}

/* Ends the chains of a thread: they are added to its sums, or are these. */
template <class S>
static __device__ __forceinline__ void filter_close_chain(float (&chain)[S::TAPS][S::CHANNELS],
                                                          float *sums, int pitch, bool add)
{
    if (add) {
        GPU_UNROLL
        for (int k = 0; k < S::TAPS * S::CHANNELS; k++)
            chain[k / S::CHANNELS][k % S::CHANNELS] += sums[k * pitch];
    }
    GPU_UNROLL
    for (int k = 0; k < S::TAPS * S::CHANNELS; k++) {
        sums[k * pitch] = chain[k / S::CHANNELS][k % S::CHANNELS];
        chain[k / S::CHANNELS][k % S::CHANNELS] = 0;
    }
}

/* All images of a place; where sums are cut into chains, `images` counts those of the open one. */
template <class T, class S>
static __device__ __forceinline__ void filter_march(FilterMarch<T, S> &m, const FilterPlace &p,
                                                    const FilterSteps &steps, float *sums,
                                                    int pitch, int &images, const gdnn_args &a)
{
    GPU_UNROLL
    for (int i = 0; i < GDNN_FILTER_RING - 1; i++)
        filter_fetch<T, S>(m.source, steps, i * a.tiling.slot_bytes, a);
    m.slot = 0;
    m.free = a.tiling.last_slot;
    GPU_NO_UNROLL
    for (int round = 0; round < p.rounds; round++) {
        filter_image(m, steps, a);
        if (++images != a.tiling.chain)
            continue;
        images = 0;
        filter_close_chain<S>(m.sum, sums, pitch, true);
    }
}

/* The sums of a thread from the definition, without the padding: for inputs that are not finite. */
template <class T, class S>
static __device__ __forceinline__ void filter_exact(const T *x, const T *dy, int64_t first,
                                                    int64_t end, const FilterThread &me,
                                                    float *sums, int pitch, const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (int k = 0; k < S::TAPS * S::CHANNELS; k++) {
        int r = k / S::CHANNELS / S::FILTER_W, s = k / S::CHANNELS % S::FILTER_W;
        int channel = me.channel_tile + me.lane * S::CHANNELS + k % S::CHANNELS;
        float total = 0;
        if (channel < a.c) {
            GPU_NO_UNROLL
            for (int64_t at = first; at < end; at++) {
                FilterPlace p = filter_place<S>(at, me, a);
                int64_t n = p.n;
                GPU_NO_UNROLL
                for (int left = p.rounds - p.lacks_last; left > 0; left--, n += a.tiling.images) {
                    float image = 0;
                    GPU_NO_UNROLL
                    for (int row = p.first_row; row < p.end_row; row++) {
                        int i = row * S::STRIDE + r - p.h.pad;
                        float chain = 0;
                        GPU_NO_UNROLL
                        for (int q = 0; q < S::COLUMNS; q++) {
                            int column = p.first_strip + me.strip * S::COLUMNS + q;
                            int j = column * S::STRIDE + s - p.w.pad;
                            if (column >= p.w.out || i < 0 || i >= p.h.in || j < 0 || j >= p.w.in)
                                continue;
                            int64_t x_at = n * a.axis[1].in * a.axis[2].in * a.c +
                                           ((int64_t)p.h.first * a.axis[2].in + p.w.first) * a.c +
                                           i * a.tiling.x_row + (int64_t)j * a.tiling.x_column;
                            int64_t y_at = n * a.axis[1].out * a.axis[2].out * a.c +
                                           ((int64_t)p.phase_h * a.axis[2].out + p.phase_w) * a.c +
                                           row * a.tiling.y_row +
                                           (int64_t)column * a.tiling.y_column;
                            chain =
                                fmaf(load(x + x_at + channel), load(dy + y_at + channel), chain);
                        }
                        image += chain;
                    }
                    total += image;
                }
            }
        }
        sums[k * pitch] = total;
    }
}

/* The sums of all threads of a channel, in order, and out: sums[tap * CHANNELS + c][thread]. */
template <class T, class S>
static __device__ __forceinline__ void filter_reduce(const float *sums, int pitch,
                                                     const FilterThread &me, int64_t part, T *dw,
                                                     float *partial, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    int own = min(t.tile, (int)a.c - me.channel_tile) * S::TAPS;
    bool flipped = filter_is_flipped<S::FILTER_W>(a);
    int groups = t.strips * t.images;
    int64_t to = ((t.split > 1 ? part * a.k : 0) + me.channel_tile) * S::TAPS;
    GPU_NO_UNROLL
    for (int i = threadIdx.x; i < own; i += blockDim.x) {
        int channel = i / S::TAPS, tap = i % S::TAPS, lane = channel / S::CHANNELS;
        const float *from =
            sums +
            ((flipped ? S::TAPS - 1 - tap : tap) * S::CHANNELS + channel % S::CHANNELS) * pitch +
            lane;
        float sum = 0;
        for (int left = groups; left > 0; left--, from += t.lanes)
            sum += *from;
        if (t.split > 1)
            partial[to + i] = sum;
        else
            finish(dw + to + i, sum, a);
    }
}

template <class T, class S>
static __device__ __forceinline__ void dw_filter(const T *__restrict__ x, T *dw,
                                                 const T *__restrict__ dy, float *partial,
                                                 const gdnn_args &a)
{
    GPU_DYN_SHARED(unsigned char, shared);
    const gdnn_tiling &t = a.tiling;
    int64_t part = blockIdx.x;
    FilterThread me = filter_thread<S>(part, t);
    int64_t first = part * t.places, end = first + t.places;
    if (end > t.all_places)
        end = t.all_places;

    int pitch = blockDim.x + 1;
    float *sums = reinterpret_cast<float *>(shared + t.sums) + threadIdx.x;
    gpu_shared ring = gpu_shared_address(shared);
    FilterMarch<T, S> m;
    GPU_UNROLL
    for (int k = 0; k < S::TAPS * S::CHANNELS; k++)
        m.sum[k / S::CHANNELS][k % S::CHANNELS] = 0;
    if (t.sums)
        for (int k = 0; k < S::TAPS * S::CHANNELS; k++)
            sums[k * pitch] = 0;
    gpu_shared image = ring + me.image * t.image_bytes;
    int own = me.lane * S::CHANNELS * (int)sizeof(T);
    m.x = image + me.strip * S::COLUMNS * S::STRIDE * t.tile_bytes + own;
    m.dy = image + t.dy_offset + me.strip * S::COLUMNS * t.tile_bytes + own;

    int images = 0;
    GPU_NO_UNROLL
    for (int64_t at = first; at < end; at++) {
        FilterPlace p = filter_place<S>(at, me, a);
        FilterSteps steps = filter_steps<S>(p);
        if (!steps.all)
            continue;
        m.source = filter_source<T, S>(p, steps, me, x, dy, ring, a);
        __syncthreads(); /* copies may overwrite what was cleared */
        filter_march(m, p, steps, sums, pitch, images, a);
        gpu_cp_async_wait<0>();
        __syncthreads();
    }

    float zero = 0;
    GPU_UNROLL
    for (int k = 0; k < S::TAPS * S::CHANNELS; k++)
        zero = fmaf(m.sum[k / S::CHANNELS][k % S::CHANNELS], 0.0f, zero);
    if (t.sums) {
        GPU_NO_UNROLL
        for (int k = 0; k < S::TAPS * S::CHANNELS; k++)
            zero = fmaf(sums[k * pitch], 0.0f, zero);
    }
    /* what is not finite may have met zeros of the padding */
    if (__syncthreads_or(zero != 0)) {
        if (me.there)
            filter_exact<T, S>(x, dy, first, end, me, sums, pitch, a);
    } else {
        filter_close_chain<S>(m.sum, sums, pitch, t.sums != 0);
    }
    __syncthreads();
    filter_reduce<T, S>(sums - threadIdx.x, pitch, me, part, dw, partial, a);
}

#endif
