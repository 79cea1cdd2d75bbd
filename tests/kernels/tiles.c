/* Sizes just below, at and above multiples of what the kernel says it cuts each axis into. */
#include "properties.h"

#include "problem.h"

/* Kinds of problems, in the order of interest. A kernel is swept over the first few that it can
 * run. */
static const struct {
    int cpg, kpg, filter, stride;
} kinds[] = {
    {1, 1, 3, 1},   {4, 4, 3, 1},   {1, 1, 5, 2}, {2, 3, 3, 2}, {8, 8, 3, 1},
    {16, 16, 3, 1}, {32, 32, 3, 1}, {1, 1, 7, 1}, {8, 8, 3, 2}, {1, 1, 1, 1},
    {16, 16, 1, 1}, {64, 64, 1, 1}, {1, 1, 3, 2},
};
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_KINDS = 4 };

/* Axes in the order of gdnn_tile. */
enum { AXIS_N, AXIS_GROUPS, AXIS_D, AXIS_H, AXIS_W, AXES };

static int tile_of(const gdnn_kernel *kernel, int axis)
{
    const gdnn_tile *t = &kernel->tile;
    return axis == AXIS_N ? t->n : axis == AXIS_GROUPS ? t->groups : t->spatial[axis - AXIS_D];
}

/* The problem whose outputs, or inputs in backward-data, have these sizes. */
static gdnn_conv sized(const subject *s, int kind, const int size[AXES])
{
    int cpg = kinds[kind].cpg, kpg = kinds[kind].kpg, filter = kinds[kind].filter;
    int stride = kinds[kind].stride, in[AXES];
    bool deep = tile_of(s->kernel, AXIS_D) > 1;
    for (int axis = AXIS_D; axis < AXES; axis++)
        in[axis] = s->kernel->dir == GDNN_BWD_DATA ? size[axis] : (size[axis] - 1) * stride + 1;
    int groups = size[AXIS_GROUPS];
    if (deep)
        return subject_conv(s,
                            "n=%d c=%d in=%dx%dx%d k=%d filter=%dx%dx%d pad=%d stride=%d groups=%d",
                            size[AXIS_N], groups * cpg, in[AXIS_D], in[AXIS_H], in[AXIS_W],
                            groups * kpg, filter, filter, filter, filter / 2, stride, groups);
    return subject_conv(s, "n=%d c=%d in=%dx%d k=%d filter=%dx%d pad=%d stride=%d groups=%d",
                        size[AXIS_N], groups * cpg, in[AXIS_H], in[AXIS_W], groups * kpg, filter,
                        filter, filter / 2, stride, groups);
}

static void offer(subject *s, int kind, const int size[AXES])
{
    gdnn_conv conv = sized(s, kind, size);
    if (subject_work(s, &conv) <= SUBJECT_MOST_WORK)
        subject_try(s, &conv);
}

static void sweep(subject *s, int kind)
{
    static const int usual[AXES] = {1, 2, 2, 3, 5};
    for (int axis = 0; axis < AXES; axis++) {
        int tile = tile_of(s->kernel, axis);
        if (axis == AXIS_D && tile == 1)
            continue;
        int probes[] = {
            1, 2, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1, 3 * tile + 2};
        for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
            int size[AXES] = {usual[0], usual[1], usual[2], usual[3], usual[4]};
            bool seen = probes[i] < 1;
            for (size_t j = 0; j < i; j++)
                seen = seen || probes[j] == probes[i];
            size[axis] = probes[i];
            if (!seen)
                offer(s, kind, size);
        }
    }
    /* all axes at once: whole tiles, one less, one more */
    for (int more = -1; more <= 1; more++) {
        int size[AXES];
        for (int axis = 0; axis < AXES; axis++)
            size[axis] = tile_of(s->kernel, axis) + more > 0 ? tile_of(s->kernel, axis) + more : 1;
        offer(s, kind, size);
    }
}

void tiles(subject *s)
{
    int swept = 0;
    for (int kind = 0; kind < KINDS && swept < MOST_KINDS; kind++) {
        int before = s->offered;
        sweep(s, kind);
        swept += s->offered > before;
    }
}
