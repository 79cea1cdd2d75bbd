/* Rounding of float64 to the element types, against the definition of the types and the compiler's
 * float. */
#include "half.h"
#include "unit.h"
#include <math.h>
#include <stdbool.h>

/* A 16-bit type, as its standard has it. */
typedef struct format {
    gdnn_dtype type;
    int exponent_bits, fraction_bits;
    double largest;
} format;

static const format FORMATS[] = {{GDNN_F16, 5, 10, 65504}, {GDNN_BF16, 8, 7, 0x1.fep127}};

/* The value of a code: (-1)^s * 2^(e - bias) * 1.fraction, or 0.fraction with the lowest
 * exponent. */
static double value_of(const format *f, unsigned code)
{
    const int e = (int)(code >> f->fraction_bits) & ((1 << f->exponent_bits) - 1);
    const int bias = (1 << (f->exponent_bits - 1)) - 1;
    const double fraction =
        (double)(code & ((1U << f->fraction_bits) - 1)) / (double)(1 << f->fraction_bits);
    double value = e == 0 ? fraction * pow(2, 1 - bias) : (1 + fraction) * pow(2, e - bias);

    if (e == (1 << f->exponent_bits) - 1)
        value = fraction == 0 ? INFINITY : NAN;
    return code >> 15 ? -value : value;
}

static uint16_t encode16(gdnn_dtype type, double value)
{
    uint16_t code;
    gdnn_encode(type, &value, &code, 1);
    return code;
}

static double decode16(gdnn_dtype type, uint16_t code)
{
    double value;
    gdnn_decode(type, &code, &value, 1);
    return value;
}

static void every_code_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++)
        for (unsigned code = 0; code < 65536; code++) {
            const format *f = &FORMATS[i];
            const double value = decode16(f->type, (uint16_t)code), right = value_of(f, code);
            assert_true(isnan(right) ? isnan(value) : value == right);
            assert_true(!signbit(value) == !(code >> 15));
            assert_int_equal(encode16(f->type, value), code);
        }
}

/* Between any two neighbours: the middle goes to the even code, what is closer to one goes to that.
 * The neighbour of the largest value is the power of two that the type would have next; it is
 * infinite. */
static void rounding_is_to_nearest_even(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(FORMATS); i++) {
        const format *f = &FORMATS[i];
        const unsigned infinity = ((1U << f->exponent_bits) - 1) << f->fraction_bits;

        assert_true(decode16(f->type, (uint16_t)(infinity - 1)) == f->largest);
        for (unsigned code = 0; code < infinity; code++) {
            const double low = value_of(f, code);
            const double high =
                code + 1 < infinity ? value_of(f, code + 1) : pow(2, 1 << (f->exponent_bits - 1));
            const double middle = (low + high) / 2; /* exact in float64 */
            const unsigned even = code % 2 == 0 ? code : code + 1;

            assert_int_equal(encode16(f->type, middle), even);
            assert_int_equal(encode16(f->type, -middle), even | 0x8000);
            assert_int_equal(encode16(f->type, nextafter(middle, 0)), code);
            assert_int_equal(encode16(f->type, nextafter(middle, INFINITY)), code + 1);
            assert_int_equal(encode16(f->type, nextafter(low, INFINITY)), code);
            assert_int_equal(encode16(f->type, nextafter(high, 0)), code + 1);
        }
        assert_int_equal(encode16(f->type, 1e300), infinity);
        assert_int_equal(encode16(f->type, -INFINITY), infinity | 0x8000);
        assert_int_equal(encode16(f->type, 5e-324), 0);
        assert_int_equal(encode16(f->type, -5e-324), 0x8000);
    }
}

/* 1 + 2^-11 + 2^-30 lies above the middle of two f16 values; float32 would put it on the middle. */
static void rounding_happens_once(void **state)
{
    (void)state;
    assert_int_equal(encode16(GDNN_F16, 1 + 0x1p-11 + 0x1p-30), 0x3c01);
    assert_int_equal(encode16(GDNN_F16, 1 + 0x1p-11), 0x3c00);
    assert_int_equal(encode16(GDNN_BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
}

static void nan_stays_nan(void **state)
{
    uint64_t bits = UINT64_C(0xfff0000000000001); /* its payload does not fit into any type */
    double nan;

    (void)state;
    memcpy(&nan, &bits, sizeof nan);
    for (int type = GDNN_F16; type <= GDNN_F64; type++) {
        const double rounded = gdnn_round_to((gdnn_dtype)type, nan);
        assert_true(isnan(rounded));
        assert_true(signbit(rounded));
    }
}

/* The compiler's conversion is the oracle, over all exponents. */
static void float32_is_the_compilers(void **state)
{
    uint64_t random = test_seed();

    (void)state;
    for (int i = 0; i < 2000000; i++) {
        const int64_t exponent = test_pick(&random, -155, 130);
        const double value = ldexp((double)(int64_t)test_random(&random), (int)exponent - 63);
        /* Every other one is the middle of two floats. */
        const double middle = ((double)(float)value + (double)nextafterf((float)value, 0)) / 2;
        const double used = i % 2 ? middle : value;
        const float right = (float)used;
        float found;

        gdnn_encode(GDNN_F32, &used, &found, 1);
        assert_memory_equal(&found, &right, sizeof right);
        double back;
        gdnn_decode(GDNN_F32, &found, &back, 1);
        assert_true(back == (double)right);
    }
}

static void arrays_need_no_alignment(void **state)
{
    const double in[5] = {1, -2.5, 0x1p-14, 65504, -0.0};
    unsigned char bytes[1 + sizeof in];

    (void)state;
    for (int type = GDNN_F16; type <= GDNN_F64; type++) {
        double out[5];
        gdnn_encode((gdnn_dtype)type, in, bytes + 1, 5);
        gdnn_decode((gdnn_dtype)type, bytes + 1, out, 5);
        for (int i = 0; i < 5; i++) {
            assert_true(out[i] == gdnn_round_to((gdnn_dtype)type, in[i]));
            assert_true(!signbit(out[i]) == !signbit(in[i]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_comes_back),    cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(rounding_happens_once),    cmocka_unit_test(nan_stays_nan),
        cmocka_unit_test(float32_is_the_compilers), cmocka_unit_test(arrays_need_no_alignment),
    };
    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
