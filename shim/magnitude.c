#include "magnitude.h"
#include "problem.h"
#include <math.h>
#include <stdlib.h>

typedef enum norm { LARGEST, SUM, SQUARES } norm;

/* One norm for each channel, or group of channels, of a tensor. */
typedef struct table {
    norm norm;
    double *of;
    int by;            /* the axis that counts channels */
    int64_t per_group; /* channels of that axis that share an entry */
    int64_t in_group;  /* entries that axis 1 tells apart, in a tensor w by its input channels */
    bool finite;
} table;

static void add(void *context, const int64_t index[GDNN_MAX_DIMS], double value)
{
    table *t = context;
    double *entry = &t->of[index[t->by] / t->per_group];
    if (t->in_group)
        entry = &t->of[index[0] / t->per_group * t->in_group + index[1]];
    if (!isfinite(value))
        t->finite = false;
    else if (t->norm == SQUARES)
        *entry += value * value;
    else if (t->norm == SUM)
        *entry += fabs(value);
    else if (fabs(value) > *entry)
        *entry = fabs(value);
}

static const void *memory_of(const gdnn_tensors *tensors, gdnn_role role)
{
    return role == GDNN_ROLE_X ? tensors->x : role == GDNN_ROLE_W ? tensors->w : tensors->y;
}

static bool fill(table *t, const gdnn_conv *conv, gdnn_role role, const void *memory,
                 const int64_t *stride, const gdnn_fetch *fetch)
{
    int64_t size[GDNN_MAX_DIMS], span = 1;
    gdnn_sizes(conv, role, size);
    for (int axis = 0; axis < gdnn_dims(conv); axis++)
        span += (size[axis] - 1) * stride[axis];
    return gdnn_walk_all(fetch, memory, conv->dtype, span,
                         gdnn_walk_begin(gdnn_dims(conv), size, stride), add, t);
}

/* Adds the largest |value| of a tensor, times a factor. */
static bool add_largest(gdnn_magnitude *m, gdnn_role role, const void *memory,
                        const int64_t *stride, double factor, const gdnn_fetch *fetch)
{
    double largest = 0;
    table all = {.norm = LARGEST, .of = &largest, .per_group = INT64_MAX};
    if (!fill(&all, m->conv, role, memory, stride, fetch))
        return false;
    m->others += fabs(factor) * largest;
    return true;
}

static bool add_bias(gdnn_magnitude *m, const void *bias, const gdnn_fetch *fetch)
{
    double largest = 0;
    table all = {.norm = LARGEST, .of = &largest, .per_group = INT64_MAX};
    const int64_t stride = 1;
    if (!gdnn_walk_all(fetch, bias, m->conv->dtype, m->conv->k,
                       gdnn_walk_begin(1, &m->conv->k, &stride), add, &all))
        return false;
    m->others += largest;
    return true;
}

static bool add_others(gdnn_magnitude *m, const gdnn_tensors *tensors, const gdnn_fetch *fetch)
{
    const gdnn_conv *conv = m->conv;
    const gdnn_role written = gdnn_written(conv->dir);
    if (conv->beta != 0 && !add_largest(m, written, memory_of(tensors, written),
                                        gdnn_strides(conv, written), conv->beta, fetch))
        return false;
    if (conv->z && conv->alpha2 != 0 &&
        !add_largest(m, GDNN_ROLE_Y, tensors->z, conv->z_stride, conv->alpha2, fetch))
        return false;
    return !conv->bias || add_bias(m, tensors->bias, fetch);
}

static void take_roots(double *squares, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        squares[i] = (double)gdnn_root(squares[i]);
}

static bool fill_norms(gdnn_magnitude *m, const gdnn_tensors *tensors, const gdnn_fetch *fetch)
{
    const gdnn_conv *conv = m->conv;
    table first = {.of = m->first, .by = 1, .per_group = 1, .finite = true};
    table second = {.of = m->second, .by = 1, .per_group = 1, .finite = true};
    gdnn_role roles[2] = {GDNN_ROLE_X, GDNN_ROLE_W};

    switch (conv->dir) {
    case GDNN_FWD:
        first.per_group = gdnn_cpg(conv);
        second.norm = SUM;
        second.by = 0;
        break;
    case GDNN_BWD_DATA:
        roles[0] = GDNN_ROLE_Y;
        first.per_group = second.per_group = gdnn_kpg(conv);
        second.norm = SUM;
        second.in_group = gdnn_cpg(conv);
        break;
    case GDNN_BWD_FILTER:
        roles[1] = GDNN_ROLE_Y;
        first.norm = second.norm = SQUARES;
        break;
    }
    if (!fill(&first, conv, roles[0], memory_of(tensors, roles[0]), gdnn_strides(conv, roles[0]),
              fetch) ||
        !fill(&second, conv, roles[1], memory_of(tensors, roles[1]), gdnn_strides(conv, roles[1]),
              fetch))
        return false;
    m->finite = first.finite && second.finite;
    if (conv->dir == GDNN_BWD_FILTER) {
        take_roots(m->first, conv->c);
        take_roots(m->second, conv->k);
    }
    return true;
}

bool gdnn_magnitude_open(gdnn_magnitude *magnitude, const gdnn_conv *conv,
                         const gdnn_tensors *tensors, const gdnn_fetch *fetch)
{
    const int64_t channels = conv->c > conv->k ? conv->c : conv->k;
    *magnitude = (gdnn_magnitude){.conv = conv};
    magnitude->first = calloc((size_t)channels, sizeof *magnitude->first);
    magnitude->second = calloc((size_t)channels, sizeof *magnitude->second);
    return magnitude->first && magnitude->second && fill_norms(magnitude, tensors, fetch) &&
           add_others(magnitude, tensors, fetch);
}

void gdnn_magnitude_close(gdnn_magnitude *magnitude)
{
    free(magnitude->first);
    free(magnitude->second);
    magnitude->first = magnitude->second = NULL;
}

double gdnn_magnitude_at(const gdnn_magnitude *m, const int64_t index[GDNN_MAX_DIMS])
{
    const gdnn_conv *conv = m->conv;
    double sum = 0;
    switch (conv->dir) {
    case GDNN_FWD: sum = m->first[index[1] / gdnn_kpg(conv)] * m->second[index[1]]; break;
    case GDNN_BWD_DATA: sum = m->first[index[1] / gdnn_cpg(conv)] * m->second[index[1]]; break;
    case GDNN_BWD_FILTER:
        sum = m->first[index[0] / gdnn_kpg(conv) * gdnn_cpg(conv) + index[1]] * m->second[index[0]];
    }
    return fabs(conv->alpha) * sum;
}

long double gdnn_root(long double value)
{
    if (!(value > 0) || !isfinite(value))
        return value;
    int exponent;
    frexpl(value, &exponent);
    long double root = ldexpl(1, exponent / 2 + 1); /* above, and Newton's steps fall */
    for (long double last = 2 * root; root < last;) {
        last = root;
        root = (root + value / root) / 2;
    }
    return root;
}
