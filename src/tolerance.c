#include "tolerance.h"
#include "problem.h"
#include <math.h>

/* A binary floating-point format: bits of the significand, exponents of the smallest normal number
 * and of the largest. */
typedef struct format {
    int bits, smallest, largest;
} format;

static format format_of(gdnn_dtype type)
{
    switch (type) {
    case GDNN_F16: return (format){11, -14, 15};
    case GDNN_BF16: return (format){8, -126, 127};
    case GDNN_F32: return (format){24, -126, 127};
    case GDNN_F64: break;
    }
    return (format){53, -1022, 1023};
}

double gdnn_unit(gdnn_dtype type)
{
    return ldexp(1, -format_of(type).bits);
}

double gdnn_smallest(gdnn_dtype type)
{
    const format f = format_of(type);
    return ldexp(1, f.smallest - f.bits + 1);
}

double gdnn_smallest_normal(gdnn_dtype type)
{
    return ldexp(1, format_of(type).smallest);
}

double gdnn_largest(gdnn_dtype type)
{
    const format f = format_of(type);
    return ldexp(2 - ldexp(1, 1 - f.bits), f.largest);
}

double gdnn_half_ulp(gdnn_dtype type, double value)
{
    const format f = format_of(type);
    int exponent = f.smallest + 1;
    if (value != 0)
        frexp(value, &exponent); /* 2^(exponent - 1) <= |value| < 2^exponent */
    exponent = exponent - 1 > f.smallest ? exponent - 1 : f.smallest;
    return ldexp(1, exponent - f.bits);
}

double gdnn_products(const gdnn_conv *conv)
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

int gdnn_may_use_tf32(const gdnn_conv *conv)
{
    return conv->dtype == GDNN_F32 && conv->math == GDNN_MATH_TF32;
}

double gdnn_accumulation(const gdnn_conv *conv)
{
    if (gdnn_may_use_tf32(conv))
        return 5e-4;
    double single = conv->dir == GDNN_BWD_FILTER ? 5e-6 : gdnn_products(conv) > 4096 ? 4e-6 : 2e-6;
    return conv->dtype == GDNN_F64 ? 4 * ldexp(single, -29) : single;
}
