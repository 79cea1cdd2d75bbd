/* The inner loop of the general plane kernels (dw_gplane.h): a group of rows of one column of the result, from columns of the
 * source. */
#ifndef GDNN_DW_GPLANE_COLUMNS_H
#define GDNN_DW_GPLANE_COLUMNS_H

#include "dw_gplane_host.h"
#include "values.h"

/* A thread's place in a column of the source, counted in source_steps: `row` is `inside` behind the first row that exists,
 * of `span` that do. */
template <class T>
struct Column {
    const T *row;
    gpu_shared filter;
    int inside, span;
    int pieces; /* of TAPS taps */
};

template <class T>
static __device__ __forceinline__ const T *next_row(const T *row, int64_t row_bytes)
{
    return reinterpret_cast<const T *>(reinterpret_cast<const char *>(row) + row_bytes);
}

/* Reads x[FIRST] and the following COUNT - 1 rows, which all exist if `inside` < `most`; `row` and `inside` go on behind
 * them. */
template <int FIRST, int COUNT, class T, int WINDOW>
static __device__ __forceinline__ void load_rows(const T *&row, int &inside, int most, int span,
                                                 int64_t row_bytes, float (&x)[WINDOW])
{
    if ((uint32_t)inside < (uint32_t)most) {
        GPU_UNROLL
        for (int i = 0; i < COUNT; i++, row = next_row(row, row_bytes))
            x[FIRST + i] = load(row);
    } else {
        GPU_UNROLL
        for (int i = 0; i < COUNT; i++, row = next_row(row, row_bytes)) {
            x[FIRST + i] = 0;
            if ((uint32_t)(inside + i) < (uint32_t)span)
                x[FIRST + i] = load(row);
        }
    }
    inside += COUNT;
}

/* Adds `columns` taps of each row that c has, which has a piece at least if there are any. */
template <class T, int ROWS>
static __device__ __forceinline__ void add_columns(Column<T> c, int columns, const gdnn_tiling &t,
                                                   float (&sum)[ROWS])
{
    const int TAPS = GDNN_GPLANE_TAPS, KEPT = ROWS - 1;
    const int64_t row_bytes = t.source_row_bytes;
    int most_kept = max(c.span - KEPT + 1, 0), most = max(c.span - TAPS + 1, 0);
    gpu_keep(most_kept);
    gpu_keep(most);
    GPU_NO_UNROLL
    for (; columns > 0; columns--, c.row += t.x_column, c.filter += (uint32_t)t.column_bytes) {
        const T *row = c.row;
        gpu_shared filter = c.filter;
        int inside = c.inside, left = c.pieces;
        float x[KEPT + TAPS];
        load_rows<0, KEPT>(row, inside, most_kept, c.span, row_bytes, x);
        GPU_NO_UNROLL
        while (true) {
            float tap[TAPS];
            load_rows<KEPT, TAPS>(row, inside, most, c.span, row_bytes, x);
            gpu_load_shared(tap, filter);
            GPU_UNROLL
            for (int i = 0; i < TAPS; i++) {
                GPU_UNROLL
                for (int q = 0; q < ROWS; q++)
                    sum[q] = fmaf(tap[i], x[i + q], sum[q]);
            }
            if (--left <= 0)
                break;
            filter += TAPS * 4;
            GPU_UNROLL
            for (int q = 0; q < KEPT; q++)
                x[q] = x[TAPS + q];
        }
    }
}

/* The place of the chunk's taps of one phase, the first of which meets row `begin` of the source for the first row of the
 * result. `source` is the first row's element for the first column. Pieces that meet no row that exists are left out. */
template <class T>
static __device__ __forceinline__ Column<T> column_at(const T *source, int begin, int width,
                                                      gpu_shared filter, const gdnn_tiling &t)
{
    const int TAPS = GDNN_GPLANE_TAPS, WINDOW = TAPS + GDNN_GPLANE_ROWS - 1;
    int step = (int)t.source_step.value, whole = begin, rest = 0;
    if (step > 1) {
        whole = (int)divide_floor(begin, t.source_step);
        rest = begin - whole * step;
    }
    int first = -whole, end = t.source_whole + (rest < t.source_rest) - whole;
    int piece = max((first - WINDOW + TAPS) / TAPS, 0); /* the last one that ends before it + 1 */
    Column<T> c;
    c.row = source + (begin + piece * TAPS * step) * width;
    c.filter = filter + (uint32_t)(piece * TAPS * 4);
    c.inside = piece * TAPS - first;
    c.span = max(end - first, 0);
    c.pieces = min(t.chunk_rows, end + TAPS - 1) / TAPS - piece;
    return c;
}

#endif
