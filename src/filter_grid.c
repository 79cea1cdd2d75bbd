#include "filter_grid.h"
#include "cut.h"
#include "dw_ring_host.h"
#include "problem.h"
#include <limits.h>

/* A block's shared memory: what every GPU since sm_75 has, so that several blocks fit the larger ones; slots with several
 * rows of x need what those since sm_80 have. */
static int64_t most_shared(const gdnn_filter_shape *s)
{
    return (s->stride > 1 ? 96 : 64) * 1024;
}

/* Products of one chain of additions in float32. */
enum { CHAIN = 1024 };

/* Sums that are shared by more blocks would take the second launch too long. */
enum { MOST_SPLIT = 4096 };

/* Of an H200, which the estimate is for: warp instructions and bytes per nanosecond, of an SM and of all. */
enum { SMS = 132 };
static const double ISSUE = 6.8, BANDWIDTH = 4300;
/* What a second launch takes, in nanoseconds. */
static const double SECOND = 2500;

/* Sizes of the largest sub-grid, and how many there are. */
typedef struct extent {
    int64_t channel_lanes, strips, rows, images, grids;
} extent;

typedef struct cut {
    int64_t lanes, strips, images; /* of a block */
    int64_t rows;                  /* of a slab */
    int64_t depth;                 /* images one after the other */
    int64_t places;                /* of a block */
} cut;

typedef struct search {
    const gdnn_conv *p;
    gdnn_filter_shape shape;
    int size; /* of an element */
    extent extent;
    int64_t most_split;
    cut best;
    double best_time;
} search;

static int64_t x_columns(const cut *c, const gdnn_filter_shape *s)
{
    return (c->strips * s->columns - 1) * s->stride + s->filter_w;
}

/* Elements that an image has in a slot. */
static int64_t image_elements(const cut *c, const gdnn_filter_shape *s)
{
    return (s->stride * x_columns(c, s) + c->strips * s->columns) * c->lanes * s->channels;
}

/* From one image of a slot to the next. Lanes read without conflicts as if images followed on one another, which holds
 * modulo the 128 bytes of all banks. */
static int64_t image_bytes(const cut *c, const search *s)
{
    int64_t tile = c->lanes * s->shape.channels * s->size;
    int64_t bytes = image_elements(c, &s->shape) * s->size, rest = (bytes - tile) % 128;
    return c->images > 1 && tile % 16 == 0 && rest ? bytes + 128 - rest : bytes;
}

static int64_t ring_bytes(const cut *c, const search *s)
{
    return GDNN_FILTER_RING * c->images * image_bytes(c, s);
}

/* Warps to cover the block's threads. */
static int64_t warps(const cut *c)
{
    return gdnn_divide_up(c->lanes * c->strips * c->images, 32);
}

static int64_t sums_bytes(const cut *c, const gdnn_filter_shape *s)
{
    return (int64_t)s->filter_h * s->filter_w * s->channels * (32 * warps(c) + 1) * 4;
}

/* Images whose products make one chain. */
static int64_t chain_images(const cut *c, const gdnn_filter_shape *s)
{
    return gdnn_larger(CHAIN / (c->rows * s->columns), 1);
}

/* Whether a thread has more than one chain. */
static bool has_chains(const cut *c, const gdnn_filter_shape *s)
{
    return c->depth * c->places > chain_images(c, s);
}

static int64_t shared_bytes(const cut *c, const search *s)
{
    int64_t ring = ring_bytes(c, s), sums = sums_bytes(c, &s->shape);
    return has_chains(c, &s->shape) ? ring + sums : gdnn_larger(ring, sums);
}

static int64_t all_places(const cut *c, const extent *e)
{
    return gdnn_divide_up(e->strips, c->strips) * gdnn_divide_up(e->rows, c->rows) * e->grids *
           gdnn_divide_up(e->images, c->images * c->depth);
}

/* Blocks that share a sum. */
static int64_t split_of(const cut *c, const extent *e)
{
    return gdnn_divide_up(all_places(c, e), c->places);
}

/* Bytes that go between L2 and the multiprocessors, over those of the tensors: columns and rows of x that are read twice,
 * sectors of 32 bytes that are only partly used. */
static double tensor_traffic(const cut *c, const search *s)
{
    const gdnn_filter_shape *shape = &s->shape;
    int64_t halo = s->extent.rows > c->rows ? shape->filter_h - shape->stride : 0;
    double sectors = gdnn_sector_bytes(c->lanes * shape->channels * s->size);
    double columns =
        s->extent.strips > c->strips
            ? (double)x_columns(c, shape) / (double)(c->strips * shape->columns * shape->stride)
            : 1;
    double rows = (double)(c->rows * shape->stride + halo) / (double)(c->rows * shape->stride);
    double x = (double)gdnn_elements(s->p, GDNN_ROLE_X),
           y = (double)gdnn_elements(s->p, GDNN_ROLE_Y);
    return (x * columns * rows + y) * s->size * sectors;
}

/* Warp instructions of a block. */
static double instructions(const cut *c, const search *s)
{
    const gdnn_filter_shape *shape = &s->shape;
    double taps = shape->filter_h * shape->filter_w, sums = taps * shape->channels;
    double outputs = shape->channels * shape->columns;
    double step = outputs * (taps + 5 + 2 * shape->stride) + 40;
    double halo = (shape->filter_h - 1) / shape->stride; /* steps that are only partly used */
    double image = step * ((double)c->rows + 0.3 * halo) + 40;
    double items = (double)(c->lanes * shape->channels) * taps / (32.0 * (double)warps(c));
    double end = 4 * sums + (items + 0.5) * (25 + 6 * (double)(c->strips * c->images));
    return (double)warps(c) *
           ((double)c->places * ((double)c->depth * image + 500) + 300 + 4 * sums + end);
}

static double estimate(const cut *c, const search *s)
{
    const extent *e = &s->extent;
    int64_t split = split_of(c, e), tiles = gdnn_divide_up(e->channel_lanes, c->lanes);
    double blocks = (double)(tiles * split), busiest = (double)gdnn_divide_up(tiles * split, SMS);
    double parts = split > 1 ? 8.0 * (double)split * (double)gdnn_elements(s->p, GDNN_ROLE_W) : 0;

    int64_t resident = 224 * 1024 / (shared_bytes(c, s) + 1024);
    if (resident > s->shape.blocks * 4 / warps(c))
        resident = s->shape.blocks * 4 / warps(c);
    if ((double)resident > busiest)
        resident = (int64_t)busiest;
    double flying =
        (double)(resident * ring_bytes(c, s)) * (GDNN_FILTER_RING - 1) / GDNN_FILTER_RING;
    double memory = (tensor_traffic(c, s) / blocks * busiest * SMS + parts) / BANDWIDTH;
    if (flying < 32 * 1024)
        memory *= 32 * 1024 / flying;
    double issue = busiest * instructions(c, s) / ISSUE;
    double waits = 0.7 + 1.6 / (double)(resident * warps(c)); /* too few warps to hide them */
    if (waits > 1)
        issue *= waits;
    return (issue > memory ? issue + 0.3 * memory : memory + 0.3 * issue) +
           (split > 1 ? SECOND : 0);
}

static void try_cut(cut c, search *s)
{
    const extent *e = &s->extent;
    int64_t places = all_places(&c, e);
    c.places = s->most_split < 2 ? places : gdnn_divide_up(places, s->most_split);
    if (shared_bytes(&c, s) > most_shared(&s->shape))
        return;
    double time = estimate(&c, s);
    if (time < s->best_time) {
        s->best_time = time;
        s->best = c;
    }
}

/* Slabs of equal height, and images one after the other so that blocks come in whole waves. */
static void try_threads(cut c, search *s)
{
    const extent *e = &s->extent;
    int64_t most_rows = gdnn_larger(CHAIN / s->shape.columns, 1), last_rows = 0;
    for (int64_t slabs = gdnn_divide_up(e->rows, most_rows), i = 0; i < 5 && slabs <= e->rows;
         slabs *= 2, i++) {
        c.rows = gdnn_divide_up(e->rows, slabs);
        if (c.rows == last_rows)
            continue;
        last_rows = c.rows;
        c.depth = 1;
        int64_t images = gdnn_divide_up(e->images, c.images), last_depth = 0;
        int64_t others = all_places(&c, e) / images * gdnn_divide_up(e->channel_lanes, c.lanes);
        for (int64_t waves = 1; waves <= 6; waves++) {
            c.depth = gdnn_divide_up(images, gdnn_larger(waves * SMS / others, 1));
            if (c.depth != last_depth)
                try_cut(c, s);
            last_depth = c.depth;
        }
    }
}

/* Lanes that are a whole number of 32-byte sectors, or at least of 16-byte copies, if the channels are. */
static int64_t whole_lanes(int64_t lanes, const search *s)
{
    int64_t pixel = s->p->c * s->size;
    return gdnn_whole_lanes(lanes, s->shape.channels * s->size, pixel, pixel % 32 ? 16 : 32);
}

static void choose(search *s)
{
    const extent *e = &s->extent;
    s->best = (cut){1, 1, 1, 1, 1, 1};
    s->best_time = 1e300;
    for (int64_t images = 1; images <= 8 && images <= e->images; images++)
        for (int64_t tiles = 1; tiles <= 16 && tiles <= e->strips; tiles++) {
            int64_t strips = gdnn_divide_up(e->strips, tiles);
            int64_t fitting = s->shape.threads / (images * strips);
            if (fitting < 1)
                continue;
            /* from as many lanes as fit to an eighth of them: shared memory may hold no more */
            int64_t fewest = gdnn_divide_up(e->channel_lanes, fitting), last = 0;
            for (int64_t cuts = fewest; cuts <= 8 * fewest + 8; cuts++) {
                int64_t lanes = whole_lanes(gdnn_divide_up(e->channel_lanes, cuts), s);
                if (lanes <= fitting && lanes != last)
                    try_threads((cut){lanes, strips, images, 1, 1, 1}, s);
                last = lanes;
            }
        }
    if (s->best_time == 1e300) { /* very wide planes in very many strips */
        int64_t lanes = whole_lanes(1, s);
        s->best = (cut){lanes, s->shape.threads / lanes, 1, 1, 1, 1};
        while (s->best.strips > 1 && shared_bytes(&s->best, s) > most_shared(&s->shape) / 2)
            s->best.strips--;
        if (s->best.strips > e->strips)
            s->best.strips = e->strips;
        s->best_time = 1e301;
        try_threads(s->best, s);
    }
}

static gdnn_tiling tiling_of(const search *s)
{
    const gdnn_conv *p = s->p;
    const gdnn_filter_shape *shape = &s->shape;
    const cut *c = &s->best;
    int image = (int)image_bytes(c, s);
    gdnn_cut block = {.channels = shape->channels,
                      .width = (int)x_columns(c, shape),
                      .lanes = c->lanes,
                      .strips = c->strips,
                      .images = c->images,
                      .rows = c->rows,
                      .all_lanes = s->extent.channel_lanes,
                      .all_strips = s->extent.strips,
                      .all_rows = s->extent.rows};
    gdnn_tiling t = gdnn_cut_tiling(p, &block);
    t.slot_bytes = t.images * image;
    t.last_slot = (GDNN_FILTER_RING - 1) * t.slot_bytes;
    t.x_round_bytes = c->images * p->in[0] * p->in[1] * p->c * s->size;
    t.y_round_bytes = c->images * gdnn_out_size(p, 0) * gdnn_out_size(p, 1) * p->k * s->size;
    t.places = c->places;
    t.all_places = all_places(c, &s->extent);
    t.depth = (int)c->depth;
    t.image_bytes = image;
    t.row_bytes = t.width * t.tile_bytes;
    t.dy_offset = shape->stride * t.row_bytes;
    t.dy_bytes = t.strips * shape->columns * t.tile_bytes;
    bool chains = has_chains(c, shape);
    t.chain = chains ? (int)chain_images(c, shape) : INT_MAX;
    t.sums = chains ? (int)ring_bytes(c, s) : 0;
    return t;
}

gdnn_grid gdnn_filter_grid(const gdnn_conv *p, int64_t workspace, gdnn_filter_shape shape)
{
    search s = {.p = p, .shape = shape, .size = (int)gdnn_dtype_size(p->dtype)};
    s.extent = (extent){
        gdnn_divide_up(p->c, shape.channels),
        gdnn_divide_up(gdnn_divide_up(gdnn_out_size(p, 1), p->dilation[1]), shape.columns),
        gdnn_divide_up(gdnn_out_size(p, 0), p->dilation[0]), p->n, p->dilation[0] * p->dilation[1]};
    int64_t weights = gdnn_elements(p, GDNN_ROLE_W), part = weights * 4;
    s.most_split = workspace / part < MOST_SPLIT ? workspace / part : MOST_SPLIT;
    choose(&s);
    int64_t split = split_of(&s.best, &s.extent);
    gdnn_grid grid = {
        .threads = (int)(32 * warps(&s.best)),
        .blocks = gdnn_divide_up(s.extent.channel_lanes, s.best.lanes) * split,
        .shared = shared_bytes(&s.best, &s),
        .tiling = tiling_of(&s),
    };
    gdnn_cut_split(&grid, p, split);
    return grid;
}
