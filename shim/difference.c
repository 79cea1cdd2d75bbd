#include "difference.h"
#include "half.h"
#include "problem.h"
#include "tolerance.h"
#include <math.h>
#include <string.h>

/* What bounds are made of that does not depend on the element. */
typedef struct limits {
    const gdnn_magnitude *magnitude;
    gdnn_dtype dtype, ours, cudnn; /* of elements, of our sums, of cuDNN's */
    double per_magnitude;          /* an element's bound, for each unit of M, without `step` */
    double step;                   /* the same of `step` */
    double tiny;                   /* and whatever M is */
    double accumulation;           /* a + a' */
    long double root;              /* sqrt(K) */
} limits;

/* Algorithms that transform data or add with atomics, one bit each, by direction. */
static bool is_rough(gdnn_dir dir, int algo)
{
    static const unsigned rough[] = {
        [GDNN_FWD] = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7, /* FFT, FFT_TILING, WINOGRAD, _NONFUSED */
        [GDNN_BWD_DATA] = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5, /* atomics, and the same */
        [GDNN_BWD_FILTER] = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6,
    };
    return algo >= 0 && algo < 8 && (rough[dir] >> algo & 1);
}

static limits limits_of(const gdnn_magnitude *magnitude, int algo)
{
    const gdnn_conv *conv = magnitude->conv;
    const gdnn_dtype sums = conv->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
    limits l = {.magnitude = magnitude,
                .dtype = conv->dtype,
                .ours = sums,
                .cudnn = conv->acc == GDNN_F16 ? GDNN_F16 : sums};
    const bool half = conv->dtype == GDNN_F16 || conv->dtype == GDNN_BF16;
    const bool tf32 = gdnn_may_use_tf32(conv);
    const double products = gdnn_products(conv);
    const double unit = gdnn_unit(sums), their_unit = gdnn_unit(l.cudnn);
    l.root = gdnn_root(products);
    const double root = (double)l.root;
    double chain = 8 * root * their_unit, accumulation = gdnn_accumulation(conv);

    double theirs = accumulation * (their_unit / unit);
    if (theirs < root * their_unit)
        theirs = root * their_unit;
    if (half || tf32) {
        chain += products / 8 * their_unit;
        theirs += products / 16 * their_unit;
    }
    if (is_rough(conv->dir, algo)) {
        chain *= 16;
        theirs *= 16;
        if (half) {
            chain += 16 * gdnn_unit(conv->dtype);
            theirs += 16 * gdnn_unit(conv->dtype);
        }
    }
    l.per_magnitude = 8 * root * unit + chain + (tf32 ? 2 * 0x1p-10 : 0);
    l.accumulation = accumulation + theirs;
    l.tiny = 8 * root * (gdnn_smallest(sums) + gdnn_smallest(l.cudnn)) +
             products * gdnn_smallest_normal(sums);
    const bool plain = conv->alpha == 1 && conv->beta == 0 && !conv->bias && !conv->z;
    l.step = plain ? 0 : gdnn_unit(conv->dtype);
    return l;
}

/* True if neither is finite and they are of one kind, with one sign where infinite. */
static bool same_kind(double a, double b)
{
    return (isnan(a) && isnan(b)) || (isinf(a) && isinf(b) && signbit(a) == signbit(b));
}

/* `finite` may have been rounded to infinity by somebody who was `bound` off. */
static bool at_the_edge(gdnn_dtype dtype, double infinite, double finite, double bound)
{
    if (!isinf(infinite) || !isfinite(finite))
        return false;
    bound += gdnn_half_ulp(dtype, finite);
    return gdnn_round_to(dtype, finite + copysign(bound, infinite)) == infinite;
}

/* Two values of which one is not finite, and that are not of one kind. */
static bool may_differ(const limits *l, double ours, double cudnn, double magnitude, double bound)
{
    const gdnn_conv *conv = l->magnitude->conv;
    if (isnan(cudnn) && !l->magnitude->finite)
        return true;
    if (isnan(ours) && cudnn == 0 && conv->act == GDNN_ACT_RELU)
        return true;
    if (magnitude + bound > gdnn_largest(isfinite(ours) ? l->cudnn : l->ours))
        return true;
    return at_the_edge(l->dtype, ours, cudnn, bound) || at_the_edge(l->dtype, cudnn, ours, bound);
}

/* Sums of squares over the elements that are finite on both sides; in long double, since the square
 * of an f64 need not be one. */
typedef struct norms {
    long double difference, ours, cudnn, magnitude, terms, rounding;
    int64_t count;
} norms;

static long double square(double value)
{
    return (long double)value * value;
}

/* |ours - cudnn| of one element in units of its bound. */
static double share_of(const limits *l, norms *sum, double products, double ours, double cudnn)
{
    const double others = l->magnitude->others, magnitude = products + others;
    const double bound = (l->per_magnitude + l->step) * magnitude + l->tiny;
    if (!isfinite(ours) || !isfinite(cudnn)) {
        const bool fine = same_kind(ours, cudnn) || may_differ(l, ours, cudnn, magnitude, bound);
        return fine ? 0 : INFINITY;
    }
    const double larger = fabs(ours) > fabs(cudnn) ? ours : cudnn;
    const double rounding = gdnn_half_ulp(l->dtype, larger);
    const double difference = fabs(ours - cudnn);
    sum->difference += square(difference);
    sum->ours += square(ours);
    sum->cudnn += square(cudnn);
    sum->magnitude += square(magnitude);
    sum->terms += square(products / (double)l->root + others);
    sum->rounding += square(rounding);
    sum->count++;
    return difference / (bound + 2 * rounding);
}

static void finish(gdnn_difference *d, const limits *l, const norms *sum)
{
    const long double result = gdnn_root(sum->ours > sum->cudnn ? sum->ours : sum->cudnn);
    const long double magnitude = gdnn_root(sum->magnitude), terms = gdnn_root(sum->terms);
    const long double difference = gdnn_root(sum->difference);
    const long double bound = 2 * gdnn_root(sum->rounding) +
                              l->accumulation * (result > terms ? result : terms) +
                              l->step * magnitude + l->tiny * gdnn_root(sum->count);
    const long double scale = result > 0 ? result : 1;
    d->l2 = isinf(d->element) ? INFINITY : (double)(difference / scale);
    d->l2_bound = (double)(bound / scale);
    d->share = d->element;
    if (difference > d->share * bound)
        d->share = (double)(difference / bound);
}

bool gdnn_difference_measure(gdnn_difference *difference, const gdnn_magnitude *magnitude, int algo,
                             const void *ours, const void *cudnn, const gdnn_fetch *fetch)
{
    const gdnn_conv *conv = magnitude->conv;
    const gdnn_role role = gdnn_written(conv->dir);
    const limits l = limits_of(magnitude, algo);
    const int64_t span = gdnn_span(conv, role);
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(conv, role, size);
    gdnn_walk walk = gdnn_walk_begin(gdnn_dims(conv), size, gdnn_strides(conv, role));
    gdnn_window a = {.bytes = NULL}, b = {.bytes = NULL};
    norms sum = {.count = 0};
    *difference = (gdnn_difference){.element = -1};

    bool fine = gdnn_window_open(&a, fetch, ours, conv->dtype, span) &&
                gdnn_window_open(&b, fetch, cudnn, conv->dtype, span);
    while (fine) {
        double mine, theirs;
        fine = gdnn_window_get(&a, walk.offset, &mine) && gdnn_window_get(&b, walk.offset, &theirs);
        if (!fine)
            break;
        const double share =
            share_of(&l, &sum, gdnn_magnitude_at(magnitude, walk.index), mine, theirs);
        if (share > difference->element) {
            difference->element = share;
            difference->ours = mine;
            difference->cudnn = theirs;
            memcpy(difference->at, walk.index, sizeof walk.index);
        }
        if (!gdnn_walk_next(&walk))
            break;
    }
    gdnn_window_close(&a);
    gdnn_window_close(&b);
    if (fine)
        finish(difference, &l, &sum);
    return fine;
}
