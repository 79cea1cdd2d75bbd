/* difference: results that are all right are called so, whatever library made them; wrong ones are
 * not. All on host memory. */
#include "difference.h"
#include "half.h"
#include "problem.h"
#include "results.h"
#include "unit.h"
#include <math.h>

static int copies, copies_left = -1;

static bool copy(void *context, const void *device, size_t bytes, void *host)
{
    (void)context;
    if (copies_left >= 0 && copies_left-- == 0)
        return false;
    copies++;
    memcpy(host, device, bytes);
    return true;
}

static const gdnn_fetch fetch = {copy, NULL};

static void *image_of(const results *r, tensor_name name, const double *values)
{
    const size_t bytes = tensor_bytes(&r->shape[name]);
    void *image = malloc(bytes);
    memset(image, 0xff, bytes); /* gaps are NaN */
    tensor_scatter(&r->shape[name], values, image);
    return image;
}

/* Compares two results, given in logical order, made by algorithm `algo`. */
static bool measure(const results *r, int algo, const double *ours, const double *cudnn,
                    gdnn_difference *d)
{
    void *images[TENSORS], *a = image_of(r, r->written, ours), *b = image_of(r, r->written, cudnn);
    for (int i = 0; i < TENSORS; i++)
        images[i] = image_of(r, (tensor_name)i, r->values[i]);
    const gdnn_tensors tensors = {images[TENSOR_X], images[TENSOR_W], images[TENSOR_Y],
                                  images[TENSOR_Z], images[TENSOR_BIAS]};
    gdnn_magnitude magnitude;
    bool fine = gdnn_magnitude_open(&magnitude, &r->conv, &tensors, &fetch) &&
                gdnn_difference_measure(d, &magnitude, algo, a, b, &fetch);
    gdnn_magnitude_close(&magnitude);
    for (int i = 0; i < TENSORS; i++)
        free(images[i]);
    free(a);
    free(b);
    return fine;
}

static double share(const results *r, int algo, const double *ours, const double *cudnn)
{
    gdnn_difference d;
    assert_true(measure(r, algo, ours, cudnn, &d));
    assert_true(d.share >= d.element && d.element >= 0);
    return d.share;
}

/* Two ways of computing; what they are apart, in units of what they may be. */
static double share_of(const results *r, arithmetic ours, arithmetic cudnn, int steps)
{
    double *a = results_compute(r, ours, 0), *b = results_compute(r, cudnn, steps);
    const double found = share(r, -1, a, b);
    free(a);
    free(b);
    return found;
}

#define SHAPE  "n=2 c=6 k=4 groups=2 in=9x8 filter=3x3 pad=1 "
#define LAYOUT "layout=nhwc "
#define GAPS   "xstrides=800x110x12x1 wstrides=40x12x4x1 ystrides=800x150x11x1 "

static const char *const dirs[] = {"dir=fwd ", "dir=bwd_data ", "dir=bwd_filter "};
static const char *const dtypes[] = {"dtype=f16 ", "dtype=bf16 ", "dtype=f32 ", "dtype=f64 "};
static const char *const variants[] = {
    SHAPE LAYOUT,
    SHAPE GAPS,
    SHAPE LAYOUT "alpha=0.5 beta=-3 ",
    "n=1 c=2 k=2 groups=2 in=40x40 filter=1x1 layout=nchw ",
    "n=1 c=4 k=4 groups=4 in=12x12 filter=3x3 layout=nchw ",
    "n=1 c=128 k=2 groups=2 in=3x3 filter=3x3 layout=nchw stride=2 dilation=1 pad=2 ",
};
static const char *const epilogues[] = {
    SHAPE LAYOUT "dir=fwd bias=1 ",
    SHAPE LAYOUT "dir=fwd z=1 alpha2=2 ",
    SHAPE GAPS "zstrides=600x1x60x6 dir=fwd z=1 bias=1 beta=1 act=relu ",
};

static results state_of(const char *a, const char *b, const char *c)
{
    char text[400];
    snprintf(text, sizeof text, "%s%s%s", a, b, c);
    return results_of(text);
}

/* Calls `check` with every problem of the tables. */
static void each_problem(const char *more, void (*check)(const results *r))
{
    for (size_t t = 0; t < COUNT_OF(dtypes); t++) {
        for (size_t v = 0; v < COUNT_OF(variants); v++)
            for (size_t d = 0; d < COUNT_OF(dirs); d++) {
                char text[400];
                snprintf(text, sizeof text, "%s%s%s", variants[v], dirs[d], more);
                results r = state_of(text, dtypes[t], "");
                check(&r);
                results_free(&r);
            }
        for (size_t e = 0; e < COUNT_OF(epilogues); e++) {
            results r = state_of(epilogues[e], dtypes[t], more);
            check(&r);
            results_free(&r);
        }
    }
}

static bool is_half(const results *r)
{
    return r->conv.dtype == GDNN_F16 || r->conv.dtype == GDNN_BF16;
}

static void check_agreement(const results *r)
{
    const bool f64 = r->conv.dtype == GDNN_F64;
    assert_true(share_of(r, EXACT, EXACT, 0) == 0 || f64);
    assert_true(share_of(r, EXACT, EXACT, 1) <= 1);
    if (f64)
        return;
    assert_true(share_of(r, CHAIN, BACKWARDS, 0) <= 1);
    assert_true(share_of(r, BACKWARDS, CHAIN, 1) <= 1);
    if (is_half(r))
        assert_true(share_of(r, CHAIN, CUT, 1) <= 1);
}

static void test_right_results_agree(void **state)
{
    (void)state;
    each_problem("", check_agreement);
}

/* Data on which rounding errors are large beside what is left: signs that cancel, and sums that
 * only grow. */
static void cancel(results *r)
{
    for (int i = 0; i < TENSORS; i++) {
        const int64_t count = tensor_elements(&r->shape[i]);
        for (int64_t j = 0; j < count; j++)
            r->values[i][j] =
                gdnn_round_to(r->conv.dtype,
                              i == TENSOR_W ? (j % 9 == 4 ? 8 : -1) : 200 + 0.01 * (double)(j % 7));
    }
}

static void grow(results *r)
{
    for (int i = 0; i < TENSORS; i++)
        for (int64_t j = 0; j < tensor_elements(&r->shape[i]); j++)
            r->values[i][j] = fabs(r->values[i][j]);
}

static void check_hard_data(const results *r)
{
    results changed = *r;
    cancel(&changed);
    check_agreement(&changed);
}

static void check_growing_data(const results *r)
{
    results changed = *r;
    grow(&changed);
    check_agreement(&changed);
}

static void test_right_results_agree_on_hard_data(void **state)
{
    (void)state;
    each_problem("", check_hard_data);
    each_problem("", check_growing_data);
}

static void test_long_sums(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "dir=fwd n=1 c=2048 k=1 in=3x3 filter=3x3 ",
        "dir=bwd_data n=1 c=1 k=2048 in=3x3 filter=3x3 pad=1 ",
        "dir=bwd_filter n=4 c=1 k=1 in=150x150 filter=1x1 ",
    };
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (size_t t = 0; t < 3; t++) {
            results r = state_of(shapes[i], dtypes[t], "layout=nchw");
            check_agreement(&r);
            check_growing_data(&r);
            results_free(&r);
        }
}

static void check_tf32(const results *r)
{
    if (r->conv.dtype == GDNN_F32) {
        assert_true(share_of(r, CHAIN, TF32, 0) <= 1);
        assert_true(share_of(r, TF32, CHAIN, 0) <= 1);
    }
}

static void check_not_tf32(const results *r)
{
    if (r->conv.dtype == GDNN_F32)
        assert_true(share_of(r, TF32, CHAIN, 0) > 1);
}

static void test_tf32(void **state)
{
    (void)state;
    each_problem("math=tf32 ", check_tf32);
    each_problem("math=f32 ", check_not_tf32);
}

/* cuDNN's sums may be in f16 where the program asks for it; ours never are. */
static void test_half_sums(void **state)
{
    (void)state;
    for (size_t d = 0; d < COUNT_OF(dirs); d++) {
        results r =
            state_of("n=2 c=64 k=64 in=8x8 filter=3x3 dtype=f16 layout=nchw acc=f16 ", dirs[d], "");
        assert_int_equal(r.conv.acc, GDNN_F16);
        assert_true(share_of(&r, CHAIN, HALF, 0) <= 1);
        r.conv.acc = GDNN_F32;
        assert_true(share_of(&r, CHAIN, HALF, 0) > 1);
        assert_true(share_of(&r, HALF, CHAIN, 0) > 1);
        results_free(&r);
    }
}

/* One element, wrong by `part` of the root mean square of the result. */
static double share_of_wrong_element(const results *r, int algo, double part)
{
    const bool f64 = r->conv.dtype == GDNN_F64;
    double *a = results_compute(r, f64 ? EXACT : CHAIN, 0), square = 0;
    double *b = results_compute(r, f64 ? EXACT : BACKWARDS, 0);
    for (int64_t i = 0; i < r->count; i++)
        square += a[i] * a[i] / (double)r->count;
    const int64_t at = r->count * 2 / 3;
    a[at] = gdnn_round_to(r->conv.dtype, a[at] + part * sqrt(square));
    gdnn_difference d;
    assert_true(measure(r, algo, a, b, &d));
    if (d.element > 1) {
        assert_true(d.ours == a[at] || (isnan(d.ours) && isnan(a[at])));
        assert_true(d.cudnn == b[at]);
    }
    free(a);
    free(b);
    return d.share;
}

static void check_one_wrong_element(const results *r)
{
    const double visible[] = {
        [GDNN_F16] = 0.05, [GDNN_BF16] = 0.3, [GDNN_F32] = 0.001, [GDNN_F64] = 1e-5};
    assert_true(share_of_wrong_element(r, 1, 0) <= 1);
    assert_true(share_of_wrong_element(r, 1, visible[r->conv.dtype]) > 1);
    assert_true(share_of_wrong_element(r, 1, -10) > 1);
    assert_true(share_of_wrong_element(r, 1, INFINITY) > 1);
    assert_true(share_of_wrong_element(r, 1, NAN) > 1);
    assert_true(share_of_wrong_element(r, 5, 30) >
                1); /* FFT or Winograd: not everything is allowed */
}

static void test_one_wrong_element(void **state)
{
    (void)state;
    each_problem("", check_one_wrong_element);
}

static void check_gross_errors(const results *r)
{
    double *a = results_compute(r, EXACT, 0), *b = results_compute(r, EXACT, 0);
    memset(b, 0, (size_t)r->count * sizeof *b);
    assert_true(share(r, -1, a, b) > 1);
    assert_true(share(r, -1, b, a) > 1);
    assert_true(share(r, -1, b, b) == 0);
    /* neighbours change places */
    for (int64_t i = 0; i < r->count; i++)
        b[i] = a[(i ^ 1) < r->count ? i ^ 1 : i];
    assert_true(share(r, -1, a, b) > 1);
    /* everything is too large by a little that no element alone shows */
    const double little[] = {
        [GDNN_F16] = 1.01, [GDNN_BF16] = 1.06, [GDNN_F32] = 1.001, [GDNN_F64] = 1 + 1e-9};
    for (int64_t i = 0; i < r->count; i++)
        b[i] = gdnn_round_to(r->conv.dtype, a[i] * little[r->conv.dtype]);
    assert_true(share(r, -1, a, b) > 1);
    free(a);
    free(b);
}

static void test_gross_errors(void **state)
{
    (void)state;
    each_problem("", check_gross_errors);
}

/* What may and what may not differ where values are not finite. */
static void test_values_that_are_not_finite(void **state)
{
    (void)state;
    results r = state_of(SHAPE LAYOUT, "dir=fwd act=relu dtype=f16", "");
    double *a = results_compute(&r, EXACT, 0), *b = results_compute(&r, EXACT, 0);
    int64_t positive = 0;
    while (!(a[positive] > 0))
        positive++;
#define CASE(ours, theirs) (a[positive] = (ours), b[positive] = (theirs), share(&r, -1, a, b))
    assert_true(CASE(NAN, NAN) == 0);
    assert_true(CASE(INFINITY, INFINITY) == 0);
    assert_true(CASE(INFINITY, -INFINITY) == INFINITY);
    assert_true(CASE(NAN, INFINITY) == INFINITY);
    assert_true(CASE(1, NAN) == INFINITY);
    assert_true(CASE(NAN, 1) == INFINITY);
    assert_true(CASE(NAN, 0) == 0); /* relu */
    assert_true(CASE(0, NAN) == INFINITY);
    assert_true(CASE(INFINITY, 65504) == 0); /* the edge of the type */
    assert_true(CASE(65504, INFINITY) == 0);
    assert_true(CASE(65504, -INFINITY) == INFINITY);
    assert_true(CASE(65000, INFINITY) == INFINITY);
    r.conv.act = GDNN_ACT_NONE;
    assert_true(CASE(NAN, 0) == INFINITY);

    r.values[TENSOR_W][3] = INFINITY; /* cuDNN may multiply it by padding */
    assert_true(CASE(1, NAN) == 0);
    assert_true(CASE(INFINITY, NAN) == 0);
    assert_true(CASE(NAN, 1) == INFINITY);
    assert_true(CASE(1, INFINITY) == INFINITY);
    r.values[TENSOR_W][3] = 1;

    r.conv.dtype = GDNN_F32; /* in some order it overflows */
    for (int i = 0; i < TENSORS; i++)
        r.shape[i].dtype = GDNN_F32;
    assert_true(CASE(1, INFINITY) == INFINITY);
    r.values[TENSOR_X][0] = r.values[TENSOR_X][1] = 3e38;
    assert_true(CASE(1, INFINITY) == 0);
    assert_true(CASE(NAN, 1) == 0);
#undef CASE
    free(a);
    free(b);
    results_free(&r);
}

/* The larger the prior contents, the larger the rounding errors; and so with z and bias. */
static void test_large_epilogues(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tensor_name name;
    } cases[] = {{"beta=-1 ", TENSOR_Y}, {"z=1 alpha2=-1 ", TENSOR_Z}, {"bias=1 ", TENSOR_BIAS}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        results r = state_of(SHAPE LAYOUT "dir=fwd dtype=f32 ", cases[i].text, "");
        double *a = results_compute(&r, EXACT, 0), *b = results_compute(&r, EXACT, 0);
        for (int64_t j = 0; j < r.count; j++)
            b[j] = a[j] + 1e-2; /* a few roundings of 1e4 */
        assert_true(share(&r, -1, a, b) > 1);
        for (int64_t j = 0; j < tensor_elements(&r.shape[cases[i].name]); j++)
            r.values[cases[i].name][j] *= 1e4;
        assert_true(share(&r, -1, a, b) <= 1);
        free(a);
        free(b);
        results_free(&r);
    }
}

/* Results that are larger than a window, with gaps, and inputs that lie over each other. */
static void test_windows(void **state)
{
    (void)state;
    results r = results_of("dir=fwd dtype=f64 n=3 c=2 k=2 groups=2 in=600x350 filter=1x1 "
                           "xstrides=0x3x7x1 wstrides=5x1x1x1 ystrides=840000x1x1400x4");
    double *a = results_compute(&r, EXACT, 0), *b = results_compute(&r, EXACT, 0);
    assert_true(tensor_bytes(&r.shape[TENSOR_Y]) > 2 * (size_t)GDNN_WINDOW_BYTES);
    copies = 0;
    assert_true(share(&r, -1, a, b) == 0);
    assert_int_equal(copies, 2 * 3 + 2);
    for (int64_t at = 0; at < r.count; at += r.count / 4 - 1) {
        gdnn_difference d;
        b[at] += 1;
        assert_true(measure(&r, -1, a, b, &d));
        assert_true(d.share > 1);
        assert_int_equal(((d.at[0] * 2 + d.at[1]) * 600 + d.at[2]) * 350 + d.at[3], at);
        b[at] -= 1;
    }
    free(a);
    free(b);
    results_free(&r);
}

/* Each fetch in turn is refused. */
static void test_refused_fetches(void **state)
{
    (void)state;
    results r = results_of(SHAPE LAYOUT "dir=fwd z=1 bias=1 beta=1");
    double *a = results_compute(&r, EXACT, 0);
    gdnn_difference d;
    int refused = 0;
    for (bool fine = false; !fine; refused++) {
        copies_left = refused;
        fine = measure(&r, -1, a, a, &d);
    }
    copies_left = -1;
    assert_int_equal(refused, 7 + 1); /* x w y z bias, ours and cuDNN's */
    free(a);
    results_free(&r);
}

static void test_root(void **state)
{
    (void)state;
    for (double x = 1e-300; x < 1e300; x *= 3.7)
        assert_true(fabsl(gdnn_root((long double)x * x) / x - 1) < 1e-18L);
    assert_true(gdnn_root(0) == 0);
    assert_true(gdnn_root(INFINITY) == INFINITY);
    assert_true(gdnn_root(9) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_results_agree),
        cmocka_unit_test(test_right_results_agree_on_hard_data),
        cmocka_unit_test(test_long_sums),
        cmocka_unit_test(test_tf32),
        cmocka_unit_test(test_half_sums),
        cmocka_unit_test(test_one_wrong_element),
        cmocka_unit_test(test_gross_errors),
        cmocka_unit_test(test_values_that_are_not_finite),
        cmocka_unit_test(test_large_epilogues),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_refused_fetches),
        cmocka_unit_test(test_root),
    };
    return cmocka_run_group_tests_name("difference", tests, NULL, NULL);
}
