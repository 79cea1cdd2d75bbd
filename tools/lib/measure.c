#include "measure.h"

#include "half.h"
#include "problem.h"
#include "tolerance.h"
#include <math.h>

/* The bounds' ingredients that depend on the problem alone. */
typedef struct limits {
    gdnn_dtype element;
    double root;           /* sqrt(K) */
    double unit, smallest; /* u and e */
    bool tf32;
} limits;

static limits limits_of(const gdnn_conv *conv)
{
    const gdnn_dtype sums = conv->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
    return (limits){.element = conv->dtype,
                    .root = sqrt(gdnn_products(conv)),
                    .unit = gdnn_unit(sums),
                    .smallest = gdnn_smallest(sums),
                    .tf32 = gdnn_may_use_tf32(conv)};
}

/* How far the sum of an element may be off before it is rounded to its type. */
static double sum_bound(const limits *l, double magnitude)
{
    if (!isfinite(magnitude))
        return 0; /* a finite result of infinite terms, as relu makes it, is exact */
    double bound = 8 * l->root * (l->unit * magnitude + l->smallest);
    return l->tf32 ? bound + 0x1p-10 * magnitude : bound;
}

/* True if neither is finite and they are of one kind, with one sign where infinite. */
static bool same_kind(double a, double b)
{
    return (isnan(a) && isnan(b)) || (isinf(a) && isinf(b) && signbit(a) == signbit(b));
}

/* True if one of two values at the edge of the type's range is infinite and the other is not, but
 * both are roundings of sums that are close enough. */
static bool at_the_edge(gdnn_dtype dtype, double got, double ref, double bound)
{
    double low = gdnn_round_to(dtype, ref - bound), high = gdnn_round_to(dtype, ref + bound);
    return low <= got && got <= high;
}

/* `unavoidable` is the error of the reference rounded to the type. */
static double rounding(gdnn_dtype dtype, int64_t count, double unavoidable)
{
    if (dtype == GDNN_F32 || dtype == GDNN_F64)
        return 0;
    double usual = dtype == GDNN_F16 ? 4e-4 : 3e-3;
    return fmax(count < 64 ? gdnn_unit(dtype) : usual, unavoidable);
}

/* Sums of squares over the elements that are finite on both sides; in long double, since the square
 * of an f64 need not be one. */
typedef struct norms {
    long double error, ref, magnitude, rounded;
    int64_t count;
} norms;

/* Fills err_l2 and tol, both relative to ||ref||, or to ||magnitude|| / sqrt(K) where ref is 0. */
static void relative_errors(measure *m, const gdnn_conv *conv, const limits *l, const norms *sum)
{
    double ref = (double)sqrtl(sum->ref), terms = (double)sqrtl(sum->magnitude) / l->root;
    double whole = ref > 0 ? ref : terms, error = (double)sqrtl(sum->error);
    if (whole == 0) {
        m->err_l2 = error > 0 ? INFINITY : 0;
        m->tol = 0;
        return;
    }
    m->err_l2 = error / whole;
    m->tol = rounding(conv->dtype, sum->count, (double)sqrtl(sum->rounded) / whole) +
             8 * l->root * l->smallest * sqrt((double)sum->count) / whole +
             gdnn_accumulation(conv) * fmax(1, terms / whole);
}

static long double square(double value)
{
    return (long double)value * value;
}

measure measure_result(const gdnn_conv *conv, const double *got, const double *ref,
                       const double *magnitude)
{
    int64_t count = gdnn_elements(conv, gdnn_written(conv->dir));
    limits l = limits_of(conv);
    norms sum = {.count = count};
    measure m = {.worst = 0};
    bool wrong_kind = false;

    for (int64_t i = 0; i < count; i++) {
        double target = gdnn_round_to(conv->dtype, ref[i]);
        double bound = sum_bound(&l, magnitude[i]);
        double share;
        if (isfinite(got[i]) && isfinite(target)) {
            double error = got[i] - ref[i];
            sum.error += square(error);
            sum.ref += square(ref[i]);
            sum.magnitude += isfinite(magnitude[i]) ? square(magnitude[i]) : 0;
            sum.rounded += square(target - ref[i]);
            share = error == 0
                        ? 0
                        : fabs(error) / (bound + gdnn_half_ulp(l.element, fabs(ref[i]) + bound));
        } else if (same_kind(got[i], target) || at_the_edge(conv->dtype, got[i], ref[i], bound)) {
            share = 0;
        } else {
            share = INFINITY;
            wrong_kind = true;
        }
        if (share > m.worst) {
            m.worst = share;
            m.worst_at = i;
        }
    }

    relative_errors(&m, conv, &l, &sum);
    if (wrong_kind)
        m.err_l2 = INFINITY;
    m.pass = m.err_l2 <= m.tol && m.worst <= 1;
    return m;
}
