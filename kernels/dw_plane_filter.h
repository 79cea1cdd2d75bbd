/* Depthwise backward-filter, channels first: planes through shared memory.
 *
 * As in dw_plane.h a block brings runs of neighbouring planes, here of x and of dy, all rows or some at a time, by
 * asynchronous copies that run one stage ahead. A thread owns a strip of COLUMNS columns of dy in one channel and marches
 * down the rows, image after image, with the sums of its taps in registers (dw_plane_filter_march.h). A block has one slab
 * of rows and a run of images of its channels. Its strips are added up in order, and where several blocks share a sum, each
 * writes its part to the workspace, [split][K][taps], and a second launch (filter_finish.h) adds the parts.
 *
 * Long sums are sums of chains of some 1024 products. Padding is multiplied as zeros; if a sum is not finite, all are made
 * again from the definition. How the block is chosen: src/plane_filter.c. */
#ifndef GDNN_DW_PLANE_FILTER_H
#define GDNN_DW_PLANE_FILTER_H

#include "dw_plane_copy.h"
#include "dw_plane_filter_march.h"

/* The part of the problem that a block, and in it this thread, works on. */
struct PlaneFilterPlace {
    int channel_tile, planes; /* first channel of the block; how many there are */
    int first_row, end_row;   /* rows of dy */
    int first_in, end_in;     /* rows of x that they meet; there is one at least */
    int end_step;             /* of the march, which begins with first_row */
    int64_t n;
    int images;
    int plane, strip; /* of this thread, in the block; 0 where it has none */
    bool present;
    int run;        /* that its plane is part of, and that it helps to copy */
    RunShare share; /* in that */
    int copies;     /* planes in that run; 0: it copies nothing */
};

template <class S>
static __device__ __forceinline__ PlaneFilterPlace filter_place(int64_t &block, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    PlaneFilterPlace p;
    p.channel_tile = (int)peel(block, t.channel_tiles) * t.tile;
    p.planes = min(t.tile, (int)a.c - p.channel_tile);
    int64_t rest = block;
    int pad = (int)a.axis[1].pad;
    p.first_row = (int)peel(rest, t.slabs) * t.rows;
    p.end_row = min(p.first_row + t.rows, (int)a.axis[1].out);
    p.first_in = max(p.first_row * S::STRIDE - pad, 0);
    p.end_in = min((p.end_row - 1) * S::STRIDE - pad + S::FILTER_H, (int)a.axis[1].in);
    p.end_step = (p.end_in + pad - 1) / S::STRIDE + 1;
    p.n = rest * t.images;
    p.images = (int)min((int64_t)t.images, a.n - p.n);

    int thread = threadIdx.x;
    p.plane = small_divide(thread, t.strips_inverse);
    p.strip = thread - p.plane * t.strips;
    if (t.half)
        p.plane = thread < t.half ? 2 * thread : 2 * (thread - t.half) + 1;
    p.present = p.plane < p.planes;
    bool single = t.run_planes == 1;
    p.share = single ? run_share(p.strip, t.strips) : run_share(thread, (int)blockDim.x);
    p.copies = single ? p.present : p.planes;
    if (!p.present)
        p.plane = p.strip = 0;
    p.run = single ? p.plane : 0;
    return p;
}

/* Steps `step` to `end` - 1 of an image, and where what was brought for them of the thread's runs begins. */
struct PlaneFilterStage {
    int step, end;
    gpu_shared x, dy;
};

/* What is brought next: steps of the image in which the thread's runs begin at x and dy. */
template <class T>
struct PlaneFilterSource {
    const T *x, *dy;
    int images; /* left */
    int step, end;
    bool x_whole, dy_whole; /* sectors may be copied with what is not of the run */
};

/* The end of a stage that begins with `step`. The first of an image also has the steps that are not full. */
template <class S>
static __device__ __forceinline__ int filter_stage_end(const PlaneFilterPlace &p, int step,
                                                       const gdnn_args &a)
{
    int full = (p.first_in + (int)a.axis[1].pad + S::STRIDE - 1) / S::STRIDE;
    return min(max(step, full) + a.tiling.stage_rows, p.end_step);
}

/* `rows` rows of the thread's run from `run` on. The address of the first. */
template <class T>
static __device__ __forceinline__ gpu_shared filter_bring(gpu_shared to, const T *run, int rows,
                                                          int pitch, int plane, bool whole,
                                                          const PlaneFilterPlace &p,
                                                          const gdnn_tiling &t)
{
    if (p.copies && rows > 0)
        bring_run(to, run, t.run_planes == 1 ? rows * pitch : p.copies * plane, p.share, whole);
    return to + sector_offset(run);
}

/* Starts the copies of the next stage into the thread's runs of the buffer at `to`. */
template <class T, class S>
static __device__ __forceinline__ PlaneFilterStage
filter_fetch(PlaneFilterSource<T> &s, gpu_shared to, const PlaneFilterPlace &p, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    int pad = (int)a.axis[1].pad, first = max(s.step * S::STRIDE - pad, p.first_in),
        end = min(s.end * S::STRIDE - pad, p.end_in);
    PlaneFilterStage stage = {s.step, s.end, 0, 0};
    stage.x = filter_bring(to + p.run * t.x_run, s.x + first * (int)a.axis[2].in, end - first,
                           t.x_pitch, t.x_plane, s.x_whole, p, t);
    stage.dy = filter_bring(to + t.y_buffer + p.run * t.y_run, s.dy + s.step * (int)a.axis[2].out,
                            min(s.end, p.end_row) - s.step, t.y_pitch, t.y_plane, s.dy_whole, p, t);
    gpu_cp_async_commit();
    s.step = s.end;
    if (s.end == p.end_step) {
        s.step = p.first_row;
        s.x += a.x_stride_n;
        s.dy += a.y_stride_n;
        s.images--;
    }
    s.end = filter_stage_end<S>(p, s.step, a);
    return stage;
}

/* Zeros in the buffers where no copy writes and a strip may read: around the runs. */
static __device__ __forceinline__ void filter_clear(gpu_shared first, const PlaneFilterPlace &p,
                                                    const gdnn_tiling &t)
{
    int end = GDNN_PLANE_GUARD + 2 * t.x_buffer;
    if (t.run_planes == 1) {
        clear_range(first, 0, end);
        return;
    }
    int x_bytes = p.planes * t.x_plane / 16 * 16, y_bytes = p.planes * t.y_plane / 16 * 16;
    clear_range(first, 0, GDNN_PLANE_GUARD + SECTOR);
    GPU_NO_UNROLL
    for (int x = GDNN_PLANE_GUARD; x < end; x += t.x_buffer) {
        int y = x + t.y_buffer, next = x + t.x_buffer;
        clear_range(first, x + max(x_bytes, (int)SECTOR), y + SECTOR);
        clear_range(first, y + max(y_bytes, (int)SECTOR), min(next + SECTOR, end));
    }
}

static __device__ __forceinline__ void set_mask(int &mask, bool inside)
{
    mask = inside ? -1 : 0;
    gpu_keep(mask);
}

template <class T, class S>
static __device__ __forceinline__ void filter_masks(PlaneFilterMarch<T, S> &m,
                                                    const PlaneFilterPlace &p, const gdnn_args &a)
{
    int column = p.strip * S::COLUMNS, first = column * S::STRIDE - (int)a.axis[2].pad;
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++)
        set_mask(m.x_mask[j], first + j >= 0 && first + j < (int)a.axis[2].in);
    GPU_UNROLL
    for (int q = 0; q < S::COLUMNS; q++)
        set_mask(m.dy_mask[q], column + q < (int)a.axis[2].out);
}

/* Ends the chains of a thread: they are added to its sums, or are these. */
template <int TAPS>
static __device__ __forceinline__ void filter_close_chain(float (&chain)[TAPS], float *sums,
                                                          int pitch, bool add)
{
    GPU_UNROLL
    for (int k = 0; k < TAPS; k++) {
        sums[k * pitch] = add ? sums[k * pitch] + chain[k] : chain[k];
        chain[k] = 0;
    }
}

/* All stages of the block, in one of the ways to leave out columns; each has its own code, so that nothing of the others
 * is kept in registers. */
template <int EDGES, class T, class S>
static __device__ __forceinline__ void
filter_stages(PlaneFilterMarch<T, S> &m, PlaneFilterSource<T> &source, const PlaneFilterPlace &p,
              gpu_shared buffer, float *sums, int pitch, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    m.first = p.strip == 0;
    m.last = p.strip == t.strips - 1;
    if (EDGES == GDNN_PLANE_MASKED)
        filter_masks(m, p, a);
    int column = p.strip * S::COLUMNS, in_run = p.plane - p.run, pad = (int)a.axis[1].pad;
    int x_own = in_run * t.x_plane + (column * S::STRIDE - (int)a.axis[2].pad) * (int)sizeof(T);
    int dy_own = in_run * t.y_plane + column * (int)sizeof(T);
    gpu_keep(x_own);
    gpu_keep(dy_own);
    PlaneFilterStage next = filter_fetch<T, S>(source, buffer, p, a);
    int other = t.x_buffer, stages = 0;
    bool more = true;
    GPU_NO_UNROLL
    while (more) {
        int step = next.step, end = next.end;
        m.x = next.x + x_own;
        m.dy = next.dy + dy_own;
        gpu_cp_async_wait<0>();
        __syncthreads();
        buffer += other;
        other = -other;
        more = source.images > 0;
        if (more)
            next = filter_fetch<T, S>(source, buffer, p, a);
        if (step == p.first_row) {
            GPU_UNROLL
            for (int set = 1; set < S::SETS; set++) {
                GPU_UNROLL
                for (int q = 0; q < S::COLUMNS; q++)
                    m.set[set][q] = 0;
            }
        }
        filter_march<EDGES>(m, step, end, p.end_row, p.first_in + pad, p.end_in + pad, t);
        if (++stages == t.chain) {
            stages = 0;
            filter_close_chain(m.sum, sums, pitch, true);
        }
    }
}

/* The sums of a thread from the definition, without the padding: for inputs that are not finite. */
template <class T, class S>
static __device__ __forceinline__ void filter_exact(const T *x, const T *dy,
                                                    const PlaneFilterPlace &p, float *sums,
                                                    int pitch, const gdnn_args &a)
{
    int in_h = (int)a.axis[1].in, in_w = (int)a.axis[2].in, out_w = (int)a.axis[2].out;
    int first = p.strip * S::COLUMNS, end = min(first + S::COLUMNS, out_w);
    int64_t channel = p.channel_tile + p.plane;
    GPU_NO_UNROLL
    for (int k = 0; k < S::TAPS; k++) {
        int r = k / S::FILTER_W - (int)a.axis[1].pad, s = k % S::FILTER_W - (int)a.axis[2].pad;
        float total = 0;
        GPU_NO_UNROLL
        for (int64_t n = p.n; n < p.n + p.images; n++) {
            const T *x_plane = x + n * a.x_stride_n + channel * in_h * in_w;
            const T *dy_plane = dy + n * a.y_stride_n + channel * a.axis[1].out * out_w;
            float image = 0;
            GPU_NO_UNROLL
            for (int row = p.first_row; row < p.end_row; row++) {
                int i = row * S::STRIDE + r;
                float chain = 0;
                GPU_NO_UNROLL
                for (int q = first; q < end; q++) {
                    int j = q * S::STRIDE + s;
                    if (i >= 0 && i < in_h && j >= 0 && j < in_w)
                        chain = fmaf(load(x_plane + i * in_w + j), load(dy_plane + row * out_w + q),
                                     chain);
                }
                image += chain;
            }
            total += image;
        }
        sums[k * pitch] = total;
    }
}

/* The sums of all threads of a channel, in order, and out: sums[tap][thread]. */
template <class T, class S>
static __device__ __forceinline__ void filter_reduce(const float *sums, int pitch,
                                                     const PlaneFilterPlace &p, int64_t part, T *dw,
                                                     float *partial, const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    bool flipped = filter_is_flipped<S::FILTER_W>(a);
    int64_t to = ((t.split > 1 ? part * a.k : 0) + p.channel_tile) * S::TAPS;
    GPU_NO_UNROLL
    for (int i = threadIdx.x; i < p.planes * S::TAPS; i += blockDim.x) {
        int plane = i / S::TAPS, tap = i % S::TAPS;
        int thread = t.half ? plane / 2 + plane % 2 * t.half : plane * t.strips;
        const float *from = sums + (flipped ? S::TAPS - 1 - tap : tap) * pitch + thread;
        float sum = 0;
        GPU_NO_UNROLL
        for (int left = t.strips; left > 0; left--, from++)
            sum += *from;
        if (t.split > 1)
            partial[to + i] = sum;
        else
            finish(dw + to + i, sum, a);
    }
}

template <class T, class S>
static __device__ __forceinline__ void dw_plane_filter(const T *__restrict__ x, T *dw,
                                                       const T *__restrict__ dy, float *partial,
                                                       const gdnn_args &a)
{
    GPU_DYN_SHARED(unsigned char, memory);
    const gdnn_tiling &t = a.tiling;
    int64_t part = blockIdx.x;
    PlaneFilterPlace p = filter_place<S>(part, a);
    gpu_shared shared = gpu_shared_address(memory), buffer = shared + GDNN_PLANE_GUARD;
    filter_clear(shared, p, t);

    int pitch = blockDim.x + 1;
    float *sums = reinterpret_cast<float *>(memory + t.sums) + threadIdx.x;
    PlaneFilterMarch<T, S> m;
    GPU_UNROLL
    for (int k = 0; k < S::TAPS; k++)
        m.sum[k] = 0;
    if (t.sums) {
        GPU_UNROLL
        for (int k = 0; k < S::TAPS; k++)
            sums[k * pitch] = 0;
    }
    m.zeros = shared;
    int64_t channel = p.channel_tile + p.run;
    PlaneFilterSource<T> source;
    source.x = x + p.n * a.x_stride_n + channel * a.axis[1].in * a.axis[2].in;
    source.dy = dy + p.n * a.y_stride_n + channel * a.axis[1].out * a.axis[2].out;
    source.images = p.images;
    source.step = p.first_row;
    source.end = filter_stage_end<S>(p, p.first_row, a);
    source.x_whole = t.whole_sectors && sector_offset(x) == 0;
    source.dy_whole = t.y_whole_sectors && sector_offset(dy) == 0;
    __syncthreads(); /* copies may overwrite what was cleared */

    if (S::TAPS <= 9 && t.edges == GDNN_PLANE_WHOLE)
        filter_stages<GDNN_PLANE_WHOLE>(m, source, p, buffer, sums, pitch, a);
    else if (S::TAPS <= 25 && t.edges != GDNN_PLANE_MASKED)
        filter_stages<GDNN_PLANE_EDGES>(m, source, p, buffer, sums, pitch, a);
    else
        filter_stages<GDNN_PLANE_MASKED>(m, source, p, buffer, sums, pitch, a);

    float zero = 0;
    GPU_UNROLL
    for (int k = 0; k < S::TAPS; k++)
        zero = fmaf(m.sum[k], 0.0f, zero);
    if (t.sums) {
        GPU_NO_UNROLL
        for (int k = 0; k < S::TAPS; k++)
            zero = fmaf(sums[k * pitch], 0.0f, zero);
    }
    /* what is not finite may have met zeros of the padding */
    if (__syncthreads_or(zero != 0)) {
        if (p.present)
            filter_exact<T, S>(x, dy, p, sums, pitch, a);
    } else {
        filter_close_chain(m.sum, sums, pitch, t.sums != 0);
    }
    __syncthreads();
    filter_reduce<T, S>(sums - threadIdx.x, pitch, p, part, dw, partial, a);
}

#endif
