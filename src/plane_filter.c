#include "plane_filter.h"
#include "args.h"
#include "cut.h"
#include "dw_plane_host.h"
#include "problem.h"
#include <limits.h>

/* Bytes: of a plane of x and one of dy that are brought whole, several at a time; of a turn of the march that is brought
 * although it is more than a stage. */
enum { MOST_PLANES = 1600, MOST_TURN = 40 * 1024 };
/* Threads of a block, unless a row has more strips. */
enum { FEW_THREADS = 64 };
/* Products of one chain of additions; blocks that share a sum, of which more would take the second launch too long. */
enum { CHAIN = 1024, MOST_SPLIT = 4096 };

/* Of an H200, which the estimate is for: warp instructions and bytes per nanosecond, of an SM and of all. */
enum { SMS = 132 };
static const double ISSUE = 6.8, BANDWIDTH = 4300;
/* What a second launch takes, in nanoseconds. */
static const double SECOND = 2500;

typedef struct cut {
    int64_t strips, planes; /* of a block */
    bool whole;             /* planes are brought whole */
    int64_t stage;          /* rows of dy that are brought at a time */
    int64_t images, rows;   /* of a block */
    int half;               /* gdnn_tiling's */
} cut;

typedef struct search {
    const gdnn_conv *p;
    gdnn_plane_shape shape;
    int size;                 /* of an element */
    int64_t x_pitch, y_pitch; /* bytes of a row */
    int64_t out_rows, tail;   /* rows of dy; steps that follow on them, at most */
    int64_t lead;             /* steps that are not full at the top of the planes, at most */
    int64_t most_split;
} search;

/* Bytes that are brought at a time: two buffers fit what every GPU since sm_75 has; with several rows of x for one of dy,
 * what those since sm_80 have. */
static int64_t stage_bytes(const search *s)
{
    return (s->shape.stride > 1 ? 36 : 25) * 1024;
}

static int64_t threads(const cut *c)
{
    return c->half ? 2 * c->half : gdnn_divide_up(c->strips * c->planes, 32) * 32;
}

/* Bytes of a plane of x and one of dy. */
static int64_t planes_bytes(const search *s)
{
    return s->p->in[0] * s->x_pitch + s->out_rows * s->y_pitch;
}

/* Rows of either tensor that a stage has at most. */
static int64_t x_rows(const cut *c, const search *s)
{
    return gdnn_smaller((c->stage + 1) * s->shape.stride - 1, s->p->in[0]);
}

static int64_t y_rows(const cut *c, const search *s)
{
    return gdnn_smaller(c->stage + s->lead, s->out_rows);
}

/* How often shared memory is passed for two loads of a warp, of neighbouring columns, whose strips are `strip` bytes apart
 * and planes `run`. */
static int bank_passes(int64_t strips, int strip, int run)
{
    int sum = 0;
    for (int column = 0; column < 2; column++) {
        int word[32], most = 0;
        for (int i = 0; i < 32; i++) {
            int same = 1;
            word[i] = (i / (int)strips * run + i % (int)strips * strip + column * 2) / 4;
            for (int j = 0; j < i; j++)
                same += word[i] != word[j] && (word[i] - word[j]) % 32 == 0;
            most = same > most ? same : most;
        }
        sum += most;
    }
    return sum;
}

/* Room for a run of `bytes` in shared memory, or more, so that lanes with different planes meet different banks. */
static int run_room(const cut *c, int64_t bytes, int64_t strip)
{
    int room = gdnn_plane_room((int)bytes), best = room, fewest = INT_MAX;
    for (int run = room; run < room + 128 && !c->whole; run += 16) {
        int passes = bank_passes(c->strips, (int)strip, run);
        if (passes < fewest) {
            fewest = passes;
            best = run;
        }
    }
    return best;
}

static int x_run(const cut *c, const search *s)
{
    int64_t rows = c->whole ? c->planes * s->p->in[0] : x_rows(c, s);
    return run_room(c, rows * s->x_pitch, (int64_t)s->shape.columns * s->shape.stride * s->size);
}

static int y_run(const cut *c, const search *s)
{
    int64_t rows = c->whole ? c->planes * s->out_rows : y_rows(c, s);
    return run_room(c, rows * s->y_pitch, (int64_t)s->shape.columns * s->size);
}

static int x_buffer(const cut *c, const search *s)
{
    return (c->whole ? 1 : (int)c->planes) * (x_run(c, s) + y_run(c, s)) + GDNN_PLANE_GUARD;
}

static int sums_bytes(const cut *c, const search *s)
{
    return s->shape.filter_h * s->shape.filter_w * ((int)threads(c) + 1) * 4;
}

/* Stages whose products make one chain, and all that a block has, at most. */
static int64_t chain_stages(const cut *c, const search *s)
{
    return gdnn_larger(
        CHAIN / (gdnn_smaller(c->stage + s->lead, c->rows + s->tail) * s->shape.columns), 1);
}

static int64_t all_stages(const cut *c, const search *s)
{
    return c->images * gdnn_divide_up(c->rows + s->tail, c->stage);
}

static bool has_chains(const cut *c, const search *s)
{
    return all_stages(c, s) > chain_stages(c, s);
}

static int64_t shared_bytes(const cut *c, const search *s)
{
    int64_t buffers = GDNN_PLANE_GUARD + 2 * (int64_t)x_buffer(c, s);
    return has_chains(c, s) ? buffers + sums_bytes(c, s) : gdnn_larger(buffers, sums_bytes(c, s));
}

static int64_t tiles(const cut *c, const search *s)
{
    return gdnn_divide_up(s->p->c, c->planes);
}

/* Blocks that share a sum. */
static int64_t split_of(const cut *c, const search *s)
{
    return gdnn_divide_up(s->out_rows, c->rows) * gdnn_divide_up(s->p->n, c->images);
}

/* Warp instructions of a block: steps of all its warps, as many as three more for every image, and nine for its own start
 * and end. */
static double instructions(const cut *c, const search *s)
{
    double taps = s->shape.filter_h * s->shape.filter_w, columns = s->shape.columns;
    double step = columns * (taps + 4 + 2 * s->shape.stride) + 10;
    double halo = (s->shape.filter_h - 1) / s->shape.stride;
    double image = (double)c->rows + halo + (double)gdnn_divide_up(c->rows, c->stage);
    return (double)threads(c) / 32 * step * ((double)c->images * image + 9);
}

static double estimate(const cut *c, const search *s)
{
    int64_t split = split_of(c, s), blocks = tiles(c, s) * split;
    int64_t busiest = gdnn_divide_up(blocks, SMS);
    int64_t resident = gdnn_smaller(224 * 1024 / (shared_bytes(c, s) + 1024), busiest);
    double waits = 0.7 + 1.6 / (double)(gdnn_larger(resident, 1) * threads(c) / 32);
    double issue = (double)busiest * instructions(c, s) / ISSUE;
    double parts = split > 1 ? 8 * (double)split * (double)gdnn_elements(s->p, GDNN_ROLE_W) : 0;
    return issue * (waits > 1 ? waits : 1) + parts / BANDWIDTH + (split > 1 ? SECOND : 0);
}

/* Planes of an odd number of 16-bit values are odd words apart if lanes have every other one. */
static int half_of(const cut *c, const search *s)
{
    bool odd = s->size == 2 && s->p->in[0] * s->p->in[1] % 2;
    return c->whole && c->strips == 1 && odd && c->planes > 32
               ? (int)gdnn_divide_up(gdnn_divide_up(c->planes, 2), 32) * 32
               : 0;
}

/* Planes of a block: of what shared memory and threads allow, the number that leaves fewest lanes idle. */
static void choose_planes(cut *c, const search *s)
{
    int64_t most = gdnn_larger(FEW_THREADS / c->strips, 1);
    if (c->whole)
        most = gdnn_smaller(gdnn_larger(GDNN_PLANE_THREADS / c->strips, 1),
                            stage_bytes(s) / planes_bytes(s));
    int64_t best = INT64_MAX;
    for (int64_t planes = most; planes > 0 && planes >= most / 2; planes--) {
        cut tried = *c;
        int64_t cuts = gdnn_divide_up(s->p->c, planes);
        tried.planes = gdnn_divide_up(s->p->c, cuts);
        tried.half = half_of(&tried, s);
        if (cuts * threads(&tried) < best) {
            best = cuts * threads(&tried);
            *c = tried;
        }
    }
}

/* Rows of dy of a stage: whole turns of the march, and stages of about the same height. */
static int64_t stage_rows(const cut *c, const search *s)
{
    if (c->whole)
        return s->out_rows + s->tail;
    int64_t turn = gdnn_divide_up(s->shape.filter_h, s->shape.stride);
    int64_t row = c->planes * (s->x_pitch * s->shape.stride + s->y_pitch);
    int64_t most = gdnn_larger(stage_bytes(s) / row, 1), steps = s->out_rows + s->tail;
    if (most >= turn || row * turn <= MOST_TURN)
        most = gdnn_larger(most / turn, 1) * turn;
    int64_t each = gdnn_divide_up(steps, gdnn_divide_up(steps, most));
    return gdnn_smaller(gdnn_divide_up(each, turn) * turn, most);
}

/* Images of a block so that blocks come in whole waves, or in a part of one where the workspace holds no more. What is
 * tried does not depend on the workspace, so that what is chosen is chosen again if there is only as much as it needs. */
static void try_images(cut c, const search *s, cut *best, double *best_time)
{
    int64_t others = gdnn_divide_up(s->out_rows, c.rows) * tiles(&c, s), last = 0;
    for (int waves = -8; waves <= 12; waves++) {
        int64_t blocks = waves > 0 ? waves * SMS : SMS >> -waves;
        c.images = gdnn_divide_up(s->p->n, gdnn_larger(blocks / others, 1));
        if (c.images == last || (split_of(&c, s) > 1 && split_of(&c, s) > s->most_split))
            continue;
        last = c.images;
        double time = estimate(&c, s);
        if (time < *best_time) {
            *best_time = time;
            *best = c;
        }
    }
}

static cut choose(const search *s)
{
    cut c = {.strips = gdnn_divide_up(gdnn_out_size(s->p, 1), s->shape.columns),
             .whole = planes_bytes(s) <= MOST_PLANES};
    choose_planes(&c, s);
    c.stage = stage_rows(&c, s);
    cut best = c;
    double best_time = 1e300;
    for (int64_t slabs = 1; slabs == 1 || (!c.whole && slabs <= 64 && slabs <= s->out_rows);
         slabs *= 2) {
        c.rows = gdnn_divide_up(s->out_rows, slabs);
        try_images(c, s, &best, &best_time);
    }
    return best;
}

static gdnn_tiling tiling_of(const search *s, const cut *c)
{
    const gdnn_conv *p = s->p;
    int planes = (int)c->planes, runs = c->whole ? 1 : planes, buffer = x_buffer(c, s);
    bool chains = has_chains(c, s);
    return (gdnn_tiling){.strips = (int)c->strips,
                         .images = (int)c->images,
                         .rows = (int)c->rows,
                         .channel_tiles = gdnn_divide_by(tiles(c, s)),
                         .slabs = gdnn_divide_by(gdnn_divide_up(s->out_rows, c->rows)),
                         .tile = planes,
                         .chain = chains ? (int)chain_stages(c, s) : INT_MAX,
                         .sums = chains ? GDNN_PLANE_GUARD + 2 * buffer : 0,
                         .strips_inverse = gdnn_small_inverse((int)c->strips),
                         .half = c->half,
                         .edges = gdnn_plane_edges_of(p, &s->shape),
                         .stage_rows = (int)c->stage,
                         .run_planes = c->whole ? planes : 1,
                         .x_run = x_run(c, s),
                         .y_run = y_run(c, s),
                         .x_buffer = buffer,
                         .y_buffer = runs * x_run(c, s),
                         .x_pitch = (int)s->x_pitch,
                         .y_pitch = (int)s->y_pitch,
                         .x_plane = (int)(p->in[0] * s->x_pitch),
                         .y_plane = (int)(s->out_rows * s->y_pitch),
                         .whole_sectors = gdnn_elements(p, GDNN_ROLE_X) * s->size % 16 == 0,
                         .y_whole_sectors = gdnn_elements(p, GDNN_ROLE_Y) * s->size % 16 == 0};
}

gdnn_grid gdnn_plane_filter_grid(const gdnn_conv *p, int64_t workspace, gdnn_plane_shape shape)
{
    int size = (int)gdnn_dtype_size(p->dtype);
    int64_t weights = gdnn_elements(p, GDNN_ROLE_W), part = weights * 4;
    search s = {.p = p,
                .shape = shape,
                .size = size,
                .x_pitch = p->in[1] * size,
                .y_pitch = gdnn_out_size(p, 1) * size,
                .out_rows = gdnn_out_size(p, 0),
                .tail = (shape.filter_h - 1) / shape.stride,
                .lead = gdnn_divide_up(p->pad[0], shape.stride),
                .most_split = gdnn_smaller(workspace / part, MOST_SPLIT)};
    cut c = choose(&s);
    int64_t split = split_of(&c, &s);
    gdnn_grid grid = {
        .threads = (int)threads(&c),
        .blocks = tiles(&c, &s) * split,
        .shared = shared_bytes(&c, &s),
        .tiling = tiling_of(&s, &c),
    };
    gdnn_cut_split(&grid, p, split);
    return grid;
}
