#include "measure.h"

#include "half.h"
#include "problem.h"
#include <math.h>

/* A binary floating-point format: bits of the significand, exponent of the smallest normal number.
 */
typedef struct format {
    int bits, smallest;
} format;

static format format_of(gdnn_dtype dtype)
{
    switch (dtype) {
    case GDNN_F16: return (format){11, -14};
    case GDNN_BF16: return (format){8, -126};
    case GDNN_F32: return (format){24, -126};
    case GDNN_F64: break;
    }
    return (format){53, -1022};
}

/* Half the distance between `value` and its neighbour in the format. */
static double half_ulp(format f, double value)
{
    int exponent = f.smallest;
    if (value != 0)
        exponent = ilogb(value) > f.smallest ? ilogb(value) : f.smallest;
    return ldexp(1, exponent - f.bits);
}

/* The bounds' ingredients that depend on the problem alone. */
typedef struct limits {
    format element, sum;
    double root; /* sqrt(K) */
    double unit; /* u */
    bool tf32;
} limits;

static limits limits_of(const gdnn_conv *conv)
{
    limits l = {.element = format_of(conv->dtype)};
    l.sum = format_of(conv->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32);
    l.root = sqrt(measure_products(conv));
    l.unit = ldexp(1, -l.sum.bits);
    l.tf32 = conv->dtype == GDNN_F32 && conv->math == GDNN_MATH_TF32;
    return l;
}

double measure_products(const gdnn_conv *conv)
{
    double products = 1;
    switch (conv->dir) {
    case GDNN_FWD: return (double)gdnn_cpg(conv) * (double)gdnn_taps(conv);
    case GDNN_BWD_DATA: return (double)gdnn_kpg(conv) * (double)gdnn_taps(conv);
    case GDNN_BWD_FILTER:
        products = (double)conv->n;
        for (int axis = 0; axis < conv->spatial; axis++)
            products *= (double)gdnn_out_size(conv, axis);
    }
    return products;
}

/* How far the sum of an element may be off before it is rounded to its type. */
static double sum_bound(const limits *l, double magnitude)
{
    if (!isfinite(magnitude))
        return 0; /* a finite result of infinite terms, as relu makes it, is exact */
    double bound =
        8 * l->root * (l->unit * magnitude + ldexp(1, l->sum.smallest - l->sum.bits + 1));
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

static double accumulation(const gdnn_conv *conv, const limits *l)
{
    if (l->tf32)
        return 5e-4;
    double single = conv->dir == GDNN_BWD_FILTER ? 5e-6 : l->root > 64 ? 4e-6 : 2e-6;
    return conv->dtype == GDNN_F64 ? 4 * ldexp(single, -29) : single;
}

/* `unavoidable` is the error of the reference rounded to the type. */
static double rounding(gdnn_dtype dtype, int64_t count, double unavoidable)
{
    if (dtype == GDNN_F32 || dtype == GDNN_F64)
        return 0;
    double usual = dtype == GDNN_F16 ? 4e-4 : 3e-3;
    return fmax(count < 64 ? ldexp(1, -format_of(dtype).bits) : usual, unavoidable);
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
    double smallest = ldexp(1, l->sum.smallest - l->sum.bits + 1);
    m->tol = rounding(conv->dtype, sum->count, (double)sqrtl(sum->rounded) / whole) +
             8 * l->root * smallest * sqrt((double)sum->count) / whole +
             accumulation(conv, l) * fmax(1, terms / whole);
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
            share =
                error == 0 ? 0 : fabs(error) / (bound + half_ulp(l.element, fabs(ref[i]) + bound));
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
