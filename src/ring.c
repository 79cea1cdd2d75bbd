#include "ring.h"
#include "cut.h"
#include "dw_ring_host.h"
#include "problem.h"

/* A block's shared memory: what every GPU since sm_75 has, so that several blocks fit the larger ones. */
enum { MOST_SHARED = 64 * 1024 };

/* What a block costs before its first row, in steps of a row; warps that an SM can hold, and that it needs to be busy;
 * SMs. The last three are those of an H200: a cut never depends on the device that is at hand. */
static const double START = 2;
enum { WARPS = 12, BUSY = 6, SMS = 132 };

/* Sizes of the largest sub-grid, and how many there are. */
typedef struct extent {
    int64_t channel_lanes, strips, rows, images, grids;
    int64_t pixel; /* bytes of a pixel of x */
    int taps;      /* of a filter */
    int grain;     /* bytes of which a tile's channels are a multiple, if all channels are */
} extent;

typedef struct cut {
    int64_t lanes, strips, images, turns, rows;
} cut;

static int64_t ring_width(const cut *c, const gdnn_ring_shape *s)
{
    return (c->strips * s->columns - 1) * s->stride + s->filter_w;
}

static int64_t shared_bytes(const cut *c, const extent *e, const gdnn_ring_shape *s, int size)
{
    int64_t tile = c->lanes * s->channels, filters = tile * e->taps;
    return (gdnn_ring_filters(filters, size) + s->ring * c->images * ring_width(c, s) * tile) *
           size;
}

static int64_t block_count(const cut *c, const extent *e)
{
    return gdnn_divide_up(e->channel_lanes, c->lanes) * gdnn_divide_up(e->strips, c->strips) *
           gdnn_divide_up(e->rows, c->rows) * gdnn_divide_up(e->images, c->images * c->turns) *
           e->grids;
}

/* Warps to cover the block's threads. */
static int64_t warps(const cut *c)
{
    return gdnn_divide_up(c->lanes * c->strips * c->images, 32);
}

/* Where in a row of the ring the first column of a thread is, in words. */
static int ring_word(const cut *c, const gdnn_ring_shape *s, int size, int thread)
{
    int lanes = (int)c->lanes, strips = (int)c->strips, group = thread / lanes;
    int column = group / strips % (int)c->images * (int)ring_width(c, s) +
                 group % strips * s->columns * s->stride;
    return (column * lanes + thread % lanes) * s->channels * size / 4;
}

/* How often shared memory is passed for one load of a row, by the lanes that one pass of 128 bytes could serve. */
static int bank_passes(const cut *c, const gdnn_ring_shape *s, int size)
{
    int access = s->channels * size, served = 128 / (access < 4 ? 4 : access), passes = 1;
    int word[32];
    if (c->lanes >= served)
        return 1;
    for (int i = 0; i < served; i++) {
        word[i] = ring_word(c, s, size, i);
        int same = 1;
        for (int j = 0; j < i; j++)
            same += word[i] != word[j] && (word[i] - word[j]) % 32 == 0;
        passes = same > passes ? same : passes;
    }
    return passes;
}

/* What the blocks move, x with what neighbours read too and in sectors of 32 bytes, over what must be moved. */
static double traffic(const cut *c, const extent *e, const gdnn_ring_shape *s, int size)
{
    int64_t pitch = c->lanes * s->channels * size;
    int64_t halo = e->rows > c->rows ? s->filter_h - s->stride : 0;
    double sectors = gdnn_sector_bytes(pitch);
    double columns = (double)ring_width(c, s) / (double)(c->strips * s->columns * s->stride);
    double rows = (double)(c->rows * s->stride + halo) / (double)(c->rows * s->stride);
    double x = (double)(e->rows * e->strips * s->columns * s->stride * s->stride),
           y = x / s->stride / s->stride;
    double w = s->filter_h * s->filter_w;
    double loads = (double)(c->images * c->turns) / (double)(gdnn_divide_up(e->rows, c->rows) *
                                                             gdnn_divide_up(e->strips, c->strips));
    /* memory is read in bursts of 64 bytes, and pages are opened for more */
    double burst = pitch >= 128 || pitch >= e->pixel ? 1 : pitch >= 64 ? 1.04 : 1.15;
    return burst * (x * sectors * columns * rows + y * sectors + w / loads) / (x + y);
}

static double cost(const cut *c, const extent *e, const gdnn_ring_shape *s, int size)
{
    int64_t blocks = block_count(c, e), halo = e->rows > c->rows ? s->filter_h - s->stride : 0;
    double steps = START + (double)c->turns * (double)(c->rows * s->stride + halo) / s->stride;
    /* an SM is busy with the warps that it gets, or waits with too few of them */
    int64_t together = WARPS / warps(c) > 0 ? WARPS / warps(c) : 1;
    int64_t work = gdnn_divide_up(blocks, SMS) * warps(c);
    int64_t wait = gdnn_divide_up(blocks, SMS * together) * BUSY;
    return (double)(work > wait ? work : wait) * steps * traffic(c, e, s, size);
}

/* A block of threads with its rows cut into slabs, or with several turns. */
static void try_block(cut c, const extent *e, const gdnn_ring_shape *s, int size, cut *best,
                      double *best_cost)
{
    if (shared_bytes(&c, e, s, size) > MOST_SHARED)
        return;
    double conflicts = 1 + 0.2 * (bank_passes(&c, s, size) - 1);
    for (int64_t i = -3; i <= 7; i++) {
        c.rows = i < 0 ? gdnn_divide_up(e->rows, 1 << -i) : e->rows;
        c.turns = i > 0 ? i + 1 : 1;
        if ((i < 0 && c.rows < 2 * s->filter_h) || (c.turns - 1) * c.images >= e->images)
            continue;
        double tried = cost(&c, e, s, size) * conflicts;
        if (tried < *best_cost) {
            *best_cost = tried;
            *best = c;
        }
    }
}

static cut choose(const extent *e, const gdnn_ring_shape *s, int size)
{
    cut best = {1, 1, 1, 1, e->rows};
    double best_cost = 1e300;
    for (int64_t images = 1; images <= 8 && (images == 1 || images / 2 < e->images); images *= 2)
        for (int64_t tiles = 1; tiles <= 16 && tiles <= e->strips; tiles++) {
            int64_t strips = gdnn_divide_up(e->strips, tiles),
                    most = s->threads / (images * strips);
            if (most < 1)
                continue;
            /* from as many lanes as fit down to a quarter of them */
            int64_t fewest = gdnn_divide_up(e->channel_lanes, most);
            for (int64_t cuts = fewest; cuts <= 4 * fewest && cuts < fewest + 8; cuts++) {
                int64_t lanes = gdnn_whole_lanes(gdnn_divide_up(e->channel_lanes, cuts),
                                                 s->channels * size, e->pixel, e->grain);
                if (lanes <= most)
                    try_block((cut){.lanes = lanes, .strips = strips, .images = images}, e, s, size,
                              &best, &best_cost);
            }
        }
    return best;
}

/* For a forward problem with this shape, whose filters in memory have `taps`; `grain` as in extent. */
static gdnn_grid grid_of(const gdnn_conv *p, gdnn_ring_shape shape, int taps, int grain)
{
    int size = (int)gdnn_dtype_size(p->dtype);
    int64_t out_h = gdnn_out_size(p, 0), out_w = gdnn_out_size(p, 1);
    extent e = {gdnn_divide_up(p->c, shape.channels),
                gdnn_divide_up(gdnn_divide_up(out_w, p->dilation[1]), shape.columns),
                gdnn_divide_up(out_h, p->dilation[0]),
                p->n,
                p->dilation[0] * p->dilation[1],
                p->c * size,
                taps,
                grain};
    cut c = choose(&e, &shape, size);
    gdnn_cut block = {.channels = shape.channels,
                      .width = (int)ring_width(&c, &shape),
                      .lanes = c.lanes,
                      .strips = c.strips,
                      .images = c.images,
                      .rows = c.rows,
                      .all_lanes = e.channel_lanes,
                      .all_strips = e.strips,
                      .all_rows = e.rows};
    gdnn_grid grid = {.threads = (int)(32 * warps(&c)),
                      .blocks = block_count(&c, &e),
                      .shared = shared_bytes(&c, &e, &shape, size),
                      .tiling = gdnn_cut_tiling(p, &block)};
    gdnn_tiling *t = &grid.tiling;
    t->turns = (int)c.turns;
    t->slot = t->images * t->width * t->tile;
    t->slot_bytes = t->slot * size;
    t->last_slot = (shape.ring - 1) * t->slot_bytes;
    t->y_column_bytes = (int)(p->dilation[1] * p->k * size);
    t->x_turn_bytes = c.images * p->in[0] * p->in[1] * p->c * size;
    t->y_turn_bytes = c.images * out_h * out_w * p->k * size;
    return grid;
}

gdnn_grid gdnn_ring_grid(const gdnn_conv *p, gdnn_ring_shape shape)
{
    return grid_of(p, shape, shape.filter_h * shape.filter_w, 16);
}

gdnn_grid gdnn_up_grid(const gdnn_conv *p, int filter, int channels, int columns, int ring,
                       int threads)
{
    int reach = gdnn_pair_reach(filter), size = (int)gdnn_dtype_size(p->dtype);
    const int shift[2] = {0, gdnn_pair_shift(filter)};
    gdnn_conv pairs = *p; /* forward, from dy to pairs */
    for (int i = 0; i < 2; i++) {
        int64_t out = gdnn_pairs(p->in[i], p->pad[i], shift[i]);
        pairs.in[i] = gdnn_out_size(p, i);
        pairs.filter[i] = reach;
        pairs.stride[i] = 1;
        pairs.pad[i] = reach - 1 - shift[i] - gdnn_first_pair(p->pad[i], shift[i]);
        pairs.pad_after[i] = out + reach - 1 - pairs.in[i] - pairs.pad[i];
    }
    gdnn_ring_shape shape = {reach, reach, 1, channels, columns, ring, threads};
    /* what it moves is written, most of it: whole sectors */
    gdnn_grid grid = grid_of(&pairs, shape, filter * filter, 32);
    grid.tiling.y_row = 2 * p->in[1] * p->c;
    grid.tiling.y_row_bytes = grid.tiling.y_row * size;
    grid.tiling.y_turn_bytes = grid.tiling.images * p->in[0] * p->in[1] * p->c * size;
    return grid;
}
