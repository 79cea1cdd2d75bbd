#include "half.h"
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are stored as a GPU holds them");

/* A binary floating-point type: sign, exponent, fraction. */
typedef struct format {
    int bytes, exponent_bits, fraction_bits;
} format;

static format format_of(gdnn_dtype type)
{
    switch (type) {
    case GDNN_F16: return (format){2, 5, 10};
    case GDNN_BF16: return (format){2, 8, 7};
    case GDNN_F32: return (format){4, 8, 23};
    case GDNN_F64: break;
    }
    return (format){8, 11, 52};
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t encode(format f, double value)
{
    const uint64_t fraction_mask = (UINT64_C(1) << 52) - 1;
    const uint64_t bits = bits_of(value);
    const uint64_t sign = bits >> 63 << (f.exponent_bits + f.fraction_bits);
    const uint64_t infinity = ((UINT64_C(1) << f.exponent_bits) - 1) << f.fraction_bits;
    const int lowest = 2 - (1 << (f.exponent_bits - 1)); /* exponent of the smallest normal value */

    if (f.bytes == 8)
        return bits;
    if (isnan(value)) {
        uint64_t payload = (bits & fraction_mask) >> (52 - f.fraction_bits);
        return sign | infinity | (payload ? payload : UINT64_C(1) << (f.fraction_bits - 1));
    }
    if (isinf(value))
        return sign | infinity;

    /* |value| = significand * 2^(exponent - 52). The subnormal doubles come out too large here, by
     * a factor that does not matter: they are far below half of the smallest value of any type. */
    const uint64_t significand = (bits & fraction_mask) | (UINT64_C(1) << 52);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    const int clamped = exponent > lowest ? exponent : lowest;
    const int dropped = 52 - f.fraction_bits + (clamped - exponent);
    if (dropped > 53)
        return sign;

    uint64_t kept = significand >> dropped;
    const uint64_t rest = significand - (kept << dropped);
    const uint64_t half = UINT64_C(1) << (dropped - 1);
    if (rest > half || (rest == half && (kept & 1)))
        kept++;

    /* The leading one of a normal `kept` adds one to the exponent field, and so does a carry out of
     * the fraction. */
    const uint64_t magnitude = ((uint64_t)(clamped - lowest) << f.fraction_bits) + kept;
    return sign | (magnitude < infinity ? magnitude : infinity);
}

static double decode(format f, uint64_t bits)
{
    const uint64_t sign = bits >> (f.exponent_bits + f.fraction_bits) << 63;
    const int highest = (1 << f.exponent_bits) - 1;
    const int exponent = (int)(bits >> f.fraction_bits) & highest;
    const uint64_t fraction = bits & ((UINT64_C(1) << f.fraction_bits) - 1);
    const int bias = highest / 2;

    if (f.bytes == 8)
        return double_of(bits);
    if (exponent == 0)
        return double_of(sign | bits_of(ldexp((double)fraction, 1 - bias - f.fraction_bits)));
    const uint64_t wide = exponent == highest ? 0x7ff : (uint64_t)(exponent - bias + 1023);
    return double_of(sign | wide << 52 | fraction << (52 - f.fraction_bits));
}

double gdnn_round_to(gdnn_dtype type, double value)
{
    const format f = format_of(type);
    return decode(f, encode(f, value));
}

void gdnn_encode(gdnn_dtype type, const double *in, void *out, size_t n)
{
    const format f = format_of(type);
    unsigned char *at = out;

    for (size_t i = 0; i < n; i++, at += f.bytes) {
        const uint64_t bits = encode(f, in[i]);
        memcpy(at, &bits, (size_t)f.bytes);
    }
}

void gdnn_decode(gdnn_dtype type, const void *in, double *out, size_t n)
{
    const format f = format_of(type);
    const unsigned char *at = in;

    for (size_t i = 0; i < n; i++, at += f.bytes) {
        uint64_t bits = 0;
        memcpy(&bits, at, (size_t)f.bytes);
        out[i] = decode(f, bits);
    }
}
