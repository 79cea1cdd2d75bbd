/* The march of the backward-filter plane kernels: a thread goes down the rows of dy and x in shared memory with the sums of
 * its taps. */
#ifndef GDNN_DW_PLANE_FILTER_MARCH_H
#define GDNN_DW_PLANE_FILTER_MARCH_H

#include "dw_plane_march.h"

/* A thread on its march. A step is a row of dy and the STRIDE rows of x that are the first it meets. In step U, set number
 * U % SETS is the step's row of dy, number (U - 1) % SETS the one before, and so on. */
template <class T, class S>
struct PlaneFilterMarch {
    gpu_shared x, dy; /* the thread's first columns of the next rows */
    gpu_shared zeros; /* instead of rows that do not exist */
    bool first, last; /* strips of a row */
    int x_mask[S::IN_COLUMNS], dy_mask[S::COLUMNS];
    float sum[S::TAPS];
    float set[S::SETS][S::COLUMNS];
};

/* The row of dy at `at` becomes set SET. */
template <int SET, int EDGES, class T, class S>
static __device__ __forceinline__ void filter_load(PlaneFilterMarch<T, S> &m, gpu_shared at)
{
    GPU_UNROLL
    for (int q = 0; q < S::COLUMNS; q++) {
        const T element = gpu_shared_value<T>(at + q * (int)sizeof(T));
        float value = load(&element);
        if (EDGES == GDNN_PLANE_MASKED)
            value = __uint_as_float(__float_as_uint(value) & (uint32_t)m.dy_mask[q]);
        m.set[SET][q] = value;
    }
}

/* Row PHASE of x of step U, at `at`, with all sets. */
template <int U, int PHASE, int EDGES, class T, class S>
static __device__ __forceinline__ void filter_add(PlaneFilterMarch<T, S> &m, gpu_shared at)
{
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++) {
        const bool left = j < S::LEFT, right = j >= S::IN_COLUMNS - S::RIGHT;
        if (EDGES == GDNN_PLANE_WHOLE && (left || right))
            continue;
        const T element = gpu_shared_value<T>(at + j * (int)sizeof(T));
        float x = load(&element);
        if (EDGES == GDNN_PLANE_EDGES && left)
            x = m.first ? 0.0f : x;
        if (EDGES == GDNN_PLANE_EDGES && right)
            x = m.last ? 0.0f : x;
        if (EDGES == GDNN_PLANE_MASKED)
            x = __uint_as_float(__float_as_uint(x) & (uint32_t)m.x_mask[j]);
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
                float &sum = m.sum[r * S::FILTER_W + s];
                sum = fmaf(m.set[set][q], x, sum);
            }
        }
    }
}

/* Rows PHASE to STRIDE - 1 of x of step U, all there. */
template <int U, int PHASE, int EDGES, class T, class S>
static __device__ __forceinline__ void filter_add_all(PlaneFilterMarch<T, S> &m, int pitch)
{
    if constexpr (PHASE < S::STRIDE) {
        filter_add<U, PHASE, EDGES>(m, m.x);
        m.x += pitch;
        filter_add_all<U, PHASE + 1, EDGES>(m, pitch);
    }
}

/* Steps U to SETS - 1. */
template <int U, int EDGES, class T, class S>
static __device__ __forceinline__ void filter_turn(PlaneFilterMarch<T, S> &m, const gdnn_tiling &t)
{
    if constexpr (U < S::SETS) {
        filter_load<U, EDGES>(m, m.dy);
        m.dy += t.y_pitch;
        filter_add_all<U, 0, EDGES>(m, t.x_pitch);
        filter_turn<U + 1, EDGES>(m, t);
    }
}

/* Sets are numbered as if step 0 were the last of a turn. */
template <class T, class S>
static __device__ __forceinline__ void filter_renumber(PlaneFilterMarch<T, S> &m)
{
    GPU_UNROLL
    for (int set = 1; set < S::SETS; set++) {
        GPU_UNROLL
        for (int q = 0; q < S::COLUMNS; q++)
            m.set[set][q] = m.set[(set + 1) % S::SETS][q];
    }
}

/* Rows PHASE to STRIDE - 1 of x of step 0, of which rows `first` to `end` - 1 exist. */
template <int PHASE, int EDGES, class T, class S>
static __device__ __forceinline__ void filter_add_some(PlaneFilterMarch<T, S> &m, int first,
                                                       int end, int pitch)
{
    if constexpr (PHASE < S::STRIDE) {
        bool there = PHASE >= first && PHASE < end;
        filter_add<0, PHASE, EDGES>(m, there ? m.x : m.zeros);
        m.x += there ? pitch : 0;
        filter_add_some<PHASE + 1, EDGES>(m, first, end, pitch);
    }
}

/* A step of which some rows may not exist. */
template <int EDGES, class T, class S>
static __device__ __forceinline__ void filter_step(PlaneFilterMarch<T, S> &m, bool there, int first,
                                                   int end, const gdnn_tiling &t)
{
    filter_load<0, EDGES>(m, there ? m.dy : m.zeros);
    m.dy += t.y_pitch;
    filter_add_some<0, EDGES>(m, first, end, t.x_pitch);
    filter_renumber(m);
}

/* Steps `step` to `end` - 1. Rows of dy exist below `dy_end`; rows of x, which count from the top of the padding so that
 * row v belongs to step v / STRIDE, from `x_first` to `x_end` - 1. */
template <int EDGES, class T, class S>
static __device__ __forceinline__ void filter_march(PlaneFilterMarch<T, S> &m, int step, int end,
                                                    int dy_end, int x_first, int x_end,
                                                    const gdnn_tiling &t)
{
    GPU_NO_UNROLL
    for (; step < end && (step + 1) * S::STRIDE <= x_first; step++) {
        filter_load<0, EDGES>(m, step < dy_end ? m.dy : m.zeros);
        m.dy += t.y_pitch;
        filter_renumber(m);
    }
    if (S::STRIDE > 1) {
        GPU_NO_UNROLL
        for (; step < end && step * S::STRIDE < x_first; step++)
            filter_step<EDGES>(m, step < dy_end, x_first - step * S::STRIDE,
                               x_end - step * S::STRIDE, t);
    }
    int left = min(min(dy_end, x_end / S::STRIDE), end) - step;
    GPU_NO_UNROLL
    for (; left >= S::SETS; left -= S::SETS, step += S::SETS)
        filter_turn<0, EDGES>(m, t);
    GPU_NO_UNROLL
    for (; step < end; step++)
        filter_step<EDGES>(m, step < dy_end, 0, x_end - step * S::STRIDE, t);
}

#endif
