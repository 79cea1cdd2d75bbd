#include "problem.h"
#include <math.h>

static int out_size(const problem *p, int axis)
{
    return (p->in[axis] + 2 * p->pad[axis] - (p->filter[axis] - 1) * p->dilation[axis] - 1) /
               p->stride[axis] +
           1;
}

static int sizes(int first, int second, int axes, const int *spatial, int size[5])
{
    size[0] = first;
    size[1] = second;
    for (int i = 0; i < axes; i++)
        size[i + 2] = spatial[i];
    return axes + 2;
}

int sizes_of_x(const problem *p, int size[5])
{
    return sizes(p->n, p->c, p->axes, p->in, size);
}

int sizes_of_w(const problem *p, int size[5])
{
    return sizes(p->k, p->c / p->groups, p->axes, p->filter, size);
}

int sizes_of_y(const problem *p, int size[5])
{
    int out[3];
    for (int i = 0; i < p->axes; i++)
        out[i] = out_size(p, i);
    return sizes(p->n, p->k, p->axes, out, size);
}

/* Three axes, whatever the problem has: those it lacks are 1, in front. */
typedef struct grid {
    int in[3], filter[3], out[3], pad[3], stride[3], dilation[3];
    int cpg, kpg;
} grid;

static grid grid_of(const problem *p)
{
    grid g = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1},        {0, 0, 0},
              {1, 1, 1}, {1, 1, 1}, p->c / p->groups, p->k / p->groups};
    for (int i = 0; i < p->axes; i++) {
        const int at = i + 3 - p->axes;
        g.in[at] = p->in[i];
        g.filter[at] = p->filter[i];
        g.out[at] = out_size(p, i);
        g.pad[at] = p->pad[i];
        g.stride[at] = p->stride[i];
        g.dilation[at] = p->dilation[i];
    }
    return g;
}

static int index_of(const int size[3], const int at[3])
{
    return (at[0] * size[1] + at[1]) * size[2] + at[2];
}

/* Steps through all places of a box; 0 after the last. */
static int step(const int size[3], int at[3])
{
    for (int i = 2; i >= 0; i--) {
        if (++at[i] < size[i])
            return 1;
        at[i] = 0;
    }
    return 0;
}

/* A sum, the sum of its terms' absolute values, and their number. */
typedef struct sum {
    double value, absolute;
    int terms;
} sum;

static void add(sum *s, double term)
{
    s->value += term;
    s->absolute += fabs(term);
    s->terms++;
}

/* How far tap `tap` of an axis reaches beyond the output's place. */
static int reach(const problem *p, const grid *g, int axis, int tap)
{
    const int at = p->mode == CUDNN_CONVOLUTION ? g->filter[axis] - 1 - tap : tap;
    return at * g->dilation[axis] - g->pad[axis];
}

/* The input that output `out` meets with tap `tap`; 0 if it is padding. */
static int input_of(const problem *p, const grid *g, const int out[3], const int tap[3], int in[3])
{
    for (int i = 0; i < 3; i++) {
        in[i] = out[i] * g->stride[i] + reach(p, g, i, tap[i]);
        if (in[i] < 0 || in[i] >= g->in[i])
            return 0;
    }
    return 1;
}

/* The output that meets input `in` with tap `tap`; 0 if there is none. */
static int output_of(const problem *p, const grid *g, const int in[3], const int tap[3], int out[3])
{
    for (int i = 0; i < 3; i++) {
        const int from = in[i] - reach(p, g, i, tap[i]);
        out[i] = from / g->stride[i];
        if (from < 0 || from % g->stride[i] != 0 || out[i] >= g->out[i])
            return 0;
    }
    return 1;
}

static int count(const int size[3])
{
    return size[0] * size[1] * size[2];
}

static int x_at(const problem *p, const grid *g, int n, int c, const int in[3])
{
    return (n * p->c + c) * count(g->in) + index_of(g->in, in);
}

static int w_at(const grid *g, int k, int c, const int tap[3])
{
    return (k * g->cpg + c) * count(g->filter) + index_of(g->filter, tap);
}

static int y_at(const problem *p, const grid *g, int n, int k, const int out[3])
{
    return (n * p->k + k) * count(g->out) + index_of(g->out, out);
}

static sum sum_of_y(const problem *p, const grid *g, const numbers *t, int n, int k,
                    const int out[3])
{
    sum s = {0, 0, 0};
    int in[3];
    for (int c = 0; c < g->cpg; c++) {
        int tap[3] = {0, 0, 0};
        do {
            if (input_of(p, g, out, tap, in))
                add(&s,
                    t->x[x_at(p, g, n, k / g->kpg * g->cpg + c, in)] * t->w[w_at(g, k, c, tap)]);
        } while (step(g->filter, tap));
    }
    return s;
}

static sum sum_of_dx(const problem *p, const grid *g, const numbers *t, int n, int c,
                     const int in[3])
{
    const int group = c / g->cpg;
    sum s = {0, 0, 0};
    int out[3];
    for (int k = group * g->kpg; k < (group + 1) * g->kpg; k++) {
        int tap[3] = {0, 0, 0};
        do {
            if (output_of(p, g, in, tap, out))
                add(&s, t->y[y_at(p, g, n, k, out)] * t->w[w_at(g, k, c % g->cpg, tap)]);
        } while (step(g->filter, tap));
    }
    return s;
}

static sum sum_of_dw(const problem *p, const grid *g, const numbers *t, int k, int c,
                     const int tap[3])
{
    sum s = {0, 0, 0};
    int in[3];
    for (int n = 0; n < p->n; n++) {
        int out[3] = {0, 0, 0};
        do {
            if (input_of(p, g, out, tap, in))
                add(&s,
                    t->y[y_at(p, g, n, k, out)] * t->x[x_at(p, g, n, k / g->kpg * g->cpg + c, in)]);
        } while (step(g->out, out));
    }
    return s;
}

static double activate(const problem *p, double v)
{
    switch (p->activation) {
    case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + exp(-v));
    case CUDNN_ACTIVATION_RELU: return v > 0 ? v : 0;
    case CUDNN_ACTIVATION_TANH: return tanh(v);
    case CUDNN_ACTIVATION_CLIPPED_RELU: return fmin(fmax(v, 0), p->coefficient);
    case CUDNN_ACTIVATION_ELU: return v > 0 ? v : p->coefficient * (exp(v) - 1);
    case CUDNN_ACTIVATION_SWISH: return v / (1 + exp(-v));
    default: return v;
    }
}

/* Sums in the arithmetic's type round once a term; rounding inputs to TF32 moves each by up to
 * 2^-11. No activation is steeper than 1.1, or than the coefficient of ELU. */
static double bound_of(const problem *p, double absolute, int terms)
{
    const double unit = p->type == CUDNN_DATA_DOUBLE ? 0x1p-53 : 0x1p-24;
    const int tf32 = p->type == CUDNN_DATA_FLOAT && p->math != CUDNN_FMA_MATH;
    return 1.5 * absolute * ((terms + 6) * unit + (tf32 ? 0x1p-10 : 0));
}

/* `i`: of the written tensor; `k`: channel of the bias. */
static void finish(const problem *p, const numbers *t, const double *prior, int i, int k, sum s,
                   double *result, double *bound)
{
    double value = p->alpha * s.value, absolute = fabs(p->alpha) * s.absolute;
    if (p->beta != 0) {
        value += p->beta * prior[i];
        absolute += fabs(p->beta * prior[i]);
    }
    if (p->fused && p->alpha2 != 0) {
        value += p->alpha2 * t->z[i];
        absolute += fabs(p->alpha2 * t->z[i]);
    }
    if (p->fused) {
        value += t->bias[k];
        absolute += fabs(t->bias[k]);
    }
    result[i] = p->fused ? activate(p, value) : value;
    bound[i] = bound_of(p, absolute, s.terms);
}

void expect(const problem *p, const numbers *t, double *result, double *bound)
{
    const grid g = grid_of(p);
    const int firsts[] = {p->n, p->n, p->k}, seconds[] = {p->k, p->c, g.cpg};
    const int *const boxes[] = {g.out, g.in, g.filter};
    const double *const priors[] = {t->y, t->x, t->w};
    int i = 0;

    for (int a = 0; a < firsts[p->dir]; a++)
        for (int b = 0; b < seconds[p->dir]; b++) {
            int at[3] = {0, 0, 0};
            do {
                sum s = p->dir == FORWARD         ? sum_of_y(p, &g, t, a, b, at)
                        : p->dir == BACKWARD_DATA ? sum_of_dx(p, &g, t, a, b, at)
                                                  : sum_of_dw(p, &g, t, a, b, at);
                finish(p, t, priors[p->dir], i++, b, s, result, bound);
            } while (step(boxes[p->dir], at));
        }
}
