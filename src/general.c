#include "general.h"
#include "args.h"
#include "cut.h"
#include "dw_general_host.h"
#include "problem.h"

/* Lanes share 128 bytes of an output. A chunk of filters leaves room for several blocks on a multiprocessor. */
enum { MOST_LANES = 8, MOST_SHARED = 32 * 1024 };

/* Outputs that a thread computes one after the other: more make fewer blocks load the filters, few keep the GPU busy. */
enum { MOST_STEPS = 8, ENOUGH_BLOCKS = 132 * 8 };

/* For `channels` channels of `rows` rows of `in_row` outputs, or pairs of them. */
static gdnn_grid cut(const gdnn_conv *p, int64_t channels, int64_t rows, int64_t in_row)
{
    int vector = 16 / (int)gdnn_dtype_size(p->dtype), lanes = 1;
    while (lanes < MOST_LANES && lanes * vector < channels)
        lanes *= 2;
    int tile = lanes * vector, slots = GDNN_DW_GENERAL_THREADS / lanes;
    int64_t most_taps = MOST_SHARED / (tile * 4);
    int64_t chunk_columns = gdnn_smaller(p->filter[1], most_taps);
    int64_t chunk_rows = gdnn_smaller(p->filter[0], most_taps / chunk_columns);

    int64_t items = p->n * rows * in_row, tiles = gdnn_divide_up(channels, tile);
    int64_t steps = 1;
    while (steps < MOST_STEPS && gdnn_divide_up(items, slots * steps * 2) * tiles >= ENOUGH_BLOCKS)
        steps *= 2;
    return (gdnn_grid){.threads = GDNN_DW_GENERAL_THREADS,
                       .blocks = gdnn_divide_up(items, slots * steps) * tiles,
                       .shared = chunk_rows * chunk_columns * tile * 4,
                       .tiling = {.lanes = lanes,
                                  .lanes_inverse = gdnn_small_inverse(lanes),
                                  .rows = (int)steps,
                                  .channel_tiles = gdnn_divide_by(tiles),
                                  .tile = tile,
                                  .tile_bytes = tile * 4,
                                  .slot_bytes = (int)chunk_columns * tile * 4,
                                  .chunk_rows = (int)chunk_rows,
                                  .chunk_columns = (int)chunk_columns,
                                  .columns = gdnn_divide_by(in_row)}};
}

gdnn_grid gdnn_dw_general_grid(const gdnn_conv *p, int outputs)
{
    gdnn_grid grid =
        cut(p, p->k, gdnn_out_size(p, 0), gdnn_divide_up(gdnn_out_size(p, 1), outputs));
    grid.tiling.x_column = (int)(p->dilation[1] * p->c);
    grid.tiling.x_row = p->dilation[0] * p->in[1] * p->c;
    return grid;
}

gdnn_grid gdnn_dw_general_data_grid(const gdnn_conv *p)
{
    gdnn_grid grid = cut(p, p->c, p->in[0], p->in[1]);
    gdnn_tiling *t = &grid.tiling;
    int64_t gcd_h = gdnn_gcd(p->stride[0], p->dilation[0]);
    int64_t gcd_w = gdnn_gcd(p->stride[1], p->dilation[1]);
    t->x_column = -(int)(p->dilation[1] / gcd_w * p->k);
    t->x_row = -(p->dilation[0] / gcd_h * gdnn_out_size(p, 1) * p->k);
    /* steps that exceed a chunk are never made */
    t->tile_bytes *= (int)gdnn_smaller(p->stride[1] / gcd_w, t->chunk_columns);
    t->slot_bytes *= (int)gdnn_smaller(p->stride[0] / gcd_h, t->chunk_rows);
    t->one_chunk =
        gdnn_kpg(p) == 1 && t->chunk_rows == p->filter[0] && t->chunk_columns == p->filter[1];
    return grid;
}
