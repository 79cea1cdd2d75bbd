#include "plane.h"
#include "args.h"
#include "cut.h"
#include "dw_plane_host.h"
#include "dw_ring_host.h"
#include "problem.h"

enum {
    SECTOR = 32,
    MOST_SHARED = 64 * 1024 /* bytes of a block that writes dx: what every GPU since sm_75 has */
};

/* How a family fills its blocks. */
typedef struct limits {
    int threads;   /* of a block, unless more are needed to leave few of them idle */
    int64_t plane; /* bytes of planes that are brought whole, several at a time */
    int64_t once;  /* bytes of planes of which all rows are brought at a time */
    int64_t run;   /* bytes of a block's planes, if so */
    int64_t stage; /* bytes of x that are brought at a time, where it is not whole planes */
    bool spread;   /* runs are placed by their banks */
    int wide;      /* as many times that many bytes for float32 */
    /* costs in rows: before the first image, and before an image's first row */
    double start, image;
} limits;

/* Where dx is written there are four elements of it for one of dy: small blocks, so that many share an SM. */
static const limits FORWARD =
                        {GDNN_PLANE_THREADS, 1024, 1024, 26 * 1024, 22 * 1024, false, 1, 2, 1},
                    UP = {32, 256, 512, 6400, 3712, true, 2, 6, 2};

typedef struct cut {
    int64_t strips, planes; /* of a block */
    bool whole;             /* planes are brought whole */
    int64_t stage;          /* rows of x that are brought at a time */
    int64_t images, rows;
} cut;

bool gdnn_plane_fits(const gdnn_conv *p, gdnn_plane_shape s)
{
    const int filter[] = {s.filter_h, s.filter_w};
    for (int i = 0; i < 2; i++)
        if (p->dilation[i] != 1 || p->pad[i] >= filter[i] || p->pad_after[i] >= filter[i])
            return false;
    return gdnn_divide_up(gdnn_out_size(p, 1), s.columns) <= GDNN_PLANE_THREADS;
}

int gdnn_plane_edges_of(const gdnn_conv *p, const gdnn_plane_shape *s)
{
    int64_t out = gdnn_out_size(p, 1);
    if (p->pad[1] != s->filter_w / 2 || p->in[1] != out * s->stride || out % s->columns)
        return GDNN_PLANE_MASKED;
    return out == s->columns ? GDNN_PLANE_WHOLE : GDNN_PLANE_EDGES;
}

/* Rows of x of a stage: about `bytes` bytes of all planes, if possible whole sectors of each and whole turns of the march. */
static int64_t stage_rows(const gdnn_conv *p, const gdnn_plane_shape *s, int64_t planes, int size,
                          int64_t bytes)
{
    int64_t turn = gdnn_divide_up(s->filter_h, s->stride) * s->stride;
    int64_t most = bytes / (planes * p->in[1] * size) / s->stride * s->stride, best = 0,
            most_good = -1;
    if (most < s->stride)
        return s->stride;
    for (int64_t rows = most; rows * 2 >= most && rows > 0; rows -= s->stride) {
        int64_t good = (rows * p->in[1] * size % SECTOR == 0) * 2 + (rows % turn == 0);
        if (good > most_good) {
            most_good = good;
            best = rows;
        }
    }
    return best;
}

/* Rows of y that a stage may complete. */
static int64_t out_rows(const gdnn_conv *p, const cut *c, const gdnn_plane_shape *s)
{
    int64_t behind = s->stride == 1 ? s->filter_h - 1 : gdnn_divide_up(s->filter_h, s->stride);
    int64_t most = gdnn_divide_up(c->stage, s->stride) + behind;
    return c->whole ? gdnn_out_size(p, 0) : gdnn_smaller(most, c->rows);
}

static int64_t block_count(const gdnn_conv *p, const cut *c)
{
    return gdnn_divide_up(p->c, c->planes) * gdnn_divide_up(gdnn_out_size(p, 0), c->rows) *
           gdnn_divide_up(p->n, c->images);
}

/* Rows that all threads march through, and how unevenly blocks fill 132 multiprocessors, few warps of which hide less
 * latency. */
static double cost(const gdnn_conv *p, const cut *c, const gdnn_plane_shape *s, const limits *l)
{
    static const double waiting[] = {1.6, 1.2, 1.07};
    int64_t blocks = block_count(p, c), each = gdnn_divide_up(blocks, 132);
    int64_t halo = c->rows < gdnn_out_size(p, 0) ? s->filter_h - s->stride : 0;
    double image = l->image + (double)(c->rows * s->stride + halo) / s->stride;
    int64_t quarters = gdnn_divide_up(each * gdnn_divide_up(c->strips * c->planes, 32), 4);
    double slow = quarters <= 3 ? waiting[quarters - 1] : 1;
    return (l->start + (double)c->images * image) * (double)(each * 132) * slow;
}

/* Planes of a block: as few as leave few of its threads idle. */
static int64_t most_planes(int64_t strips, const limits *l)
{
    int64_t best = 0, best_used = 0; /* of 1024 */
    for (int threads = l->threads; threads <= GDNN_PLANE_THREADS; threads += 32) {
        int64_t planes = threads / strips, used = planes * strips * 1024 / threads;
        if (used > best_used + best_used / 8) {
            best = planes;
            best_used = used;
        }
    }
    return best;
}

static cut choose(const gdnn_conv *p, const gdnn_plane_shape *s, const limits *l, int size)
{
    int64_t rows = gdnn_out_size(p, 0), plane = p->in[0] * p->in[1] * size;
    cut c = {.strips = gdnn_divide_up(gdnn_out_size(p, 1), s->columns), .whole = plane <= l->plane};
    int64_t most = most_planes(c.strips, l);
    bool once = c.whole || plane <= l->once; /* all rows at a time */
    if (once)
        most = gdnn_smaller(most, l->run > plane ? l->run / plane : 1);
    c.planes = gdnn_divide_up(p->c, gdnn_divide_up(p->c, most));
    c.stage = once ? p->in[0] + s->stride
                   : stage_rows(p, s, c.planes, size, l->stage * (size == 4 ? l->wide : 1));
    cut best = c;
    double best_cost = 1e300;
    for (int64_t images = 1; images == 1 || (images <= 64 && images / 2 < p->n); images *= 2)
        for (int64_t slabs = 1; slabs == 1 || (!c.whole && slabs <= 16 && slabs <= rows);
             slabs *= 2) {
            c.images = images;
            c.rows = gdnn_divide_up(rows, slabs);
            double tried = cost(p, &c, s, l);
            if (tried < best_cost) {
                best_cost = tried;
                best = c;
            }
        }
    return best;
}

/* At least `bytes`, so that what follows in shared memory is in the banks that follow `row` bytes; or near them. */
static int spread(int bytes, int row)
{
    return row % 16 ? bytes | 16 : bytes + ((row - bytes) & 127);
}

/* What is written: planes of h x w, of which a row of the march is `rows` rows. */
typedef struct target {
    int64_t h, w;
    int rows;
} target;

/* For the forward problem `p` with filters of `taps` taps in memory. */
static gdnn_grid grid_of(const gdnn_conv *p, gdnn_plane_shape s, int taps, const limits *l,
                         target to)
{
    int size = (int)gdnn_dtype_size(p->dtype);
    cut c = choose(p, &s, l, size);
    int x_pitch = (int)p->in[1] * size, y_pitch = (int)to.w * size;
    int x_plane = (int)p->in[0] * x_pitch, y_plane = (int)to.h * y_pitch;
    int runs = c.whole ? 1 : (int)c.planes, planes = (int)c.planes;
    int64_t x_rows = gdnn_smaller(c.stage, p->in[0]),
            y_rows = gdnn_smaller(out_rows(p, &c, &s) * to.rows, to.h);
    int x_run = gdnn_plane_room(c.whole ? planes * x_plane : (int)x_rows * x_pitch);
    int y_run = gdnn_plane_room(c.whole ? planes * y_plane : (int)y_rows * y_pitch);
    if (!c.whole && l->spread) {
        x_run = spread(x_run, (int)c.strips * s.columns * s.stride * size);
        y_run = spread(y_run, (int)c.strips * s.columns * to.rows * size);
    }
    int x_buffer = runs * x_run + GDNN_PLANE_GUARD, y_buffer = GDNN_PLANE_GUARD + 2 * x_buffer;
    /* planes of an odd number of 16-bit values: odd words apart, every other one */
    bool alternate = !l->spread && c.whole && c.strips == 1 && size == 2 && p->in[0] * p->in[1] % 2;
    int half = alternate ? (int)gdnn_divide_up(gdnn_divide_up(planes, 2), 32) * 32 : 0;
    return (gdnn_grid){
        .threads = half ? 2 * half : (int)gdnn_divide_up(c.strips * planes, 32) * 32,
        .blocks = block_count(p, &c),
        .shared = gdnn_plane_filters(planes * taps, size) + y_buffer + runs * y_run,
        .tiling = {.strips = (int)c.strips,
                   .images = (int)c.images,
                   .rows = (int)c.rows,
                   .channel_tiles = gdnn_divide_by(gdnn_divide_up(p->c, planes)),
                   .slabs = gdnn_divide_by(gdnn_divide_up(gdnn_out_size(p, 0), c.rows)),
                   .tile = planes,
                   .strips_inverse = gdnn_small_inverse((int)c.strips),
                   .half = half,
                   .edges = gdnn_plane_edges_of(p, &s),
                   .stage_rows = (int)c.stage,
                   .run_planes = c.whole ? planes : 1,
                   .x_run = x_run,
                   .y_run = y_run,
                   .x_buffer = x_buffer,
                   .y_buffer = y_buffer,
                   .x_pitch = x_pitch,
                   .y_pitch = y_pitch,
                   .x_plane = x_plane,
                   .y_plane = y_plane,
                   .whole_sectors = p->n * p->c * p->in[0] * p->in[1] * size % 16 == 0}};
}

gdnn_grid gdnn_plane_grid(const gdnn_conv *p, gdnn_plane_shape s)
{
    return grid_of(p, s, s.filter_h * s.filter_w, &FORWARD,
                   (target){gdnn_out_size(p, 0), gdnn_out_size(p, 1), 1});
}

bool gdnn_plane_up_fits(const gdnn_conv *p, int filter, int columns)
{
    for (int i = 0; i < 2; i++)
        if (p->pad[i] >= filter || p->pad_after[i] >= filter)
            return false;
    int64_t pairs = gdnn_pairs(p->in[1], p->pad[1], gdnn_pair_shift(filter));
    return gdnn_divide_up(pairs, columns) <= GDNN_PLANE_THREADS;
}

gdnn_grid gdnn_plane_up_grid(const gdnn_conv *p, int filter, int columns)
{
    int reach = gdnn_pair_reach(filter), shift[2] = {0, gdnn_pair_shift(filter)};
    gdnn_conv pairs = *p; /* forward, from dy to pairs */
    int64_t out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = gdnn_pairs(p->in[i], p->pad[i], shift[i]);
        pairs.in[i] = gdnn_out_size(p, i);
        pairs.filter[i] = reach;
        pairs.stride[i] = 1;
        pairs.pad[i] = gdnn_pair_pad(filter, p->pad[i], shift[i]);
        pairs.pad_after[i] = out[i] + reach - 1 - pairs.in[i] - pairs.pad[i];
    }
    gdnn_plane_shape shape = {reach, reach, 1, columns};
    target dx = {p->in[0], p->in[1], 2};
    limits l = UP;
    gdnn_grid grid = grid_of(&pairs, shape, filter * filter, &l, dx);
    while (grid.shared > MOST_SHARED && l.stage > 1) {
        l.stage /= 2;
        l.run /= 2;
        grid = grid_of(&pairs, shape, filter * filter, &l, dx);
    }
    gdnn_tiling *t = &grid.tiling;
    bool regular = pairs.pad[1] == gdnn_pair_pad(filter, filter / 2, shift[1]) &&
                   p->in[1] == 2 * out[1] && pairs.in[1] == out[1] && out[1] % columns == 0;
    t->edges = regular ? GDNN_PLANE_EDGES : GDNN_PLANE_MASKED;
    t->pairs_h = (int)out[0];
    t->pairs_w = (int)out[1];
    t->pair_pad_h = (int)pairs.pad[0];
    t->pair_pad_w = (int)pairs.pad[1];
    return grid;
}
