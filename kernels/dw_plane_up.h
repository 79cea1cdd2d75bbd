/* Backward-data of a depthwise convolution of stride 2, channels first: planes of dy through shared memory.
 *
 * dx is cut into pairs of rows and of columns as in dw_up.h: in terms of pairs it is a forward convolution of stride 1 from
 * dy, and the blocks, copies and the march of dw_plane.h serve it. A thread has COLUMNS pairs of columns; a row of dy
 * completes a pair of rows. A pair of which half lies beside dx is computed and half of it is stored. */
#ifndef GDNN_DW_PLANE_UP_H
#define GDNN_DW_PLANE_UP_H

#include "dw_pairs.h"
#include "dw_plane.h"

/* COLUMNS counts pairs. What has the names of PlaneShape is the convolution in terms of pairs. */
template <int FILTER_, int COLUMNS_>
struct PlaneUpShape {
    static const int FILTER = FILTER_, TAPS = FILTER * FILTER;
    static const int SHIFT = gdnn_pair_shift(FILTER); /* of pairs of columns */
    static const int FILTER_H = gdnn_pair_reach(FILTER), FILTER_W = FILTER_H, STRIDE = 1;
    static const int COLUMNS = COLUMNS_, IN_COLUMNS = COLUMNS + FILTER_W - 1;
    static const int WIDTH = 2 * COLUMNS;
    static const int BEHIND = FILTER_H - 1;
    /* Where the padding is half of the filter. */
    static const int LEFT = gdnn_pair_pad(FILTER, FILTER / 2, SHIFT), RIGHT = FILTER_W - LEFT - 1;
    static const bool PAIRS = true;

    static PLANE_NUMBER(in_h, a.axis[1].out);
    static PLANE_NUMBER(in_w, a.axis[2].out);
    static PLANE_NUMBER(out_h, a.tiling.pairs_h);
    static PLANE_NUMBER(out_w, a.tiling.pairs_w);
    static PLANE_NUMBER(pad_h, a.tiling.pair_pad_h);
    static PLANE_NUMBER(pad_w, a.tiling.pair_pad_w);
    static PLANE_NUMBER(y_h, a.axis[1].in);
    static PLANE_NUMBER(y_w, a.axis[2].in);
    static __device__ int y_row(int row, const gdnn_args &a)
    {
        return 2 * row - ((int)a.axis[1].pad & 1);
    }
    static __device__ int y_column(int strip, const gdnn_args &a)
    {
        return strip * WIDTH - (((int)a.axis[2].pad - SHIFT) & 1);
    }
    static __device__ int64_t x_image(const gdnn_args &a)
    {
        return a.y_stride_n;
    }
    static __device__ int64_t y_image(const gdnn_args &a)
    {
        return a.x_stride_n;
    }
};

/* A thread on its march: a row of dy completes a pair of rows of dx, and others are in the making, oldest first. Of the
 * last one the second row has no sums yet. */
template <class T, int FILTER, int COLUMNS>
struct PlaneMarch<T, PlaneUpShape<FILTER, COLUMNS>> {
    typedef PlaneUpShape<FILTER, COLUMNS> S;
    gpu_shared row; /* the thread's first column of the next row of dy */
    gpu_shared out; /* where the next row of dx goes */
    int x_pitch, y_pitch;
    int y_row, end_row;           /* the next row of dx, from the slab's first; their number */
    int first_column, end_column; /* of the thread's, those that are inside of dx */
    bool paired;                  /* all columns are inside, and pairs of them aligned */
    bool first, last;
    const T *prior; /* of the next row of dx, for full epilogues */
    uint32_t mask[S::IN_COLUMNS];
    float filter[S::TAPS][1];
    float pending[S::BEHIND][2][S::WIDTH];
};

template <class T, int FILTER, int COLUMNS>
static __device__ __forceinline__ void set_columns(PlaneMarch<T, PlaneUpShape<FILTER, COLUMNS>> &m,
                                                   const PlanePlace &p, const T *dx,
                                                   const gdnn_args &a)
{
    typedef PlaneUpShape<FILTER, COLUMNS> S;
    int first = S::y_column(p.strip, a);
    m.paired = a.tiling.edges == GDNN_PLANE_EDGES && (uintptr_t)dx % (2 * sizeof(T)) == 0;
    m.first = p.strip == 0;
    m.last = p.strip == a.tiling.strips - 1;
    m.first_column = max(-first, 0);
    m.end_column = p.present ? S::y_w(a) - first : 0;
}

template <class T, int FILTER, int COLUMNS>
static __device__ __forceinline__ void begin_image(PlaneMarch<T, PlaneUpShape<FILTER, COLUMNS>> &m,
                                                   const PlanePlace &p, const gdnn_args &a)
{
    typedef PlaneUpShape<FILTER, COLUMNS> S;
    int begin = y_begin<S>(p.first_row, a);
    m.y_row = S::y_row(p.first_row - early_rows<S>(p, a), a) - begin;
    m.end_row = y_begin<S>(p.end_row, a) - begin;
    GPU_UNROLL
    for (int i = 0; i < S::BEHIND * 2 * S::WIDTH; i++)
        m.pending[i / (2 * S::WIDTH)][i / S::WIDTH % 2][i % S::WIDTH] = 0;
}

template <class T, int FILTER, int COLUMNS>
static __device__ __forceinline__ void begin_prior(PlaneMarch<T, PlaneUpShape<FILTER, COLUMNS>> &m,
                                                   const T *, const T *prior, const T *,
                                                   const gdnn_args &a)
{
    m.prior = prior + m.y_row * PlaneUpShape<FILTER, COLUMNS>::y_w(a);
}

template <class T, int FILTER, int COLUMNS>
static __device__ __forceinline__ int
rows_before(const PlaneMarch<T, PlaneUpShape<FILTER, COLUMNS>> &m, const PlanePlace &p, int out_row,
            const gdnn_args &a)
{
    typedef PlaneUpShape<FILTER, COLUMNS> S;
    return m.y_row + y_begin<S>(p.first_row, a) - y_begin<S>(out_row, a);
}

/* A row of dy. */
template <int EDGES, class T, class S>
static __device__ __forceinline__ void load_row(PlaneMarch<T, S> &m, float (&dy)[S::IN_COLUMNS])
{
    GPU_UNROLL
    for (int j = 0; j < S::IN_COLUMNS; j++) {
        const T element = gpu_shared_value<T>(m.row + j * (int)sizeof(T));
        dy[j] = load(&element);
        if (EDGES == GDNN_PLANE_EDGES && j < S::LEFT)
            dy[j] = m.first ? 0.0f : dy[j];
        if (EDGES == GDNN_PLANE_EDGES && j >= S::IN_COLUMNS - S::RIGHT)
            dy[j] = m.last ? 0.0f : dy[j];
        if (EDGES == GDNN_PLANE_MASKED)
            dy[j] = __uint_as_float(__float_as_uint(dy[j]) & m.mask[j]);
    }
    m.row += m.x_pitch;
}

/* What a pair of rows of dx gets from the row of dy that is number D of those that meet it: to = from + that, or just that
 * for rows that have no sums yet. */
template <int D, class T, class S>
static __device__ __forceinline__ void
add_row(const PlaneMarch<T, S> &m, const float (&dy)[S::IN_COLUMNS],
        const float (&from)[2][S::WIDTH], float (&to)[2][S::WIDTH])
{
    GPU_UNROLL
    for (int e = 0; e < 2; e++) {
        const int tap_h = up_tap<S>(e, D, 0);
        GPU_UNROLL
        for (int k = 0; k < S::WIDTH; k++) {
            bool begun = is_tap<S>(tap_h + 2);
            float sum = begun ? from[e][k] : 0;
            GPU_UNROLL
            for (int d = 0; d < S::FILTER_W; d++) {
                const int tap_w = up_tap<S>(k % 2, d, S::SHIFT);
                if (!is_tap<S>(tap_h) || !is_tap<S>(tap_w))
                    continue;
                float w = m.filter[tap_h * S::FILTER + tap_w][0];
                sum = begun ? fmaf(w, dy[k / 2 + d], sum) : w * dy[k / 2 + d];
                begun = true;
            }
            to[e][k] = sum;
        }
    }
}

/* Number I of the pairs in the making gets the sums of number I + 1, with its share of the row of dy; and so on. */
template <int I, class T, class S>
static __device__ __forceinline__ void move_pending(PlaneMarch<T, S> &m,
                                                    const float (&dy)[S::IN_COLUMNS])
{
    const int NEXT = I + 1 < S::BEHIND ? I + 1 : I; /* the last one begins */
    add_row<S::BEHIND - 1 - I>(m, dy, m.pending[NEXT], m.pending[I]);
    if constexpr (I + 1 < S::BEHIND)
        move_pending<I + 1>(m, dy);
}

/* What follows a sum; `prior` is the element that it replaces. */
template <bool PLAIN, class T>
static __device__ __forceinline__ float up_end(float sum, const T *prior, const gdnn_args &a)
{
    if (PLAIN)
        return sum;
    sum *= a.alpha.f32;
    return a.beta.nonzero ? fmaf(a.beta.f32, load(prior), sum) : sum;
}

/* Stores a row of pairs, all of them inside, or only what is. */
template <bool PLAIN, class T, class S>
static __device__ __forceinline__ void store_pairs(const PlaneMarch<T, S> &m,
                                                   const float (&sum)[S::WIDTH], const gdnn_args &a)
{
    GPU_UNROLL
    for (int k = 0; k < S::WIDTH; k += 2) {
        const float pair[2] = {up_end<PLAIN>(sum[k], m.prior + k, a),
                               up_end<PLAIN>(sum[k + 1], m.prior + k + 1, a)};
        store_values<T, 2>(m.out + k * (int)sizeof(T), pair);
    }
}

template <bool PLAIN, class T, class S>
static __device__ __forceinline__ void
store_inside(const PlaneMarch<T, S> &m, const float (&sum)[S::WIDTH], const gdnn_args &a)
{
    GPU_UNROLL
    for (int k = 0; k < S::WIDTH; k++)
        if (k >= m.first_column && k < m.end_column) {
            T element;
            store(&element, up_end<PLAIN>(sum[k], m.prior + k, a));
            gpu_store_shared(m.out + k * (int)sizeof(T), element);
        }
}

/* Stores what of the next pair of rows is of the slab. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void
store_rows(PlaneMarch<T, S> &m, const float (&sum)[2][S::WIDTH], const gdnn_args &a)
{
    GPU_UNROLL
    for (int e = 0; e < 2; e++) {
        if (m.y_row >= 0 && m.y_row < m.end_row && m.end_column > 0) {
            if (EDGES == GDNN_PLANE_MASKED)
                store_inside<PLAIN>(m, sum[e], a);
            else
                store_pairs<PLAIN>(m, sum[e], a);
        }
        m.y_row++;
        m.out += m.y_pitch;
        if (!PLAIN)
            m.prior += S::y_w(a);
    }
}

/* `rows` rows of dy, and after the last one of all what lies below. The pair of rows that is complete is stored before
 * others need registers. */
template <int EDGES, bool PLAIN, class T, class S>
static __device__ __forceinline__ void up_march(PlaneMarch<T, S> &m, int rows, bool last,
                                                const gdnn_args &a)
{
    GPU_NO_UNROLL
    for (; rows > 0; rows--) {
        float dy[S::IN_COLUMNS], complete[2][S::WIDTH];
        load_row<EDGES>(m, dy);
        add_row<S::BEHIND>(m, dy, m.pending[0], complete);
        store_rows<EDGES, PLAIN>(m, complete, a);
        move_pending<0>(m, dy);
    }
    if (last) {
        GPU_UNROLL
        for (int i = 0; i < S::BEHIND; i++)
            store_rows<EDGES, PLAIN>(m, m.pending[i], a);
    }
}

/* One stage. Returns the first pair of rows that it does not complete. */
template <bool PLAIN, class T, int FILTER, int COLUMNS>
static __device__ __forceinline__ int compute_stage(PlaneMarch<T, PlaneUpShape<FILTER, COLUMNS>> &m,
                                                    const PlanePlace &p, const PlaneStage &stage,
                                                    const gdnn_args &a)
{
    typedef PlaneUpShape<FILTER, COLUMNS> S;
    bool last = stage.end == p.end_in;
    int rows = stage.end - stage.row;
    if (m.paired) {
        up_march<GDNN_PLANE_EDGES, PLAIN>(m, rows, last, a);
    } else {
        set_masks(m, p, a);
        up_march<GDNN_PLANE_MASKED, PLAIN>(m, rows, last, a);
    }
    return last ? p.end_row : max(stage.end + S::pad_h(a) - S::BEHIND, p.first_row);
}

/* The elements of a thread from the definition, tap by tap: for filters that are not finite. */
template <bool PLAIN, class T, int FILTER, int COLUMNS>
static __device__ __forceinline__ void
exact_strip(const PlaneMarch<T, PlaneUpShape<FILTER, COLUMNS>> &m, const PlanePlace &p, const T *dy,
            T *dx, const T *, const T *, const gdnn_args &a)
{
    typedef PlaneUpShape<FILTER, COLUMNS> S;
    int dy_h = S::in_h(a), dy_w = S::in_w(a), dx_h = S::y_h(a), dx_w = S::y_w(a);
    int left = S::y_column(p.strip, a), channel = p.channel_tile + p.plane;
    GPU_NO_UNROLL
    for (int64_t n = p.n; n < p.n + p.images; n++) {
        const T *from = dy + n * S::x_image(a) + (int64_t)channel * dy_h * dy_w;
        T *to = dx + n * S::y_image(a) + (int64_t)channel * dx_h * dx_w;
        GPU_NO_UNROLL
        for (int row = max(S::y_row(p.first_row, a), 0); row < min(S::y_row(p.end_row, a), dx_h);
             row++) {
            GPU_NO_UNROLL
            for (int column = max(left, 0); column < min(left + S::WIDTH, dx_w); column++) {
                float sum = 0;
                GPU_UNROLL
                for (int tap = 0; tap < S::TAPS; tap++) {
                    int i = row + (int)a.axis[1].pad - tap / FILTER;
                    int j = column + (int)a.axis[2].pad - tap % FILTER;
                    if (i >= 0 && j >= 0 && !((i | j) & 1) && i / 2 < dy_h && j / 2 < dy_w)
                        sum = fmaf(m.filter[tap][0], load(from + i / 2 * dy_w + j / 2), sum);
                }
                finish(to + (int64_t)row * dx_w + column, sum, a);
            }
        }
    }
}

#endif
