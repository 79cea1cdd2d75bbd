#include "gplane.h"
#include "args.h"
#include "cut.h"
#include "dw_gplane_host.h"
#include "problem.h"

/* Taps of a channel's filter in shared memory, which are as many products of one chain of additions; bytes of a block's
 * filters, which leave room for several blocks on a multiprocessor. */
enum { MOST_TAPS = 1024, MOST_SHARED = 16 * 1024 };

/* Groups of rows that a thread computes one after the other: more save work at its start, few keep the GPU busy. */
enum { MOST_GROUPS = 8, ENOUGH_BLOCKS = 132 * 8 };

/* The filter's rows by phase, and rows of the result that share what they read. */
static void cut_rows(const gdnn_conv *p, gdnn_tiling *t)
{
    bool data = p->dir == GDNN_BWD_DATA;
    int64_t rows = data ? p->in[0] : gdnn_out_size(p, 0);
    int64_t source_rows = data ? gdnn_out_size(p, 0) : p->in[0];
    int64_t width = data ? gdnn_out_size(p, 1) : p->in[1];
    int64_t stride = p->stride[0], dilation = p->dilation[0], filter = p->filter[0];
    int64_t gcd = gdnn_gcd(stride, dilation);

    int64_t tap_step = gdnn_smaller(stride / gcd, filter);
    int64_t row_step = dilation / gcd;
    if (data) /* rows of dx with the same taps, whose rows of dy are as far apart as a phase's */
        row_step = stride < rows ? gdnn_smaller(row_step, rows) * stride : rows;
    row_step = gdnn_smaller(row_step, rows);
    int64_t taps = gdnn_divide_up(filter, tap_step);

    /* A single tap for a single row has no next row of the source. Else the step is within the padded x. */
    int64_t source_step = 1;
    if (taps > 1 || row_step < rows)
        source_step = data ? dilation / gcd : stride / gcd * dilation;
    t->row_phases = gdnn_divide_by(row_step);
    t->row_step = (int32_t)row_step;
    t->y_row = row_step * (data ? p->in[1] : gdnn_out_size(p, 1));
    t->source_step = gdnn_divide_by(source_step);
    t->source_row_bytes = source_step * width * (int64_t)gdnn_dtype_size(p->dtype);
    t->source_whole = (int32_t)(source_rows / source_step);
    t->source_rest = (int32_t)(source_rows % source_step);
    t->tap_phases = t->tap_step = (int32_t)tap_step;
    t->taps = (int32_t)taps;
}

/* Chunks: whole phases, if not whole columns, if not parts of them. */
static void cut_filter(const gdnn_conv *p, gdnn_tiling *t)
{
    int64_t taps = gdnn_divide_up(t->taps, GDNN_GPLANE_TAPS) * GDNN_GPLANE_TAPS;
    int64_t rows = gdnn_smaller(taps, MOST_TAPS);
    int64_t columns = gdnn_smaller(p->filter[1], MOST_TAPS / rows);
    int64_t phases = gdnn_smaller(t->tap_phases, MOST_TAPS / (rows * columns));
    t->chunk_rows = (int32_t)rows;
    t->chunk_columns = (int32_t)columns;
    t->chunk_phases = (int32_t)phases;
    t->one_chunk = rows >= t->taps && columns == p->filter[1] && phases == t->tap_phases;
    if (p->dir == GDNN_BWD_DATA && gdnn_kpg(p) > 1)
        t->one_chunk = 0;
    /* Lanes near the edges of a row read taps of neighbouring columns, 16 bytes each: in other banks. */
    int64_t run = rows % (2 * GDNN_GPLANE_TAPS) ? rows : rows + GDNN_GPLANE_TAPS;
    t->run = gdnn_divide_by(run);
    t->run_columns = gdnn_divide_by(columns);
    t->run_bytes = (int32_t)run * 4;
    t->phase_bytes = (int32_t)columns * t->run_bytes;
    t->filter_floats = (int32_t)(run * columns * phases);
}

/* What a thread's loop over its taps of a row adds to its addresses. */
static void step_columns(const gdnn_conv *p, gdnn_tiling *t)
{
    int64_t gcd = gdnn_gcd(p->stride[1], p->dilation[1]), taps = 1;
    if (p->dir == GDNN_BWD_DATA) {
        taps = gdnn_smaller(p->stride[1] / gcd, p->filter[1]);
        t->x_column = -(int32_t)(p->dilation[1] / gcd);
    } else {
        t->x_column = (int32_t)p->dilation[1];
    }
    t->column_bytes = (int32_t)taps * t->run_bytes;
}

gdnn_grid gdnn_gplane_grid(const gdnn_conv *p)
{
    bool data = p->dir == GDNN_BWD_DATA;
    int64_t rows = data ? p->in[0] : gdnn_out_size(p, 0);
    int64_t columns = data ? p->in[1] : gdnn_out_size(p, 1), channels = data ? p->c : p->k;
    gdnn_tiling t = {0};
    cut_rows(p, &t);
    cut_filter(p, &t);
    step_columns(p, &t);

    int64_t groups = gdnn_divide_up(gdnn_divide_up(rows, t.row_step), GDNN_GPLANE_ROWS);
    int64_t lines = p->n * t.row_step * columns, steps = 1;
    while (steps < MOST_GROUPS && steps < groups &&
           lines * gdnn_divide_up(groups, steps * 2) * channels >=
               (int64_t)ENOUGH_BLOCKS * GDNN_GPLANE_THREADS)
        steps *= 2;
    int64_t slabs = gdnn_divide_up(groups, steps);
    steps = gdnn_divide_up(groups, slabs);

    /* several channels, where one is too small for a block */
    int64_t items = lines * slabs, most = MOST_SHARED / (t.filter_floats * 4);
    int tile = 1;
    while (tile * 2 <= most && tile < channels && tile < GDNN_GPLANE_THREADS &&
           GDNN_GPLANE_THREADS / (tile * 2) >= items)
        tile *= 2;
    t.tile = tile;
    t.lanes = GDNN_GPLANE_THREADS / tile;
    t.lanes_inverse = gdnn_small_inverse(t.lanes);
    t.rows = (int32_t)steps;
    t.slabs = gdnn_divide_by(slabs);
    t.columns = gdnn_divide_by(columns);
    int64_t tiles = gdnn_divide_up(channels, tile);
    t.channel_tiles = gdnn_divide_by(tiles);
    return (gdnn_grid){.threads = GDNN_GPLANE_THREADS,
                       .blocks = gdnn_divide_up(items, t.lanes) * tiles,
                       .shared = (int64_t)t.filter_floats * tile * 4,
                       .tiling = t};
}
