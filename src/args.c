#include "args.h"
#include "problem.h"
#include <string.h>

gdnn_divisor gdnn_divide_by(int64_t value)
{
    gdnn_divisor d = {0, 0, 0, value};
    while (d.shift < 63 && ((uint64_t)1 << d.shift) < (uint64_t)value)
        d.shift++;
    /* magic = floor(2^64 * (2^shift - value) / value) + 1 < 2^64, since 2^shift < 2 * value */
    unsigned __int128 rest = ((uint64_t)1 << d.shift) - (uint64_t)value;
    d.magic = (uint64_t)((rest << 64) / (uint64_t)value) + 1;
    return d;
}

int64_t gdnn_greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The x in 0 <= x < modulus with a * x = 1 mod modulus; a and modulus have no common divisor. */
static int64_t inverse_of(int64_t a, int64_t modulus)
{
    int64_t r0 = modulus, r1 = a % modulus, x0 = 0, x1 = 1;
    while (r1) {
        int64_t q = r0 / r1, r = r0 - q * r1, x = x0 - q * x1;
        r0 = r1, r1 = r;
        x0 = x1, x1 = x;
    }
    return x0 < 0 ? x0 + modulus : x0;
}

/* Factors of sums in float32 are float32 themselves; what rounds to 0 is 0. */
static gdnn_scale scale_of(const gdnn_conv *conv, double value)
{
    bool nonzero = conv->dtype == GDNN_F64 ? value != 0 : (float)value != 0;
    return (gdnn_scale){value, (float)value, nonzero};
}

/* Products of one chain. A float32 chain of 1024 is within 6e-7 of the exact sum, relative to random data. */
enum { CHAIN = 1024 };

static void fill_axis(gdnn_axis *axis, const gdnn_conv *conv, int i)
{
    int64_t gcd = gdnn_greatest_common_divisor(conv->stride[i], conv->dilation[i]);
    axis->in = conv->in[i];
    axis->out = gdnn_out_size(conv, i);
    axis->pad = conv->pad[i];
    axis->x_stride = conv->x_stride[2 + i];
    axis->y_stride = conv->y_stride[2 + i];
    axis->z_stride = conv->z_stride[2 + i];
    axis->w_stride = conv->w_stride[2 + i];
    axis->in_div = gdnn_divide_by(axis->in);
    axis->out_div = gdnn_divide_by(axis->out);
    axis->filter_div = gdnn_divide_by(conv->filter[i]);
    axis->stride = gdnn_divide_by(conv->stride[i]);
    axis->dilation = gdnn_divide_by(conv->dilation[i]);
    axis->gcd = gdnn_divide_by(gcd);
    axis->tap_step = gdnn_divide_by(conv->stride[i] / gcd);
    axis->inverse = inverse_of(conv->dilation[i] / gcd, conv->stride[i] / gcd);
    axis->out_step = conv->dilation[i] / gcd;
}

/* An axis that the problem does not have. */
static void fill_missing_axis(gdnn_axis *axis)
{
    gdnn_divisor one = gdnn_divide_by(1);
    *axis = (gdnn_axis){.in = 1, .out = 1, .out_step = 1};
    axis->in_div = axis->out_div = axis->filter_div = one;
    axis->stride = axis->dilation = axis->gcd = axis->tap_step = one;
}

void gdnn_args_fill(gdnn_args *args, const gdnn_conv *conv)
{
    memset(args, 0, sizeof *args);
    args->n = conv->n;
    args->c = conv->c;
    args->k = conv->k;
    args->c_div = gdnn_divide_by(conv->c);
    args->k_div = gdnn_divide_by(conv->k);
    args->cpg = gdnn_divide_by(gdnn_cpg(conv));
    args->kpg = gdnn_divide_by(gdnn_kpg(conv));
    args->x_stride_n = conv->x_stride[0];
    args->x_stride_c = conv->x_stride[1];
    args->w_stride_k = conv->w_stride[0];
    args->w_stride_c = conv->w_stride[1];
    args->y_stride_n = conv->y_stride[0];
    args->y_stride_k = conv->y_stride[1];
    args->z_stride_n = conv->z_stride[0];
    args->z_stride_k = conv->z_stride[1];

    int missing = GDNN_MAX_SPATIAL - conv->spatial;
    for (int i = 0; i < GDNN_MAX_SPATIAL; i++) {
        gdnn_axis *axis = &args->axis[i];
        if (i < missing) {
            fill_missing_axis(axis);
            continue;
        }
        fill_axis(axis, conv, i - missing);
        if (conv->mode == GDNN_CONV) { /* the last tap comes first, at no cost to the kernel */
            args->w_offset += (axis->filter_div.value - 1) * axis->w_stride;
            axis->w_stride = -axis->w_stride;
        }
    }

    args->alpha = scale_of(conv, conv->alpha);
    args->beta = scale_of(conv, conv->beta);
    args->alpha2 = scale_of(conv, conv->alpha2);
    args->has_bias = conv->bias != 0;
    args->has_z = conv->z && args->alpha2.nonzero;
    int64_t taps = gdnn_taps(conv);
    args->chain = taps < CHAIN ? (int32_t)(CHAIN / taps) : 1;
    args->relu = conv->act == GDNN_ACT_RELU;
}
