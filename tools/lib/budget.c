#include "budget.h"

#include "problem.h"
#include <stdio.h>

/* Below this, in bytes, the launch decides. */
static const double least_bytes = 10e6;

/* A pass of shared memory moves this many bytes. */
enum { PASS_BYTES = 128 };

static const char *const names[] = {
    [COST_l2_ratio] = "l2_ratio",
    [COST_shared_per_output] = "shared_per_output",
    [COST_conflict_percent] = "conflict_percent",
};

/* What the conditions of budgets.def look at. */
typedef struct facts {
    const gdnn_conv *p;
    gdnn_layout layout; /* NCHW also where the strides are those of no layout */
    bool staged;        /* what is read comes through shared memory: written there and read again */
} facts;

static int64_t least(const int64_t *values, int count)
{
    int64_t result = values[0];
    for (int i = 1; i < count; i++)
        result = values[i] < result ? values[i] : result;
    return result;
}

static bool is_filter(const gdnn_conv *p, int64_t size)
{
    return p->filter[0] == size && p->filter[1] == size;
}

#define DEPTHWISE  (gdnn_cpg(f->p) == 1 && gdnn_taps(f->p) <= 49)
#define GROUPED    (gdnn_cpg(f->p) > 1 && CPG <= 32 && is_filter(f->p, 3) && BITS == 16)
#define STAGED     (f->staged)
#define BWD_FILTER (f->p->dir == GDNN_BWD_FILTER)
#define NCHW       (f->layout == GDNN_NCHW)
#define CPG        (gdnn_cpg(f->p))
#define PLANE      (least(f->p->in, f->p->spatial))
#define STRIDE     (-least((int64_t[]){-f->p->stride[0], -f->p->stride[1]}, 2))
#define BITS       (8 * gdnn_dtype_size(f->p->dtype))

static void find_limit(const facts *f, cost_kind which, cost *c)
{
#define GDNN_BUDGET(counter, most, what, when)                                                     \
    if (which == COST_##counter && !c->kind && (when)) {                                           \
        c->limit = most;                                                                           \
        c->kind = what;                                                                            \
    }
#include "budgets.def"
#undef GDNN_BUDGET
}

static double outputs(const gdnn_conv *conv)
{
    return (double)gdnn_elements(conv, conv->dir == GDNN_BWD_DATA ? GDNN_ROLE_X : GDNN_ROLE_Y);
}

void budget_costs(const gdnn_conv *conv, const gdnn_conv *from, const session_counts *counts,
                  cost costs[COSTS])
{
    const double bytes = gdnn_bytes(conv), shared = (double)counts->shared_bytes;
    const double passes = shared / PASS_BYTES, conflicts = (double)counts->conflict_cycles;
    const double values[COSTS] = {
        [COST_l2_ratio] = 32.0 * (double)(counts->sectors_read + counts->sectors_written) / bytes,
        [COST_shared_per_output] = shared / outputs(conv),
        [COST_conflict_percent] = conflicts > 0 ? 100 * conflicts / (conflicts + passes) : 0,
    };
    facts f = {.p = conv, .layout = GDNN_NCHW, .staged = shared > bytes};
    gdnn_common_layout(conv, &f.layout);
    for (int i = 0; i < COSTS; i++) {
        costs[i] = (cost){.name = names[i], .value = values[i]};
        if (gdnn_bytes(from) >= least_bytes && conv->spatial == 2)
            find_limit(&f, (cost_kind)i, &costs[i]);
    }
}

bool budget_missed(const cost *c)
{
    return c->kind && c->value > c->limit;
}

const char *budget_text(const cost costs[COSTS], char *text, size_t room)
{
    bool any = false;
    size_t used = 0;
    snprintf(text, room, "none");
    for (int i = 0; i < COSTS; i++) {
        any |= costs[i].kind != NULL;
        if (budget_missed(&costs[i]) && used < room)
            used += (size_t)snprintf(text + used, room - used, "%s%s %.4g > %g", used ? ", " : "",
                                     costs[i].name, costs[i].value, costs[i].limit);
    }
    return any ? text : NULL;
}
