#include "sums.h"
#include <string.h>

double value_at(uintptr_t address)
{
    uint64_t z = address * UINT64_C(0x9e3779b97f4a7c15);
    return (double)((z ^ z >> 29) % 7) - 3;
}

/* Steps through all combinations of three indices. False: it was the last. */
static bool step(int64_t s[SPATIAL], const int64_t end[SPATIAL])
{
    for (int i = SPATIAL - 1; i >= 0; s[i--] = 0)
        if (++s[i] < end[i])
            return true;
    return false;
}

/* The input that output `o` reads at tap `t`. False: it is padding. */
static bool reads(const geometry *g, const int64_t *o, const int64_t *t, int64_t *i)
{
    for (int a = 0; a < SPATIAL; a++) {
        i[a] = o[a] * g->stride[a] - g->pad[a] + t[a] * g->dilation[a];
        if (i[a] < 0 || i[a] >= g->in[a])
            return false;
    }
    return true;
}

void weight_of(const geometry *g, const int64_t *t, int64_t *w)
{
    for (int a = 0; a < SPATIAL; a++)
        w[a] = g->flipped ? g->filter[a] - 1 - t[a] : t[a];
}

bool same(const int64_t *a, const int64_t *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* One product of the sum for `p`, if outputs `o` and taps `t` have one. */
static double product(const geometry *g, role writes, const point *p, const point *at, loader *load,
                      const void *context)
{
    point x = *at, w = *at, y = *at;
    weight_of(g, at->s, w.s);
    memcpy(y.s, at->o, sizeof y.s);
    if (!reads(g, at->o, at->s, x.s) || (writes == X && !same(x.s, p->s)) ||
        (writes == W && !same(w.s, p->s)))
        return 0;
    return (writes == X ? load(context, Y, &y) : load(context, X, &x)) *
           (writes == W ? load(context, Y, &y) : load(context, W, &w));
}

double convolve(const geometry *g, role writes, const point *p, loader *load, const void *context)
{
    double sum = 0;
    point at = *p;
    const int64_t n_end = writes == W ? g->images : p->n + 1,
                  c_end = writes == Y ? g->cpg : p->c + 1, k_end = writes == X ? g->kpg : p->k + 1;
    for (at.n = writes == W ? 0 : p->n; at.n < n_end; at.n++)
        for (at.c = writes == Y ? 0 : p->c; at.c < c_end; at.c++)
            for (at.k = writes == X ? 0 : p->k; at.k < k_end; at.k++) {
                memset(at.o, 0, sizeof at.o);
                do {
                    if (writes == Y && !same(at.o, p->s))
                        continue;
                    memset(at.s, 0, sizeof at.s);
                    do
                        sum += product(g, writes, p, &at, load, context);
                    while (step(at.s, g->filter));
                } while (step(at.o, g->out));
            }
    return sum;
}
