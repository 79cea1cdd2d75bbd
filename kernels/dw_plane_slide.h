/* Depthwise convolution, channels first, with large filters: blocks, copies and planes of dw_plane.h, and a march
 * of which all rows have the same code. The rows of y in the making move up by one with every row of x: the first product
 * of each goes to other registers than its sum came from, which costs nothing. */
#ifndef GDNN_DW_PLANE_SLIDE_H
#define GDNN_DW_PLANE_SLIDE_H

#include "dw_plane.h"

/* The last row of a filter is the first of a step. */
template <int FILTER_H, int FILTER_W, int STRIDE, int COLUMNS>
struct PlaneSlideShape : PlaneShape<FILTER_H, FILTER_W, STRIDE, COLUMNS> {
};

/* A thread on its march: a row of x completes a row of y, and others are in the making, oldest first. */
template <class T, int FILTER_H, int FILTER_W, int STRIDE, int COLUMNS>
struct PlaneMarch<T, PlaneSlideShape<FILTER_H, FILTER_W, STRIDE, COLUMNS>> {
    typedef PlaneSlideShape<FILTER_H, FILTER_W, STRIDE, COLUMNS> S;
    gpu_shared row; /* the thread's first column of the next row of x */
    gpu_shared out; /* where the next row of y goes */
    int x_pitch, y_pitch;
    int y_row, end_row;        /* the next row of y, from the slab's first; their number */
    int columns;               /* of y; 0: none are stored */
    const T *z, *prior, *bias; /* of the next row of y, for full epilogues */
    uint32_t mask[S::IN_COLUMNS];
    float filter[S::TAPS][1];
    float pending[S::BEHIND][COLUMNS];
};

template <class T, int H, int W, int STRIDE, int COLUMNS>
static __device__ __forceinline__ void
set_columns(PlaneMarch<T, PlaneSlideShape<H, W, STRIDE, COLUMNS>> &m, const PlanePlace &p,
            const T *, const gdnn_args &a)
{
    m.columns = p.present ? (int)a.axis[2].out - p.strip * COLUMNS : 0;
}

template <class T, int H, int W, int STRIDE, int COLUMNS>
static __device__ __forceinline__ void
begin_image(PlaneMarch<T, PlaneSlideShape<H, W, STRIDE, COLUMNS>> &m, const PlanePlace &p,
            const gdnn_args &a)
{
    typedef PlaneSlideShape<H, W, STRIDE, COLUMNS> S;
    /* a step whose first row is padding completes nothing that is not there */
    m.y_row = (p.first_in + S::pad_h(a)) % STRIDE - early_rows<S>(p, a);
    m.end_row = p.end_row - p.first_row;
    GPU_UNROLL
    for (int i = 0; i < S::BEHIND * COLUMNS; i++)
        m.pending[i / COLUMNS][i % COLUMNS] = 0;
}

template <class T, int H, int W, int STRIDE, int COLUMNS>
static __device__ __forceinline__ void
begin_prior(PlaneMarch<T, PlaneSlideShape<H, W, STRIDE, COLUMNS>> &m, const T *z, const T *prior,
            const T *bias, const gdnn_args &a)
{
    m.z = z + m.y_row * (int)a.axis[2].out;
    m.prior = prior + m.y_row * (int)a.axis[2].out;
    m.bias = bias;
}

template <class T, int H, int W, int STRIDE, int COLUMNS>
static __device__ __forceinline__ int
rows_before(const PlaneMarch<T, PlaneSlideShape<H, W, STRIDE, COLUMNS>> &m, const PlanePlace &p,
            int out_row, const gdnn_args &)
{
    return m.y_row + p.first_row - out_row;
}

/* What a row of y gets from the row of x that is its number R: to = from + that, or just that for R = 0. */
template <int R, class T, class S>
static __device__ __forceinline__ void
slide_add(const PlaneMarch<T, S> &m, const float (&x)[S::IN_COLUMNS],
          const float (&from)[S::COLUMNS], float (&to)[S::COLUMNS])
{
    GPU_UNROLL
    for (int q = 0; q < S::COLUMNS; q++) {
        float sum = R == 0 ? m.filter[0][0] * x[q * S::STRIDE] : from[q];
        GPU_UNROLL
        for (int s = R == 0; s < S::FILTER_W; s++)
            sum = fmaf(m.filter[R * S::FILTER_W + s][0], x[q * S::STRIDE + s], sum);
        to[q] = sum;
    }
}

/* The rows in the making from number I on get their share of row PHASE of a step. The first row of a step moves them up, and
 * the last of them begins. */
template <int I, int PHASE, class T, class S>
static __device__ __forceinline__ void slide(PlaneMarch<T, S> &m, const float (&x)[S::IN_COLUMNS])
{
    const int FROM = PHASE == 0 && I + 1 < S::BEHIND ? I + 1 : I;
    slide_add<(S::BEHIND - 1 - I) * S::STRIDE + PHASE>(m, x, m.pending[FROM], m.pending[I]);
    if constexpr (I + 1 < S::BEHIND)
        slide<I + 1, PHASE>(m, x);
}

/* Stores the next row of y if it is of the slab. */
template <bool PLAIN, class T, class S>
static __device__ __forceinline__ void
slide_store(PlaneMarch<T, S> &m, const float (&sum)[S::COLUMNS], const gdnn_args &a)
{
    if (m.y_row >= 0 && m.y_row < m.end_row) {
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++)
            if (q < m.columns) {
                float value = sum[q];
                if (!PLAIN)
                    value = forward_end(value, m.z + q, m.prior + q, m.bias, a);
                T element;
                store(&element, value);
                gpu_store_shared(m.out + q * (int)sizeof(T), element);
            }
    }
    m.y_row++;
    m.out += m.y_pitch;
    if (!PLAIN) {
        m.z += a.axis[2].out;
        m.prior += a.axis[2].out;
    }
}

/* A row of x, of which columns in the padding are zeros. */
template <class T, class S>
static __device__ __forceinline__ void slide_load(PlaneMarch<T, S> &m, float (&x)[S::IN_COLUMNS])
{
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++) {
        const T element = gpu_shared_value<T>(m.row + j * (int)sizeof(T));
        x[j] = __uint_as_float(__float_as_uint(load(&element)) & m.mask[j]);
    }
    m.row += m.x_pitch;
}

/* Rows PHASE to END - 1 of a step; the first one completes a row of y. */
template <int PHASE, int END, bool PLAIN, class T, class S>
static __device__ __forceinline__ void slide_step(PlaneMarch<T, S> &m, const gdnn_args &a)
{
    float x[S::IN_COLUMNS];
    slide_load(m, x);
    if constexpr (PHASE == 0) {
        float complete[S::COLUMNS];
        slide_add<S::BEHIND * S::STRIDE>(m, x, m.pending[0], complete);
        slide_store<PLAIN>(m, complete, a);
    }
    slide<0, PHASE>(m, x);
    if constexpr (PHASE + 1 < END)
        slide_step<PHASE + 1, END, PLAIN>(m, a);
}

/* One stage. Returns the first row of y that it does not complete. */
template <bool PLAIN, class T, int H, int W, int STRIDE, int COLUMNS>
static __device__ __forceinline__ int
compute_stage(PlaneMarch<T, PlaneSlideShape<H, W, STRIDE, COLUMNS>> &m, const PlanePlace &p,
              const PlaneStage &stage, const gdnn_args &a)
{
    typedef PlaneSlideShape<H, W, STRIDE, COLUMNS> S;
    set_masks(m, p, a);
    int row = stage.row + S::pad_h(a), end = stage.end + S::pad_h(a);
    if (STRIDE == 2 && row % 2) {
        slide_step<STRIDE - 1, STRIDE, PLAIN>(m, a);
        row++;
    }
    GPU_NO_UNROLL
    for (; row + STRIDE <= end; row += STRIDE)
        slide_step<0, STRIDE, PLAIN>(m, a);
    if (STRIDE == 2 && row < end)
        slide_step<0, 1, PLAIN>(m, a);
    if (stage.end < p.end_in)
        return max((end + STRIDE - 1) / STRIDE - S::BEHIND, p.first_row);
    GPU_NO_UNROLL
    while (m.y_row < m.end_row) { /* what ends in the padding below */
        slide_store<PLAIN>(m, m.pending[0], a);
        GPU_UNROLL
        for (int i = 0; i + 1 < S::BEHIND; i++) {
            GPU_UNROLL
            for (int q = 0; q < COLUMNS; q++)
                m.pending[i][q] = m.pending[i + 1][q];
        }
    }
    return p.end_row;
}

#endif
