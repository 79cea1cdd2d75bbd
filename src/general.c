#include "general.h"
#include "args.h"
#include "cut.h"
#include "dw_general_host.h"
#include "problem.h"

/* Lanes share 128 bytes of an output. A chunk of filters leaves room for several blocks on a multiprocessor. */
enum { MOST_LANES = 8, MOST_SHARED = 32 * 1024 };

/* Outputs that a thread computes one after the other: more make fewer blocks load the filters, few keep the GPU busy. */
enum { MOST_STEPS = 8, ENOUGH_BLOCKS = 132 * 8 };

static int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

gdnn_grid gdnn_dw_general_grid(const gdnn_conv *p, int outputs)
{
    int vector = 16 / (int)gdnn_dtype_size(p->dtype), lanes = 1;
    while (lanes < MOST_LANES && lanes * vector < p->k)
        lanes *= 2;
    int tile = lanes * vector, slots = GDNN_DW_GENERAL_THREADS / lanes;
    int64_t most_taps = MOST_SHARED / (tile * 4);
    int64_t columns = at_most(p->filter[1], most_taps);
    int64_t rows = at_most(p->filter[0], most_taps / columns);

    int64_t in_row = gdnn_divide_up(gdnn_out_size(p, 1), outputs);
    int64_t items = p->n * gdnn_out_size(p, 0) * in_row, tiles = gdnn_divide_up(p->k, tile);
    int64_t steps = 1;
    while (steps < MOST_STEPS && gdnn_divide_up(items, slots * steps * 2) * tiles >= ENOUGH_BLOCKS)
        steps *= 2;
    return (gdnn_grid){.threads = GDNN_DW_GENERAL_THREADS,
                       .blocks = gdnn_divide_up(items, slots * steps) * tiles,
                       .shared = rows * columns * tile * 4,
                       .tiling = {.lanes = lanes,
                                  .lanes_inverse = gdnn_small_inverse(lanes),
                                  .rows = (int)steps,
                                  .channel_tiles = gdnn_divide_by(tiles),
                                  .tile = tile,
                                  .tile_bytes = tile * 4,
                                  .slot_bytes = (int)columns * tile * 4,
                                  .x_column = (int)(p->dilation[1] * p->c),
                                  .x_row = p->dilation[0] * p->in[1] * p->c,
                                  .chunk_rows = (int)rows,
                                  .chunk_columns = (int)columns,
                                  .columns = gdnn_divide_by(in_row)}};
}
