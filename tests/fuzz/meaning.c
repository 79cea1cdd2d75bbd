#include "meaning.h"
#include "plan_meaning.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 3 };

/* The type that a kernel's name says; its last words may be of what variant it is. */
static const char *type_of(const launch *l)
{
    static const char *const types[] = {"f16", "bf16", "f32", "f64"};
    for (int i = 0; i < 4; i++) {
        char part[8];
        snprintf(part, sizeof part, "_%s", types[i]);
        const char *found = strstr(l->kernel, part);
        const char *rest = found ? found + strlen(part) : "wrong";
        if (!*rest || !strcmp(rest, "_plain"))
            return types[i];
    }
    fault("launched %s, which is a kernel of no type", l->kernel);
}

/* What a launch says of a tensor of the plan: backward-data may be launched as the forward convolution
 * that it is, which reads dy and writes dx. */
static role role_in_launch(bool turned, role r)
{
    return !turned || r == W ? r : r == X ? Y : X;
}

/* The same element where x and y have changed places: of one channel a group, both are channel 0. */
static point turn_point(const point *p)
{
    point there = *p;
    there.c = p->k;
    there.k = p->c;
    return there;
}

/* The sizes that the plan's convolution has in the launch's words. */
static geometry turn_sizes(const geometry *g)
{
    geometry turned = *g;
    turned.cpg = g->kpg;
    turned.kpg = g->cpg;
    memcpy(turned.in, g->out, sizeof turned.in);
    memcpy(turned.out, g->in, sizeof turned.out);
    return turned;
}

static int64_t random_below(uint64_t *state, int64_t end)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int64_t)((*state >> 33) % (uint64_t)end);
}

static geometry geometry_of(const launch *l)
{
    const gdnn_args *a = &l->args;
    geometry g = {
        .images = a->n, .groups = a->c / a->cpg.value, .cpg = a->cpg.value, .kpg = a->kpg.value};
    for (int i = 0; i < SPATIAL; i++) {
        g.in[i] = a->axis[i].in;
        g.out[i] = a->axis[i].out;
        g.filter[i] = a->axis[i].filter_div.value;
        g.pad[i] = a->axis[i].pad;
        g.stride[i] = a->axis[i].stride.value;
        g.dilation[i] = a->axis[i].dilation.value;
    }
    return g;
}

static uintptr_t address_in_launch(const launch *l, const void *base, role in, bool z,
                                   const point *p)
{
    const gdnn_args *a = &l->args;
    const char *type = type_of(l);
    int64_t c = p->g * a->cpg.value + p->c, k = p->g * a->kpg.value + p->k, offset;
    offset = in == X   ? p->n * a->x_stride_n + c * a->x_stride_c
             : in == W ? k * a->w_stride_k + p->c * a->w_stride_c + a->w_offset
             : z       ? p->n * a->z_stride_n + k * a->z_stride_k
                       : p->n * a->y_stride_n + k * a->y_stride_k;
    for (int i = 0; i < SPATIAL; i++)
        offset += p->s[i] * (in == X   ? a->axis[i].x_stride
                             : in == W ? a->axis[i].w_stride
                             : z       ? a->axis[i].z_stride
                                       : a->axis[i].y_stride);
    int64_t bytes = !strcmp(type, "f64") ? 8 : !strcmp(type, "f32") ? 4 : 2;
    return (uintptr_t)base + (uintptr_t)(offset * bytes);
}

static const void *base_of(const launch *l, role in)
{
    return in == X ? l->x : in == W ? l->w : l->y;
}

static double load_of_launch(const void *context, role in, const point *p)
{
    const launch *l = context;
    return value_at(address_in_launch(l, base_of(l, in), in, false, p));
}

static double launch_value(const launch *l, const geometry *g, role writes, const point *p)
{
    const gdnn_args *a = &l->args;
    const char *type = type_of(l);
    int64_t bytes = !strcmp(type, "f64") ? 8 : !strcmp(type, "f32") ? 4 : 2;
    double result = a->alpha.f64 * convolve(g, writes, p, load_of_launch, l);
    if (a->beta.nonzero)
        result += a->beta.f64 * load_of_launch(l, writes, p);
    if (a->has_z)
        result += a->alpha2.f64 * value_at(address_in_launch(l, l->z, Y, true, p));
    if (a->has_bias)
        result += value_at((uintptr_t)l->bias + (uintptr_t)((p->g * g->kpg + p->k) * bytes));
    return a->relu && result < 0 ? 0 : result;
}

static bool equal(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b));
}

static point any_point(const geometry *g, role writes, uint64_t *random)
{
    const int64_t *end = writes == X ? g->in : writes == W ? g->filter : g->out;
    point p = {.g = random_below(random, g->groups)};
    p.n = writes == W ? 0 : random_below(random, g->images);
    p.c = writes == Y ? 0 : random_below(random, g->cpg);
    p.k = writes == X ? 0 : random_below(random, g->kpg);
    for (int i = 0; i < SPATIAL; i++)
        p.s[i] = random_below(random, end[i]);
    return p;
}

static void check_point(const launch *l, bool turned, reading *r, const library_object *result,
                        const geometry *theirs, point p)
{
    const role writes = role_in_launch(turned, r->writes);
    point there = turned ? turn_point(&p) : p;
    if (r->writes == W) /* a kernel numbers taps from the other end where they are flipped */
        weight_of(&r->geometry, p.s, there.s);
    r->visited = 0;
    double is = launch_value(l, theirs, writes, &there), wanted = plan_value(r, result, &p);
    if (r->visited != r->operations)
        fault("launched for a graph of %d operations, of which %d matter", r->operations,
              r->visited);
    uintptr_t at = address_in_launch(l, base_of(l, writes), writes, false, &there),
              wanted_at = plan_address(r, result, r->writes, &p);
    if (at != wanted_at)
        fault("launched to write at %#lx instead of %#lx", (long)at, (long)wanted_at);
    if (!equal(is, wanted))
        fault("launched to write %g instead of %g", is, wanted);
}

/* Whether the elements can be counted and computed here. */
static bool small(const geometry *g)
{
    double all = (double)g->images * (double)g->groups * (double)g->cpg * (double)g->kpg;
    for (int i = 0; i < SPATIAL; i++)
        all *= (double)g->out[i] * (double)g->filter[i];
    return all < 3e6;
}

/* Whether a launch is of the forward convolution that a plan of backward-data is. */
static bool is_turned(const launch *l, role writes)
{
    static const char *const direction[] = {
        [X] = "_bwd_data_", [W] = "_bwd_filter_", [Y] = "_fwd_"};
    bool turned = writes == X && strstr(l->kernel, direction[Y]);
    if (!turned && !strstr(l->kernel, direction[writes]))
        fault("launched %s for another direction", l->kernel);
    return turned;
}

bool meaning_check(const library_object *plan, const library_object *pack, const launch *l,
                   uint64_t random, bool *turned)
{
    const geometry theirs = geometry_of(l);
    reading r;
    plan_begin(&r, plan, pack, type_of(l));
    *turned = is_turned(l, r.writes);
    if (!small(&theirs))
        return false;
    plan_sizes(&r);
    const geometry g = *turned ? turn_sizes(&r.geometry) : r.geometry;
    if (g.images != theirs.images || g.groups != theirs.groups || g.cpg != theirs.cpg ||
        g.kpg != theirs.kpg || !same(g.in, theirs.in) || !same(g.out, theirs.out) ||
        !same(g.filter, theirs.filter))
        fault("launched with other sizes");
    if (*turned && (g.cpg != 1 || g.kpg != 1))
        fault("launched a forward convolution for backward-data of many channels a group");
    const library_object *result = plan_result(&r);
    for (int i = 0; i < SAMPLES; i++)
        check_point(l, *turned, &r, result, &theirs, any_point(&r.geometry, r.writes, &random));
    return true;
}
