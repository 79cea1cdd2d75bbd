#include "results.h"
#include "fill.h"
#include "half.h"
#include "problem.h"
#include "unit.h"
#include <math.h>

results results_of(const char *text)
{
    results r = {.count = 0};
    if (gdnn_conv_parse(text, &r.conv) != GDNN_OK)
        fail_msg("%s", gdnn_last_error());
    assert_int_equal(r.conv.spatial, 2);
    r.written = (tensor_name)gdnn_written(r.conv.dir);
    for (int i = 0; i < TENSORS; i++) {
        r.shape[i] = tensor_of(&r.conv, (tensor_name)i);
        const int64_t count = tensor_elements(&r.shape[i]);
        r.values[i] = malloc((size_t)count * sizeof(double));
        fill_values(r.values[i], count, FILL_UNIFORM, 1, (fill_stream)i, r.conv.dtype);
    }
    r.count = tensor_elements(&r.shape[r.written]);
    return r;
}

void results_free(results *r)
{
    for (int i = 0; i < TENSORS; i++)
        free(r->values[i]);
}

/* `value` with the bits of a float32 behind it cut off. */
static double cut(double value)
{
    float rounded = (float)value;
    return fabs(rounded) > fabs(value) ? nextafterf(rounded, 0) : rounded;
}

static double tf32(double value)
{
    int exponent;
    const double fraction = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(fraction, 11)), exponent - 11);
}

/* sum + a * b, the `n`-th product. */
static double add(arithmetic how, double sum, double a, double b, int64_t n)
{
    switch (how) {
    case EXACT: return sum + a * b;
    case CHAIN:
    case BACKWARDS: return (float)(sum + a * b);
    case TF32: return (float)(sum + tf32(a) * tf32(b));
    case CUT: return n % 16 == 15 ? cut(sum + a * b) : sum + a * b;
    case HALF: return gdnn_round_to(GDNN_F16, sum + a * b);
    }
    return NAN;
}

/* What one product belongs to: places in x, w and y. */
typedef struct place {
    int64_t in[3];
} place;

/* The place of the product (n, k, c of the group, output row and column, tap); false: padding. */
static int place_of(const gdnn_conv *p, const int64_t at[7], place *to)
{
    const int64_t out[2] = {gdnn_out_size(p, 0), gdnn_out_size(p, 1)};
    const int64_t n = at[0], k = at[1], c = k / gdnn_kpg(p) * gdnn_cpg(p) + at[2];
    int64_t i[2], tap[2];
    for (int axis = 0; axis < 2; axis++) {
        tap[axis] = at[5 + axis];
        i[axis] = at[3 + axis] * p->stride[axis] - p->pad[axis] + tap[axis] * p->dilation[axis];
        if (i[axis] < 0 || i[axis] >= p->in[axis])
            return 0;
    }
    to->in[0] = ((n * p->c + c) * p->in[0] + i[0]) * p->in[1] + i[1];
    to->in[1] = ((k * gdnn_cpg(p) + at[2]) * p->filter[0] + tap[0]) * p->filter[1] + tap[1];
    to->in[2] = ((n * p->k + k) * out[0] + at[3]) * out[1] + at[4];
    return 1;
}

static void sum_up(const results *r, arithmetic how, double *sum)
{
    const gdnn_conv *p = &r->conv;
    const int64_t size[7] = {
        p->n,         p->k,        gdnn_cpg(p), gdnn_out_size(p, 0), gdnn_out_size(p, 1),
        p->filter[0], p->filter[1]};
    const int one = r->written == TENSOR_X ? TENSOR_Y : TENSOR_X;
    const int other = r->written == TENSOR_W ? TENSOR_Y : TENSOR_W;
    int64_t *products = calloc((size_t)r->count, sizeof *products), total = 1;
    for (int i = 0; i < 7; i++)
        total *= size[i];
    for (int64_t step = 0; step < total; step++) {
        int64_t rest = how == BACKWARDS ? total - 1 - step : step, at[7];
        place to;
        for (int i = 6; i >= 0; i--) {
            at[i] = rest % size[i];
            rest /= size[i];
        }
        if (!place_of(p, at, &to))
            continue;
        const int64_t target = to.in[r->written];
        sum[target] = add(how, sum[target], r->values[one][to.in[one]],
                          r->values[other][to.in[other]], products[target]++);
    }
    free(products);
}

double *results_compute(const results *r, arithmetic how, int steps)
{
    const gdnn_conv *p = &r->conv;
    const int64_t pixels = gdnn_out_size(p, 0) * gdnn_out_size(p, 1);
    double *y = calloc((size_t)r->count, sizeof *y);
    sum_up(r, how, y);
    for (int64_t i = 0; i < r->count; i++) {
        if (steps)
            y[i] = gdnn_round_to(p->dtype, y[i]);
        y[i] *= p->alpha;
        if (p->beta != 0)
            y[i] += p->beta * r->values[r->written][i];
        if (p->z && p->alpha2 != 0)
            y[i] += p->alpha2 * r->values[TENSOR_Z][i];
        if (p->bias)
            y[i] += r->values[TENSOR_BIAS][i / pixels % p->k];
        if (p->act == GDNN_ACT_RELU && y[i] < 0)
            y[i] = 0;
        y[i] = gdnn_round_to(p->dtype, y[i]);
    }
    return y;
}
