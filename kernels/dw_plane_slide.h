/* Depthwise convolution of stride 1, channels first, with large filters: blocks, copies and planes of dw_plane.h, and a march
 * of which all rows have the same code. The rows of y in the making move up by one with every row of x: the first product
 * of each goes to other registers than its sum came from, which costs nothing. */
#ifndef GDNN_DW_PLANE_SLIDE_H
#define GDNN_DW_PLANE_SLIDE_H

#include "dw_plane.h"

template <int FILTER_H, int FILTER_W, int COLUMNS>
struct PlaneSlideShape : PlaneShape<FILTER_H, FILTER_W, 1, COLUMNS> {
};

/* A thread on its march: a row of x completes a row of y, and others are in the making, oldest first. */
template <class T, int FILTER_H, int FILTER_W, int COLUMNS>
struct PlaneMarch<T, PlaneSlideShape<FILTER_H, FILTER_W, COLUMNS>> {
    typedef PlaneSlideShape<FILTER_H, FILTER_W, COLUMNS> S;
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

template <class T, int H, int W, int COLUMNS>
static __device__ __forceinline__ void set_columns(PlaneMarch<T, PlaneSlideShape<H, W, COLUMNS>> &m,
                                                   const PlanePlace &p, const T *,
                                                   const gdnn_args &a)
{
    m.columns = p.present ? (int)a.axis[2].out - p.strip * COLUMNS : 0;
}

template <class T, int H, int W, int COLUMNS>
static __device__ __forceinline__ void begin_image(PlaneMarch<T, PlaneSlideShape<H, W, COLUMNS>> &m,
                                                   const PlanePlace &p, const gdnn_args &a)
{
    m.y_row = -early_rows<PlaneSlideShape<H, W, COLUMNS>>(p, a);
    m.end_row = p.end_row - p.first_row;
    GPU_UNROLL
    for (int i = 0; i < (H - 1) * COLUMNS; i++)
        m.pending[i / COLUMNS][i % COLUMNS] = 0;
}

template <class T, int H, int W, int COLUMNS>
static __device__ __forceinline__ void begin_prior(PlaneMarch<T, PlaneSlideShape<H, W, COLUMNS>> &m,
                                                   const T *z, const T *prior, const T *bias,
                                                   const gdnn_args &a)
{
    m.z = z + m.y_row * (int)a.axis[2].out;
    m.prior = prior + m.y_row * (int)a.axis[2].out;
    m.bias = bias;
}

template <class T, int H, int W, int COLUMNS>
static __device__ __forceinline__ int
rows_before(const PlaneMarch<T, PlaneSlideShape<H, W, COLUMNS>> &m, const PlanePlace &p,
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
        float sum = R == 0 ? m.filter[0][0] * x[q] : from[q];
        GPU_UNROLL
        for (int s = R == 0; s < S::FILTER_W; s++)
            sum = fmaf(m.filter[R * S::FILTER_W + s][0], x[q + s], sum);
        to[q] = sum;
    }
}

/* Number I of the rows in the making gets the sums of number I + 1, with its share of the row of x; and so on. */
template <int I, class T, class S>
static __device__ __forceinline__ void slide(PlaneMarch<T, S> &m, const float (&x)[S::IN_COLUMNS])
{
    const int NEXT = I + 1 < S::BEHIND ? I + 1 : I; /* the last one begins */
    slide_add<S::BEHIND - 1 - I>(m, x, m.pending[NEXT], m.pending[I]);
    if constexpr (I + 1 < S::BEHIND)
        slide<I + 1>(m, x);
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

/* One stage. Returns the first row of y that it does not complete. */
template <bool PLAIN, class T, int H, int W, int COLUMNS>
static __device__ __forceinline__ int
compute_stage(PlaneMarch<T, PlaneSlideShape<H, W, COLUMNS>> &m, const PlanePlace &p,
              const PlaneStage &stage, const gdnn_args &a)
{
    typedef PlaneSlideShape<H, W, COLUMNS> S;
    set_masks(m, p, a);
    GPU_NO_UNROLL
    for (int rows = stage.end - stage.row; rows > 0; rows--) {
        float x[S::IN_COLUMNS], complete[COLUMNS];
        slide_load(m, x);
        slide_add<S::BEHIND>(m, x, m.pending[0], complete);
        slide_store<PLAIN>(m, complete, a);
        slide<0>(m, x);
    }
    if (stage.end < p.end_in)
        return max(stage.end + S::pad_h(a) - S::BEHIND, p.first_row);
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
