#include "cudnn_trial.h"
#include "fill.h"
#include "half.h"
#include "measure.h"
#include "problem.h"
#include "tolerance.h"
#include "unit.h"
#include <math.h>

enum { COUNT = 8 * 1024 };

static double ref[COUNT], got[COUNT], magnitude[COUNT];

/* A depthwise problem with COUNT outputs of 9 products each. */
static gdnn_conv problem(gdnn_dtype dtype)
{
    gdnn_conv conv;
    assert_int_equal(gdnn_conv_parse("n=2 c=4 in=34x34 k=4 filter=3x3 groups=4", &conv), GDNN_OK);
    conv.dtype = dtype;
    assert_int_equal(gdnn_elements(&conv, GDNN_ROLE_Y), COUNT);
    return conv;
}

/* Sums of 9 products of uniform numbers, as random data gives; `got` is `ref` rounded to the type.
 */
static gdnn_conv random_case(gdnn_dtype dtype)
{
    uint64_t random = 7;
    for (int i = 0; i < COUNT; i++) {
        ref[i] = magnitude[i] = 0;
        for (int k = 0; k < 9; k++) {
            double a = (double)test_pick(&random, -1000, 1000) / 1000;
            double b = (double)test_pick(&random, -1000, 1000) / 1000;
            ref[i] += a * b;
            magnitude[i] += fabs(a * b);
        }
        got[i] = gdnn_round_to(dtype, ref[i]);
    }
    return problem(dtype);
}

static measure compare(const gdnn_conv *conv)
{
    return measure_result(conv, got, ref, magnitude);
}

static void correct_rounding_passes(void **state)
{
    /* The errors that kernels.md measured for rounding alone: half of the tolerance, no less. */
    const struct {
        gdnn_dtype dtype;
        double low, high;
    } cases[] = {{GDNN_F16, 1.8e-4, 2.4e-4},
                 {GDNN_BF16, 1.4e-3, 1.9e-3},
                 {GDNN_F32, 1e-8, 4e-8},
                 {GDNN_F64, 0, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = random_case(cases[i].dtype);
        measure m = compare(&conv);
        assert_true(m.pass);
        assert_true(m.err_l2 >= cases[i].low && m.err_l2 <= cases[i].high);
        assert_true(m.worst <= 1);
    }
}

static void tolerances_are_those_of_the_table(void **state)
{
    const struct {
        gdnn_dtype dtype;
        gdnn_dir dir;
        gdnn_math math;
        double tol;
    } cases[] = {
        {GDNN_F32, GDNN_FWD, GDNN_MATH_F32, 2e-6},
        {GDNN_F32, GDNN_FWD, GDNN_MATH_TF32, 5e-4},
        {GDNN_F16, GDNN_FWD, GDNN_MATH_F32, 4.02e-4},
        {GDNN_BF16, GDNN_FWD, GDNN_MATH_F32, 3.002e-3},
        {GDNN_F64, GDNN_FWD, GDNN_MATH_F32, 8e-6 * 0x1p-29},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = random_case(cases[i].dtype);
        conv.math = cases[i].math;
        double tol = compare(&conv).tol;
        assert_true(fabs(tol - cases[i].tol) < 1e-3 * cases[i].tol);
    }
    /* Backward-filter has 3 x 3 x 4 results of 2 x 32 x 32 products; backward-data needs K > 4096
     * for its larger tolerance. */
    gdnn_conv conv = random_case(GDNN_F32);
    conv.dir = GDNN_BWD_FILTER;
    assert_true(gdnn_products(&conv) == 2 * 32 * 32);
    assert_true(fabs(compare(&conv).tol - 5e-6) < 1e-9);
    assert_int_equal(gdnn_conv_parse("dir=bwd_data n=1 c=2 in=8 k=8194 filter=1 groups=2", &conv),
                     GDNN_OK);
    assert_true(gdnn_products(&conv) == 4097);
    assert_true(fabs(compare(&conv).tol - 4e-6) < 1e-9);
}

static void lost_accuracy_fails(void **state)
{
    /* f16: sums in f16 instead of f32 (1e-3); f32: TF32 products (2.9e-4); f64: sums in f32 (6e-8).
     */
    const struct {
        gdnn_dtype dtype;
        double error;
    } cases[] = {{GDNN_F16, 1e-3}, {GDNN_BF16, 3.7e-3}, {GDNN_F32, 2.9e-4}, {GDNN_F64, 6e-8}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = random_case(cases[i].dtype);
        for (int at = 0; at < COUNT; at++)
            got[at] = ref[at] * (1 + (at % 2 ? 1 : -1) * cases[i].error);
        assert_false(compare(&conv).pass);
    }
    /* What f32 does not permit, math=tf32 does. */
    gdnn_conv conv = random_case(GDNN_F32);
    for (int at = 0; at < COUNT; at++)
        got[at] = ref[at] * (1 + 2.9e-4);
    assert_false(compare(&conv).pass);
    conv.math = GDNN_MATH_TF32;
    assert_true(compare(&conv).pass);
    got[77] = ref[77] + 0x1p-8 * magnitude[77];
    assert_false(compare(&conv).pass);
}

static void one_wrong_element_among_many_fails(void **state)
{
    (void)state;
    gdnn_conv conv = random_case(GDNN_F32);
    got[4321] +=
        1e-4; /* 1e-4 / (1 * sqrt(8192)) = 1.1e-6 of the norm: the L2 error does not see it */
    measure m = compare(&conv);
    assert_true(m.err_l2 <= m.tol);
    assert_false(m.pass);
    assert_int_equal(m.worst_at, 4321);
}

static void every_element_off_by_nearly_its_bound_fails(void **state)
{
    (void)state;
    gdnn_conv conv = random_case(GDNN_F32);
    for (int i = 0; i < COUNT; i++)
        got[i] = ref[i] + 0.9 * 8 * 3 * 0x1p-24 * magnitude[i];
    measure m = compare(&conv);
    assert_true(m.worst <= 1);
    assert_false(m.pass);
}

static void values_that_are_not_finite_must_agree(void **state)
{
    const struct {
        double got, ref;
        bool pass;
    } cases[] = {
        {NAN, NAN, true},
        {-NAN, NAN, true},
        {INFINITY, INFINITY, true},
        {NAN, 1, false},
        {1, NAN, false},
        {INFINITY, NAN, false},
        {NAN, INFINITY, false},
        {-INFINITY, INFINITY, false},
        {INFINITY, 1, false},
        {1, -INFINITY, false},
        {INFINITY, 1e6, true}, /* beyond the range of f16 */
        {65504, 1e6, false},
        {-INFINITY, 1e6, false},
        {INFINITY, 65519.999, true}, /* rounds to 65504, but a sum as close as that may round up */
        {65504, 65520.001, true},
        {INFINITY, 65000, false},
    };
    const int places[] = {0, 77, COUNT - 1};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t p = 0; p < COUNT_OF(places); p++) {
            gdnn_conv conv = random_case(GDNN_F16);
            got[places[p]] = cases[i].got;
            ref[places[p]] = cases[i].ref;
            magnitude[places[p]] = fabs(cases[i].ref);
            measure m = compare(&conv);
            if (m.pass != cases[i].pass)
                fail_msg("got %g, ref %g at %d: pass is %d", cases[i].got, cases[i].ref, places[p],
                         m.pass);
            if (!m.pass) {
                assert_true(isinf(m.err_l2) && isinf(m.worst));
                assert_int_equal(m.worst_at, places[p]);
            }
        }
}

/* relu makes 0 of minus infinity: a finite result of infinite terms. */
static void infinite_terms_excuse_nothing(void **state)
{
    (void)state;
    gdnn_conv conv = random_case(GDNN_F32);
    magnitude[5] = INFINITY;
    ref[5] = got[5] = 0;
    measure m = compare(&conv);
    assert_true(m.pass && m.tol < 3e-6);
    got[5] = 1e-5;
    assert_false(compare(&conv).pass);
    got[5] = 0;
    for (int i = 6; i < COUNT; i++)
        got[i] *= 1 + 1e-5;
    assert_false(compare(&conv).pass);
}

static void cancellation_is_judged_by_the_terms(void **state)
{
    (void)state;
    gdnn_conv conv = random_case(GDNN_F32);
    for (int i = 0; i < COUNT; i++) {
        magnitude[i] = 2000; /* terms of this size left a result of about 1e-3 */
        ref[i] *= 1e-3;
        got[i] = ref[i] + (i % 2 ? 1 : -1) * 2000 * 0x1p-24;
    }
    measure m = compare(&conv);
    assert_true(m.err_l2 > 1e-2);
    assert_true(m.pass);
    for (int i = 0; i < COUNT; i++)
        magnitude[i] = 1e-3;
    assert_false(compare(&conv).pass);
}

static void nothing_but_zeros(void **state)
{
    (void)state;
    gdnn_conv conv = problem(GDNN_F16);
    memset(ref, 0, sizeof ref);
    memset(got, 0, sizeof got);
    memset(magnitude, 0, sizeof magnitude);
    assert_true(compare(&conv).pass);
    got[5] = 1e-7; /* one subnormal of f16 */
    assert_false(compare(&conv).pass);
    /* Terms that cancel to nothing may leave their rounding errors. */
    conv = problem(GDNN_F32);
    for (int i = 0; i < COUNT; i++) {
        magnitude[i] = 2;
        got[i] = 0x1p-24;
    }
    assert_true(compare(&conv).pass);
    got[5] = 1e-3;
    assert_false(compare(&conv).pass);
}

static void constant_data_may_lie_at_the_worst_place_of_rounding(void **state)
{
    (void)state;
    gdnn_conv conv = problem(GDNN_BF16);
    for (int i = 0; i < COUNT; i++) {
        ref[i] = magnitude[i] = 257; /* lies in the middle of 256 and 258 */
        got[i] = 256;
    }
    assert_true(compare(&conv).pass);
    got[9] = 254;
    assert_false(compare(&conv).pass);
}

/* Sums in the range of subnormals are off by a few of the smallest numbers, in every type. */
static void subnormal_sums_have_absolute_errors(void **state)
{
    (void)state;
    static const double smallest[] = {[GDNN_F32] = 0x1p-149, [GDNN_F64] = 0x1p-1074};
    for (int dtype = GDNN_F32; dtype <= GDNN_F64; dtype++) {
        gdnn_conv conv;
        char text[128];
        snprintf(text, sizeof text, "dir=fwd dtype=%s n=1 c=4 in=64 k=4 filter=9 pad=4 groups=4",
                 dtype == GDNN_F32 ? "f32" : "f64");
        assert_int_equal(gdnn_conv_parse(text, &conv), GDNN_OK);
        double got[256], ref[256], magnitude[256], e = smallest[dtype];
        for (int i = 0; i < 256; i++) {
            ref[i] = magnitude[i] = 100 * e;
            got[i] = ref[i] + (i % 5 - 2) * e;
        }
        assert_true(measure_result(&conv, got, ref, magnitude).pass);
        for (int i = 0; i < 256; i++)
            got[i] = ref[i] + 60 * e; /* 8 sqrt(9) of them are allowed */
        assert_false(measure_result(&conv, got, ref, magnitude).pass);
    }
}

static void subnormal_results_have_absolute_errors(void **state)
{
    (void)state;
    gdnn_conv conv = random_case(GDNN_F16);
    for (int i = 0; i < COUNT; i++) {
        ref[i] *= 1e-6;
        magnitude[i] *= 1e-6;
        got[i] = gdnn_round_to(GDNN_F16, ref[i]);
    }
    measure m = compare(&conv);
    assert_true(m.err_l2 > 4e-4);
    assert_true(m.pass);
    got[9] += 0x1p-23; /* two subnormals off */
    assert_false(compare(&conv).pass);
}

static void relative_errors(void **state)
{
    const double a[] = {3, 4, INFINITY, NAN}, b[] = {3, 0, INFINITY, NAN}, zero[] = {0, 0};
    (void)state;
    assert_true(relative_l2(a, a, 4) == 0);
    assert_true(relative_l2(zero, zero, 2) == 0);
    assert_true(fabs(relative_l2(a, b, 2) - 4.0 / 3) < 1e-15);
    assert_true(fabs(relative_l2(b, a, 2) - 0.8) < 1e-15);
    assert_true(fabs(relative_l2(a, b, 4) - 4.0 / 3) < 1e-15); /* the same infinity and NaN */
    assert_true(isinf(relative_l2(a, zero, 2)));
    assert_true(isinf(relative_l2(a + 2, a, 1)) && isinf(relative_l2(a, a + 3, 1)));
    assert_true(isinf(relative_l2((const double[]){-INFINITY}, a + 2, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_rounding_passes),
        cmocka_unit_test(tolerances_are_those_of_the_table),
        cmocka_unit_test(lost_accuracy_fails),
        cmocka_unit_test(one_wrong_element_among_many_fails),
        cmocka_unit_test(every_element_off_by_nearly_its_bound_fails),
        cmocka_unit_test(values_that_are_not_finite_must_agree),
        cmocka_unit_test(infinite_terms_excuse_nothing),
        cmocka_unit_test(cancellation_is_judged_by_the_terms),
        cmocka_unit_test(nothing_but_zeros),
        cmocka_unit_test(constant_data_may_lie_at_the_worst_place_of_rounding),
        cmocka_unit_test(subnormal_sums_have_absolute_errors),
        cmocka_unit_test(subnormal_results_have_absolute_errors),
        cmocka_unit_test(relative_errors),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
