#include "statistics.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

spread spread_of(double *samples, int count)
{
    if (count < 1)
        return (spread){.median = NAN, .least = NAN, .most = NAN};
    qsort(samples, (size_t)count, sizeof *samples, by_size);
    return (spread){.median = (samples[(count - 1) / 2] + samples[count / 2]) / 2,
                    .least = samples[0],
                    .most = samples[count - 1],
                    .count = count};
}

void geomean_add(geomean *g, double ratio)
{
    if (!(ratio > 0) || !isfinite(ratio))
        return;
    g->logs += log(ratio);
    g->count++;
    g->below_one += ratio < 1;
}

double geomean_value(const geomean *g)
{
    return g->count ? exp(g->logs / g->count) : NAN;
}
