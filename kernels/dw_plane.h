/* Depthwise convolution, channels first: planes through shared memory.
 *
 * Neighbouring planes are one contiguous run of bytes. A block has `tile` channels and some images; it brings their planes,
 * all rows or `stage_rows` at a time, by asynchronous copies that run one stage ahead. A thread owns a strip of COLUMNS
 * columns of y in one plane and marches down the rows (dw_plane_march.h) from stage to stage; its filter stays in
 * registers. What it writes is collected in shared memory and leaves in whole sectors. How the block is chosen:
 * src/plane.c. */
#ifndef GDNN_DW_PLANE_H
#define GDNN_DW_PLANE_H

#include "dw_plane_copy.h"
#include "dw_plane_march.h"

/* The part of the problem that a block, and in it this thread, works on. */
struct PlanePlace {
    int channel_tile, planes; /* first channel of the block; how many there are */
    int first_row, end_row;   /* rows of y */
    int first_in, end_in;     /* rows of x that they meet; there is one at least */
    int64_t n;
    int images;
    int plane, strip; /* of this thread, in the block; 0 where it has none */
    bool present;
    int run;        /* that its plane is part of, and that it helps to copy */
    RunShare share; /* in that */
    int copies;     /* planes in that run; 0: it copies nothing */
};

template <class S>
static __device__ __forceinline__ PlanePlace plane_place(const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    PlanePlace p;
    int64_t block = blockIdx.x;
    int pad = S::pad_h(a);
    p.channel_tile = (int)peel(block, t.channel_tiles) * t.tile;
    p.planes = min(t.tile, (int)a.c - p.channel_tile);
    p.first_row = (int)peel(block, t.slabs) * t.rows;
    p.end_row = min(p.first_row + t.rows, S::out_h(a));
    p.first_in = max(p.first_row * S::STRIDE - pad, 0);
    p.end_in = min((p.end_row - 1) * S::STRIDE - pad + S::FILTER_H, S::in_h(a));
    p.n = block * t.images;
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

/* The first row of x of the next stage. */
template <class S>
static __device__ __forceinline__ int stage_end(const PlanePlace &p, int row, const gdnn_args &a)
{
    int pad = S::pad_h(a);
    return min((row + pad + a.tiling.stage_rows) / S::STRIDE * S::STRIDE - pad, p.end_in);
}

/* Rows `row` to `end` - 1 of x in one image. */
struct PlaneStage {
    int row, end;
};

/* What is brought next: of the image in which the thread's run begins at `run`. */
template <class T>
struct PlaneSource {
    const T *run;
    int images; /* left */
    PlaneStage stage;
    bool whole; /* sectors may be copied with what is not of the run */
};

template <class T, class S>
static __device__ __forceinline__ void fetch_stage(PlaneSource<T> &s, gpu_shared to,
                                                   const PlanePlace &p, const gdnn_args &a)
{
    if (s.images > 0) {
        int row = s.stage.row, end = s.stage.end;
        if (p.copies)
            bring_run(to, s.run + row * S::in_w(a),
                      a.tiling.run_planes == 1 ? (end - row) * a.tiling.x_pitch
                                               : p.copies * a.tiling.x_plane,
                      p.share, s.whole);
        s.stage.row = end;
        if (end == p.end_in) {
            s.stage.row = p.first_in;
            s.run += S::x_image(a);
            s.images--;
        }
        s.stage.end = stage_end<S>(p, s.stage.row, a);
    }
    gpu_cp_async_commit();
}

/* Zeros in the buffers of x where no copy writes and a strip may read: around the runs. */
static __device__ __forceinline__ void clear_buffers(gpu_shared first, const PlanePlace &p,
                                                     const gdnn_args &a)
{
    const gdnn_tiling &t = a.tiling;
    if (t.run_planes == 1) {
        clear_range(first, 0, t.y_buffer);
        return;
    }
    int begin = 0, end = GDNN_PLANE_GUARD + SECTOR;
    int bytes = p.planes * t.x_plane / 16 * 16;
    clear_range(first, begin, end);
    begin = max(GDNN_PLANE_GUARD + bytes, end);
    end += t.x_buffer;
    clear_range(first, begin, end);
    clear_range(first, begin + t.x_buffer, t.y_buffer);
}

/* The outputs of a thread from the definition, tap by tap without the padding: for filters that are not finite. */
template <bool PLAIN, class T, class S>
static __device__ __forceinline__ void exact_strip(const PlaneMarch<T, S> &m, const PlanePlace &p,
                                                   const T *x, T *y, const T *z, const T *bias,
                                                   const gdnn_args &a)
{
    int in_h = (int)a.axis[1].in, in_w = (int)a.axis[2].in, out_w = (int)a.axis[2].out;
    int first = p.strip * S::COLUMNS, end = min(first + S::COLUMNS, out_w);
    int channel = p.channel_tile + p.plane;
    GPU_NO_UNROLL
    for (int64_t n = p.n; n < p.n + p.images; n++) {
        GPU_NO_UNROLL
        for (int row = p.first_row; row < p.end_row; row++) {
            GPU_NO_UNROLL
            for (int q = first; q < end; q++) {
                const T *plane = x + n * a.x_stride_n + (int64_t)channel * in_h * in_w;
                int i0 = row * S::STRIDE - (int)a.axis[1].pad,
                    j0 = q * S::STRIDE - (int)a.axis[2].pad;
                float sum = 0;
                GPU_UNROLL
                for (int tap = 0; tap < S::TAPS; tap++) {
                    int i = i0 + tap / S::FILTER_W, j = j0 + tap % S::FILTER_W;
                    if (i >= 0 && i < in_h && j >= 0 && j < in_w)
                        sum = fmaf(m.filter[tap][0], load(plane + i * in_w + j), sum);
                }
                int64_t at =
                    n * a.y_stride_n + (channel * a.axis[1].out + row) * (int64_t)out_w + q;
                if (!PLAIN)
                    sum = forward_end(sum, z + at, y + at, bias + channel, a);
                store(y + at, sum);
            }
        }
    }
}

template <class T, class S>
static __device__ __forceinline__ void set_columns(PlaneMarch<T, S> &m, const PlanePlace &p,
                                                   const T *, const gdnn_args &a)
{
    int first = p.strip * S::COLUMNS;
    m.first = p.strip == 0;
    m.last = p.strip == a.tiling.strips - 1;
    m.columns = p.present ? min(S::COLUMNS, S::out_w(a) - first) : 0;
}

template <class T, class S>
static __device__ __forceinline__ void set_masks(PlaneMarch<T, S> &m, const PlanePlace &p,
                                                 const gdnn_args &a)
{
    int first = p.strip * S::COLUMNS * S::STRIDE - S::pad_w(a);
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++)
        m.mask[j] = first + j >= 0 && first + j < S::in_w(a) ? 0xffffffffu : 0;
}

/* The row of y at which row `row` of the march begins, inside of y. */
template <class S>
static __device__ __forceinline__ int y_begin(int row, const gdnn_args &a)
{
    return S::PAIRS ? min(max(S::y_row(row, a), 0), S::y_h(a)) : row;
}

/* How many rows of y above the slab the first row of x that is brought belongs to. */
template <class S>
static __device__ __forceinline__ int early_rows(const PlanePlace &p, const gdnn_args &a)
{
    return max(p.first_row + S::BEHIND - (p.first_in + S::pad_h(a)) / S::STRIDE, 0);
}

template <class T, class S>
static __device__ __forceinline__ void begin_image(PlaneMarch<T, S> &m, const PlanePlace &p,
                                                   const gdnn_args &a)
{
    m.early = early_rows<S>(p, a);
    GPU_UNROLL
    for (int set = S::SETS > 1; set < S::SETS; set++)
        clear<S>(m.sum[set]);
}

/* What a full epilogue reads, at the thread's first output. */
template <class T, class S>
static __device__ __forceinline__ void begin_prior(PlaneMarch<T, S> &m, const T *z, const T *prior,
                                                   const T *bias, const gdnn_args &)
{
    m.z = z;
    m.prior = prior;
    m.bias = bias;
}

/* Rows from the first row that a stage stores to the thread's next one. */
template <class T, class S>
static __device__ __forceinline__ int rows_before(const PlaneMarch<T, S> &, const PlanePlace &, int,
                                                  const gdnn_args &)
{
    return 0;
}

/* One stage, in one of the ways to leave out columns. Returns the first row of y that it does not complete. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ int compute_stage(PlaneMarch<T, S> &m, const PlanePlace &p,
                                                    const PlaneStage &stage, const gdnn_args &a)
{
    int pad = S::pad_h(a), end = stage.end + pad;
    march<EDGES, PLAIN>(m, stage.row + pad, end, a);
    int completed = max((end + S::STRIDE - 1) / S::STRIDE - S::BEHIND, p.first_row);
    if (stage.end < p.end_in)
        return completed;
    flush<EDGES, PLAIN>(m, p.end_row - completed, a);
    return p.end_row;
}

/* Large filters do without code for strips that are whole rows, full epilogues without any code but the one that is always
 * right. */
template <bool PLAIN, class T, class S>
static __device__ __forceinline__ int compute_stage(PlaneMarch<T, S> &m, const PlanePlace &p,
                                                    const PlaneStage &stage, const gdnn_args &a)
{
    if (!PLAIN || a.tiling.edges == GDNN_PLANE_MASKED) {
        set_masks(m, p, a);
        return compute_stage<GDNN_PLANE_MASKED, PLAIN>(m, p, stage, a);
    }
    if (S::TAPS <= 9 && a.tiling.edges == GDNN_PLANE_WHOLE)
        return compute_stage<GDNN_PLANE_WHOLE, PLAIN>(m, p, stage, a);
    return compute_stage<GDNN_PLANE_EDGES, PLAIN>(m, p, stage, a);
}

template <class T, class S, bool PLAIN>
static __device__ __forceinline__ void dw_plane(const T *__restrict__ x, const T *__restrict__ w,
                                                T *y, const T *z, const T *bias, const gdnn_args &a)
{
    if (!PLAIN)
        address_absent<T>(z, bias, y, a);
    GPU_DYN_SHARED(T, filters);
    const gdnn_tiling &t = a.tiling;
    PlanePlace p = plane_place<S>(a);
    int in_w = S::in_w(a);
    int64_t channel = p.channel_tile + p.run;

    copy_run(filters, w + (int64_t)p.channel_tile * S::TAPS, p.planes * S::TAPS, t.tile * S::TAPS,
             threadIdx.x, blockDim.x);
    gpu_cp_async_commit();
    gpu_shared shared =
        gpu_shared_address(filters) + gdnn_plane_filters(t.tile * S::TAPS, sizeof(T));
    clear_buffers(shared, p, a);
    __syncthreads();

    gpu_shared buffer = shared + GDNN_PLANE_GUARD + p.run * t.x_run;
    const T *x_run = x + p.n * S::x_image(a) + channel * S::in_h(a) * in_w;
    PlaneSource<T> source = {x_run,
                             p.images,
                             {p.first_in, stage_end<S>(p, p.first_in, a)},
                             t.whole_sectors && sector_offset(x) == 0};
    PlaneStage stage = source.stage;
    fetch_stage<T, S>(source, buffer, p, a);
    gpu_cp_async_wait<1>();
    __syncthreads();

    PlaneMarch<T, S> m;
    load_filters<T, S::TAPS, 1>(filters + p.plane * S::TAPS, filter_is_flipped<S::FILTER_W>(a),
                                m.filter);
    if (__syncthreads_or(!all_finite<S::TAPS, 1>(m.filter))) {
        gpu_cp_async_wait<0>();
        if (p.present)
            exact_strip<PLAIN>(m, p, x, y, z, bias, a);
        return;
    }

    set_columns(m, p, y, a);
    m.x_pitch = t.x_pitch;
    m.y_pitch = t.y_pitch;
    int first = S::y_column(p.strip, a), in_run = p.plane - p.run, other = t.x_buffer;
    gpu_shared out = shared + t.y_buffer + p.run * t.y_run;
    int x_own =
        in_run * t.x_plane + (p.strip * S::COLUMNS * S::STRIDE - S::pad_w(a)) * (int)sizeof(T);
    int y_own = in_run * t.y_plane + first * (int)sizeof(T);
    gpu_keep(x_own);
    gpu_keep(y_own);
    int64_t y_at =
        p.n * S::y_image(a) + (channel * S::y_h(a) + y_begin<S>(p.first_row, a)) * S::y_w(a);
    int64_t own_at = y_at + in_run * S::y_h(a) * S::y_w(a) + first;
    T *y_image = y + y_at;
    GPU_NO_UNROLL
    for (int left = p.images; left > 0; left--) {
        begin_image(m, p, a);
        if (!PLAIN) {
            begin_prior(m, z + own_at, y + own_at, bias + p.channel_tile + p.plane, a);
            own_at += S::y_image(a);
        }
        T *y_run = y_image;
        const T *x_stage = x_run + p.first_in * in_w;
        int out_row = p.first_row;
        bool more = true;
        while (more) {
            PlaneStage next = source.stage;
            fetch_stage<T, S>(source, buffer + other, p, a);
            gpu_cp_async_wait<1>();
            __syncthreads();

            m.row = buffer + sector_offset(x_stage) + x_own;
            m.out = out + sector_offset(y_run) + y_own + rows_before(m, p, out_row, a) * t.y_pitch;
            int out_end = compute_stage<PLAIN>(m, p, stage, a);
            int rows = y_begin<S>(out_end, a) - y_begin<S>(out_row, a);
            __syncthreads();

            if (p.copies)
                store_run(y_run, out, p.copies * rows * t.y_pitch, p.share);
            y_run += rows * S::y_w(a);
            x_stage += (stage.end - stage.row) * in_w;
            out_row = out_end;
            more = stage.end != p.end_in;
            stage = next;
            buffer += other;
            other = -other;
        }
        x_run += S::x_image(a);
        y_image += S::y_image(a);
    }
}

#endif
