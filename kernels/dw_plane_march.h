/* The march of the plane kernels: a thread goes down the rows of x in shared memory with the sums of the rows of y that
 * they meet. */
#ifndef GDNN_DW_PLANE_MARCH_H
#define GDNN_DW_PLANE_MARCH_H

#include "depthwise.h"
#include "dw_plane_host.h"

/* A number of the problem that a shape knows. */
#define PLANE_NUMBER(name, value)                                                                  \
    __device__ int name(const gdnn_args &a)                                                        \
    {                                                                                              \
        return (int)(value);                                                                       \
    }

template <int FILTER_H_, int FILTER_W_, int STRIDE_, int COLUMNS_>
struct PlaneShape {
    static const int FILTER_H = FILTER_H_, FILTER_W = FILTER_W_, STRIDE = STRIDE_;
    static const int COLUMNS = COLUMNS_; /* of y, of a thread */
    static const int TAPS = FILTER_H * FILTER_W;
    static const int SETS = (FILTER_H + STRIDE - 1) / STRIDE; /* rows of y in the making */
    static const int BEHIND = (FILTER_H - 1) / STRIDE; /* steps from a row's first to its last */
    static const int LAST_PHASE = (FILTER_H - 1) % STRIDE;
    static const int IN_COLUMNS = (COLUMNS - 1) * STRIDE + FILTER_W;
    /* Columns outside the plane, of the first and last strips, unless they are masked. */
    static const int LEFT = FILTER_W / 2, RIGHT = FILTER_W - LEFT - STRIDE;
    static const bool PAIRS = false; /* rows and columns of y are pairs (dw_plane_up.h) */

    /* What is marched through: planes of in_h x in_w to out_h x out_w outputs. */
    static PLANE_NUMBER(in_h, a.axis[1].in);
    static PLANE_NUMBER(in_w, a.axis[2].in);
    static PLANE_NUMBER(out_h, a.axis[1].out);
    static PLANE_NUMBER(out_w, a.axis[2].out);
    static PLANE_NUMBER(pad_h, a.axis[1].pad);
    static PLANE_NUMBER(pad_w, a.axis[2].pad);
    /* The planes that are written, and where in them row `row` of the march and strip `strip` begin. */
    static PLANE_NUMBER(y_h, a.axis[1].out);
    static PLANE_NUMBER(y_w, a.axis[2].out);
    static __device__ int y_row(int row, const gdnn_args &)
    {
        return row;
    }
    static __device__ int y_column(int strip, const gdnn_args &)
    {
        return strip * COLUMNS;
    }
    static __device__ int64_t x_image(const gdnn_args &a)
    {
        return a.x_stride_n;
    }
    static __device__ int64_t y_image(const gdnn_args &a)
    {
        return a.y_stride_n;
    }
};

/* A thread on its march. A step is a row of y: STRIDE rows of x. Of the sets of sums, number U % SETS is that of the row of y
 * to which the rows of step U are the first; the one before it is number (U - 1) % SETS, and so on. */
template <class T, class S>
struct PlaneMarch {
    gpu_shared row; /* the thread's first column of the next row of x */
    gpu_shared out; /* where its next row of y goes */
    int x_pitch, y_pitch;
    int early;   /* rows of y above the slab that will be completed first */
    int columns; /* of y; 0: none are stored */
    bool first, last;
    const T *z, *prior, *bias; /* of the next row of y, for full epilogues */
    uint32_t mask[S::IN_COLUMNS];
    float filter[S::TAPS][1];
    float sum[S::SETS][S::COLUMNS];
};

/* Row PHASE of step U of x into all sets. */
template <int U, int PHASE, int EDGES, class T, class S>
static __device__ __forceinline__ void add_row(PlaneMarch<T, S> &m)
{
    const bool WHOLE = EDGES == GDNN_PLANE_WHOLE;
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++) {
        const bool left = j < S::LEFT, right = j >= S::IN_COLUMNS - S::RIGHT;
        if (WHOLE && (left || right))
            continue;
        const T element = gpu_shared_value<T>(m.row + j * (int)sizeof(T));
        float x = load(&element);
        if (EDGES == GDNN_PLANE_EDGES && left)
            x = m.first ? 0.0f : x;
        if (EDGES == GDNN_PLANE_EDGES && right)
            x = m.last ? 0.0f : x;
        if (EDGES == GDNN_PLANE_MASKED)
            x = __uint_as_float(__float_as_uint(x) & m.mask[j]);
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++) {
            const int s = j - q * S::STRIDE;
            if (s < 0 || s >= S::FILTER_W)
                continue;
            const bool begins = s == (WHOLE ? max(0, S::LEFT - q * S::STRIDE) : 0);
            GPU_UNROLL
            for (int i = 0; i < S::SETS; i++) {
                const int r = i * S::STRIDE + PHASE, set = (U - i + S::SETS) % S::SETS;
                if (r >= S::FILTER_H)
                    continue;
                float w = m.filter[r * S::FILTER_W + s][0];
                m.sum[set][q] = r == 0 && begins ? w * x : fmaf(w, x, m.sum[set][q]);
            }
        }
    }
    m.row += m.x_pitch;
}

/* Sets are numbered as if step U were step 0. */
template <int U, class T, class S>
static __device__ __forceinline__ void renumber(PlaneMarch<T, S> &m)
{
    float old[S::SETS][S::COLUMNS];
    GPU_UNROLL
    for (int pass = 0; pass < 2; pass++) {
        GPU_UNROLL
        for (int set = 0; set < S::SETS; set++) {
            GPU_UNROLL
            for (int q = 0; q < S::COLUMNS; q++)
                if (pass == 0)
                    old[set][q] = m.sum[set][q];
                else
                    m.sum[set][q] = old[(set + U) % S::SETS][q];
        }
    }
}

/* Stores the next row of y. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void store_row(PlaneMarch<T, S> &m,
                                                 const float (&sum)[S::COLUMNS], const gdnn_args &a)
{
    if (EDGES == GDNN_PLANE_MASKED || m.columns) {
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++)
            if (EDGES != GDNN_PLANE_MASKED || q < m.columns) {
                float value = sum[q];
                if (!PLAIN)
                    value = forward_end(value, m.z + q, m.prior + q, m.bias, a);
                T element;
                store(&element, value);
                gpu_store_shared(m.out + q * (int)sizeof(T), element);
            }
    }
    m.out += m.y_pitch;
    if (!PLAIN) {
        m.z += a.axis[2].out;
        m.prior += a.axis[2].out;
    }
}

/* Stores the row of y that step U completes. */
template <int U, int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void complete_row(PlaneMarch<T, S> &m, const gdnn_args &a)
{
    store_row<EDGES, PLAIN, T, S>(m, m.sum[(U - S::BEHIND + S::SETS) % S::SETS], a);
}

/* Rows PHASE to STRIDE - 1 of step U. STORES: and the row of y that it completes is stored. */
template <int U, int PHASE, bool STORES, int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void whole_step(PlaneMarch<T, S> &m, const gdnn_args &a)
{
    if constexpr (PHASE < S::STRIDE) {
        add_row<U, PHASE, EDGES>(m);
        if constexpr (STORES && PHASE == S::LAST_PHASE)
            complete_row<U, EDGES, PLAIN>(m, a);
        whole_step<U, PHASE + 1, STORES, EDGES, PLAIN>(m, a);
    }
}

/* Steps U to SETS - 1. */
template <int U, int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void whole_turn(PlaneMarch<T, S> &m, const gdnn_args &a)
{
    if constexpr (U < S::SETS) {
        whole_step<U, 0, true, EDGES, PLAIN>(m, a);
        whole_turn<U + 1, EDGES, PLAIN>(m, a);
    }
}

/* `left` steps from step U, fewer than a turn. Large filters have one step's code for all. */
template <int U, int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void last_steps(PlaneMarch<T, S> &m, int left, const gdnn_args &a)
{
    if constexpr (S::SETS > 3) {
        GPU_NO_UNROLL
        for (; left > 0; left--) {
            whole_step<0, 0, true, EDGES, PLAIN>(m, a);
            renumber<1>(m);
        }
    } else if constexpr (U < S::SETS - 1) {
        if (left > 0) {
            whole_step<U, 0, true, EDGES, PLAIN>(m, a);
            last_steps<U + 1, EDGES, PLAIN>(m, left - 1, a);
        } else {
            renumber<U>(m);
        }
    } else {
        renumber<U>(m);
    }
}

template <class S>
static __device__ __forceinline__ void clear(float (&sum)[S::COLUMNS])
{
    GPU_UNROLL
    for (int q = 0; q < S::COLUMNS; q++)
        sum[q] = 0;
}

/* Rows PHASE to STRIDE - 1 of step 0, of which rows `first` to `end` - 1 are rows of x and the others padding. */
template <int PHASE, int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void part_step(PlaneMarch<T, S> &m, int first, int end,
                                                 const gdnn_args &a)
{
    if constexpr (PHASE < S::STRIDE) {
        if (PHASE >= first && PHASE < end)
            add_row<0, PHASE, EDGES>(m);
        else if constexpr (PHASE == 0)
            clear<S>(m.sum[0]);
        if constexpr (PHASE == S::LAST_PHASE) {
            if (m.early > 0)
                m.early--;
            else
                complete_row<0, EDGES, PLAIN>(m, a);
        }
        part_step<PHASE + 1, EDGES, PLAIN>(m, first, end, a);
    } else {
        renumber<1>(m);
    }
}

/* The same, where early steps may be left. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void single_part(PlaneMarch<T, S> &m, int first, int end,
                                                   const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (int i = 0; i < m.early; i++)
        renumber<S::SETS - 1>(m);
    part_step<0, EDGES, PLAIN>(m, first, end, a);
    GPU_NO_UNROLL
    for (int i = 0; i < m.early; i++)
        renumber<1>(m);
}

/* The steps of which the rows of y are above the slab: `early` of them, numbered so that step 0 follows. */
template <int LEFT, int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void early_steps(PlaneMarch<T, S> &m, int &v, int end,
                                                   const gdnn_args &a)
{
    if constexpr (LEFT > 0) {
        if (m.early >= LEFT && v + S::STRIDE <= end) {
            whole_step<S::SETS - LEFT, 0, false, EDGES, PLAIN>(m, a);
            v += S::STRIDE;
            m.early = LEFT - 1;
        }
        early_steps<LEFT - 1, EDGES, PLAIN>(m, v, end, a);
    }
}

/* The rows v to end - 1 of x, which count from the top of the padding so that row v begins row v / STRIDE of y; `end` is a
 * multiple of STRIDE, or the slab's end. While there are early steps, the next one is number SETS - early.
 *
 * Full epilogues are long: of those there is the code of one step, and the next one is always number 0. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void march(PlaneMarch<T, S> &m, int v, int end,
                                             const gdnn_args &a)
{
    if (!PLAIN) {
        GPU_NO_UNROLL
        for (int step = v / S::STRIDE * S::STRIDE; step < end; step += S::STRIDE)
            part_step<0, EDGES, PLAIN>(m, v - step, end - step, a);
        return;
    }
    if (S::STRIDE > 1 && v % S::STRIDE) {
        int step = v / S::STRIDE * S::STRIDE;
        single_part<EDGES, PLAIN>(m, v - step, end - step, a);
        v = step + S::STRIDE;
    }
    if (m.early > 0)
        early_steps<S::BEHIND, EDGES, PLAIN>(m, v, end, a);
    int left = (end - v) / S::STRIDE; /* may round to 0 from below */
    GPU_NO_UNROLL
    for (; left >= S::SETS; left -= S::SETS)
        whole_turn<0, EDGES, PLAIN>(m, a);
    last_steps<0, EDGES, PLAIN>(m, left, a);
    if (S::STRIDE > 1 && v < end && (end - v) % S::STRIDE)
        single_part<EDGES, PLAIN>(m, 0, (end - v) % S::STRIDE, a);
}

/* Stores the next of `rows` rows of y, unless it is above the slab. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void end_row(PlaneMarch<T, S> &m, const float (&sum)[S::COLUMNS],
                                               int &rows, const gdnn_args &a)
{
    if (m.early > 0) {
        m.early--;
        return;
    }
    store_row<EDGES, PLAIN, T, S>(m, sum, a);
    rows--;
}

/* `rows` rows of y that end in the padding below; the oldest set is number 1. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void flush(PlaneMarch<T, S> &m, int rows, const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (int i = 0; PLAIN && i < m.early; i++)
        renumber<S::SETS - 1>(m);
    GPU_UNROLL
    for (int set = 1; PLAIN && set < S::SETS; set++)
        if (rows > 0)
            end_row<EDGES, PLAIN, T, S>(m, m.sum[set], rows, a);
    GPU_NO_UNROLL
    for (int set = 1; !PLAIN && set < S::SETS && rows > 0; set++) {
        end_row<EDGES, PLAIN, T, S>(m, m.sum[1 % S::SETS], rows, a);
        renumber<1>(m);
    }
}

#endif
