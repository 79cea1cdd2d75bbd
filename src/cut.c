#include "cut.h"
#include "args.h"
#include "filter_finish_host.h"
#include "problem.h"

/* The widest copy that the channels of the tensors and of a tile allow, in bytes; 1 if the `group` threads of an image are
 * too few for it. */
static int chunk_bytes(int64_t pixel_bytes, int64_t tile_bytes, int64_t group)
{
    int64_t bits = pixel_bytes | tile_bytes | 16, chunk = bits & -bits;
    return chunk >= 4 && tile_bytes / chunk <= group ? (int)chunk : 1;
}

gdnn_tiling gdnn_cut_tiling(const gdnn_conv *p, const gdnn_cut *c)
{
    int64_t size = (int64_t)gdnn_dtype_size(p->dtype), out_w = gdnn_out_size(p, 1);
    int tile = (int)c->lanes * c->channels, group = (int)(c->lanes * c->strips);
    int tile_bytes = tile * (int)size, chunk = chunk_bytes(p->c * size, tile_bytes, group);
    int parts = tile_bytes / chunk, copies = group / parts;
    return (gdnn_tiling){
        .lanes = (int)c->lanes,
        .strips = (int)c->strips,
        .images = (int)c->images,
        .rows = (int)c->rows,
        .lanes_inverse = gdnn_small_inverse((int)c->lanes),
        .group_inverse = gdnn_small_inverse(group),
        .channel_tiles = gdnn_divide_by(gdnn_divide_up(c->all_lanes, c->lanes)),
        .strip_tiles = gdnn_divide_by(gdnn_divide_up(c->all_strips, c->strips)),
        .slabs = gdnn_divide_by(gdnn_divide_up(c->all_rows, c->rows)),
        .tile = tile,
        .width = c->width,
        .tile_bytes = tile_bytes,
        .chunk = chunk,
        .parts = parts,
        .parts_inverse = gdnn_small_inverse(parts),
        .copies = copies,
        .copies_from = (int)(copies * p->dilation[1] * p->c * size),
        .copies_to = copies * tile_bytes,
        .x_column = (int)(p->dilation[1] * p->c),
        .y_column = (int)(p->dilation[1] * p->k),
        .x_row = p->dilation[0] * p->in[1] * p->c,
        .y_row = p->dilation[0] * out_w * p->k,
        .x_row_bytes = p->dilation[0] * p->in[1] * p->c * size,
        .y_row_bytes = p->dilation[0] * out_w * p->k * size,
    };
}

int64_t gdnn_whole_lanes(int64_t lanes, int64_t lane_bytes, int64_t pixel_bytes, int64_t grain)
{
    int64_t whole = grain / lane_bytes;
    return pixel_bytes % grain == 0 && whole > 1 ? gdnn_divide_up(lanes, whole) * whole : lanes;
}

double gdnn_sector_bytes(int64_t bytes)
{
    return (double)((bytes + 31) / 32 * 32 + (bytes % 32 ? 16 : 0)) / (double)bytes;
}

void gdnn_cut_split(gdnn_grid *grid, const gdnn_conv *p, int64_t split)
{
    int64_t weights = gdnn_elements(p, GDNN_ROLE_W);
    grid->tiling.split = (int)split;
    grid->finish_threads = GDNN_FINISH_WEIGHTS * GDNN_FINISH_SLICES;
    grid->workspace = split > 1 ? split * weights * (int64_t)sizeof(float) : 0;
    grid->finish_blocks = split > 1 ? gdnn_divide_up(weights, GDNN_FINISH_WEIGHTS) : 0;
}
