#include "number.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Sign, exponent and fraction, from the top. */
typedef struct format {
    int bytes, exponent_bits, fraction_bits;
} format;

static uint64_t state;

static format format_of(cudnnDataType_t type)
{
    switch ((int)type) {
    case CUDNN_DATA_HALF: return (format){2, 5, 10};
    case CUDNN_DATA_BFLOAT16: return (format){2, 8, 7};
    case CUDNN_DATA_DOUBLE: return (format){8, 11, 52};
    default: return (format){4, 8, 23};
    }
}

size_t number_size(cudnnDataType_t type)
{
    return (size_t)format_of(type).bytes;
}

void number_seed(unsigned seed)
{
    state = seed;
}

/* Knuth's MMIX generator; its upper bits are good. */
static uint64_t next(void)
{
    uint64_t bits = 0;
    for (int i = 0; i < 2; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bits = bits << 32 | state >> 32;
    }
    return bits;
}

void number_random(cudnnDataType_t type, void *element)
{
    const format f = format_of(type);
    const uint64_t random = next();
    const uint64_t bias = (UINT64_C(1) << (f.exponent_bits - 1)) - 1;
    const uint64_t exponent = bias - 3 + random % 4;
    const uint64_t fraction = random >> 8 & ((UINT64_C(1) << f.fraction_bits) - 1);
    const uint64_t sign = random >> 63;
    const uint64_t bits = sign << (8 * f.bytes - 1) | exponent << f.fraction_bits | fraction;
    memcpy(element, &bits, (size_t)f.bytes);
}

void number_infinite(cudnnDataType_t type, void *element, int negative)
{
    const format f = format_of(type);
    const uint64_t exponent = (UINT64_C(1) << f.exponent_bits) - 1;
    const uint64_t bits = (uint64_t)negative << (8 * f.bytes - 1) | exponent << f.fraction_bits;
    memcpy(element, &bits, (size_t)f.bytes);
}

double number_read(cudnnDataType_t type, const void *element)
{
    const format f = format_of(type);
    uint64_t bits = 0;
    memcpy(&bits, element, (size_t)f.bytes);
    const uint64_t fraction = bits & ((UINT64_C(1) << f.fraction_bits) - 1);
    const int top = (1 << f.exponent_bits) - 1;
    const int exponent = (int)(bits >> f.fraction_bits) & top;
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    double value;

    if (exponent == top)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp((double)fraction, 1 - bias - f.fraction_bits);
    else
        value = ldexp((double)(fraction | UINT64_C(1) << f.fraction_bits),
                      exponent - bias - f.fraction_bits);
    return bits >> (8 * f.bytes - 1) ? -value : value;
}

double number_half_step(cudnnDataType_t type, double value)
{
    const format f = format_of(type);
    const int lowest = 2 - (1 << (f.exponent_bits - 1));
    int exponent;
    frexp(value, &exponent); /* value < 2^exponent */
    if (exponent - 1 < lowest)
        exponent = lowest + 1;
    return ldexp(1, exponent - 1 - f.fraction_bits - 1);
}
