// The emulator's 16-bit types against the definition of rounding, written with ldexp and nearbyint.
#include "emulator.hpp"
#include "probe.hpp"

#include <cmath>

struct Format {
    int fraction_bits, min_exponent, max_exponent;
};
static const Format half_format = {10, -14, 15}, bfloat16_format = {7, -126, 127};

static double value_of(uint16_t code, Format f)
{
    const int fraction = code & ((1 << f.fraction_bits) - 1);
    const int exponent = (code & 0x7fff) >> f.fraction_bits;
    const double sign = code >> 15 ? -1 : 1;
    if (exponent == f.max_exponent - f.min_exponent + 2)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * std::ldexp(fraction, f.min_exponent - f.fraction_bits);
    return sign * std::ldexp(fraction + (1 << f.fraction_bits),
                             exponent - 1 + f.min_exponent - f.fraction_bits);
}

// Nearest value of the format, ties to even, overflow to infinity.
static double rounded(double value, Format f)
{
    if (value == 0 || std::isnan(value) || std::isinf(value))
        return value;
    int exponent;
    std::frexp(value, &exponent);
    exponent = std::max(exponent - 1, f.min_exponent);
    const double result = std::ldexp(std::nearbyint(std::ldexp(value, f.fraction_bits - exponent)),
                                     exponent - f.fraction_bits);
    const double limit = std::ldexp(2 - std::ldexp(1, -f.fraction_bits), f.max_exponent);
    return std::fabs(result) > limit ? std::copysign(INFINITY, value) : result;
}

static bool same(double a, double b)
{
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

static void test_to_float(void **)
{
    for (unsigned code = 0; code <= 0xffff; code++) {
        assert_true(
            same(emu::half_to_float((uint16_t)code), value_of((uint16_t)code, half_format)));
        assert_true(same(emu::bfloat16_to_float((uint16_t)code),
                         value_of((uint16_t)code, bfloat16_format)));
    }
}

static void check_float(float value)
{
    const uint16_t half = emu::float_to_half(value), bfloat16 = emu::float_to_bfloat16(value);
    if (!same(value_of(half, half_format), rounded(value, half_format)))
        fail_msg("%a becomes half %04x", (double)value, half);
    if (!same(value_of(bfloat16, bfloat16_format), rounded(value, bfloat16_format)))
        fail_msg("%a becomes bfloat16 %04x", (double)value, bfloat16);
}

// Every boundary between neighbours, and the floats on both sides of it: conversions are monotonic.
static void test_from_float_at_boundaries(void **)
{
    const Format formats[] = {half_format, bfloat16_format};
    for (const Format &f : formats)
        for (unsigned code = 0; code < 0x7fff; code++) {
            const double low = value_of((uint16_t)code, f),
                         high = value_of((uint16_t)(code + 1), f);
            if (std::isnan(high) || std::isinf(low))
                break;
            const double next = std::isinf(high) ? std::ldexp(1, f.max_exponent + 1) : high;
            const float middle = (float)((low + next) / 2);
            for (float v : {(float)low, middle, std::nextafter(middle, -INFINITY),
                            std::nextafter(middle, INFINITY)}) {
                check_float(v);
                check_float(-v);
            }
        }
}

// And a dense sample of all floats.
static void test_from_float(void **)
{
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 509)
        check_float(emu::bit_cast<float>((uint32_t)bits));
    assert_int_equal(emu::float_to_half(NAN), 0x7fff);
    assert_int_equal(emu::float_to_half(-NAN), 0x7fff);
    assert_int_equal(emu::float_to_bfloat16(-NAN), 0x7fff);
}

// A double just beside a boundary: rounding to float first would land on it.
static void test_from_double(void **)
{
    for (unsigned code = 1; code < 0x7bff; code++) {
        const double low = value_of((uint16_t)code, half_format);
        const double high = value_of((uint16_t)(code + 1), half_format), middle = (low + high) / 2;
        assert_int_equal(__double2half(std::nextafter(middle, 0)).x, code);
        assert_int_equal(__double2half(std::nextafter(middle, INFINITY)).x, code + 1);
        assert_int_equal(__double2half(middle).x, code + code % 2);
    }
    for (unsigned code = 1; code < 0x7f7f; code++) {
        const double low = value_of((uint16_t)code, bfloat16_format);
        const double high = value_of((uint16_t)(code + 1), bfloat16_format);
        assert_int_equal(__double2bfloat16(std::nextafter((low + high) / 2, 0)).x, code);
        assert_int_equal(__double2bfloat16(std::nextafter((low + high) / 2, 1e300)).x, code + 1);
    }
}

static uint64_t random_state = 1;
static uint16_t random_code()
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint16_t)(random_state >> 40);
}

// One rounding of the exact result: in 113 bits a half's a * b + c is exact.
static void test_arithmetic(void **)
{
    __extension__ typedef __float128 exact;
    for (int i = 0; i < 1000000; i++) {
        const __half a = __ushort_as_half(random_code()), b = __ushort_as_half(random_code());
        const __half c = __ushort_as_half(random_code());
        const double x = value_of(a.x, half_format), y = value_of(b.x, half_format);
        const double z = value_of(c.x, half_format);
        assert_true(same((float)(a + b), rounded(x + y, half_format)));
        assert_true(same((float)(a * b), rounded(x * y, half_format)));
        if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
            continue;
        // Compared as distances, so that the sum is never rounded to double.
        const exact sum = (exact)x * y + z;
        const double near = rounded((double)sum, half_format);
        const double got = (float)__hfma(a, b, c);
        if (std::isinf(near) || std::isinf(got)) {
            assert_true(same(near, got));
            continue;
        }
        const exact got_error = got < sum ? sum - got : got - sum;
        const exact near_error = near < sum ? sum - near : near - sum;
        assert_true(got_error <= near_error);
        if (got_error == near_error && got != near)
            assert_int_equal(__hfma(a, b, c).x % 2, 0);
    }
}

static void test_tf32(void **)
{
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 8191) {
        const float value = emu::bit_cast<float>((uint32_t)bits);
        const double got = emu::bit_cast<float>(gpu_tf32(value));
        int exponent;
        std::frexp(value, &exponent);
        exponent = std::max(exponent - 1, -126);
        // std::round takes ties away from zero.
        const double want =
            std::isfinite(value)
                ? std::ldexp(std::round(std::ldexp(value, 10 - exponent)), exponent - 10)
                : (double)value;
        const bool overflows = std::isfinite(value) && std::fabs(want) > 0x1.ffcp127;
        assert_true(overflows ? std::isinf(got) : same(got, want));
    }
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_to_float),   cmocka_unit_test(test_from_float_at_boundaries),
        cmocka_unit_test(test_from_float), cmocka_unit_test(test_from_double),
        cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_tf32),
    };
    return cmocka_run_group_tests_name("half", tests, nullptr, nullptr);
}
