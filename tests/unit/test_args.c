/* args: division by launch constants, and what a kernel is told about its problem, up to sizes
 * that no machine holds. */
#include "args.h"
#include "decide.h"
#include "problem.h"
#include "unit.h"

/* What divide in kernels/conv.h computes. */
static int64_t divide(int64_t n, const gdnn_divisor *d)
{
    uint64_t u = (uint64_t)n;
    uint64_t high = (uint64_t)((unsigned __int128)u * d->magic >> 64);
    return (int64_t)((high + u) >> d->shift);
}

static void check_division(int64_t n, int64_t by)
{
    gdnn_divisor d = gdnn_divide_by(by);
    if (divide(n, &d) != n / by)
        fail_msg("%lld / %lld is %lld and came out as %lld", (long long)n, (long long)by,
                 (long long)(n / by), (long long)divide(n, &d));
}

/* All numerators at which the quotient by `by` is likely to be one off. */
static void check_around(int64_t by)
{
    const int64_t most = INT64_MAX,
                  quotients[] = {0, 1, 2, 3, most / by / 2, most / by - 1, most / by};
    for (size_t i = 0; i < COUNT_OF(quotients); i++)
        for (int64_t off = -2; off <= 2; off++) {
            __int128 n = (__int128)quotients[i] * by + off;
            if (n >= 0 && n <= most)
                check_division((int64_t)n, by);
        }
    for (int bit = 0; bit < 63; bit++)
        for (int64_t off = -1; off <= 1; off++)
            check_division((int64_t)((uint64_t)1 << bit) + off, by);
    check_division(most, by);
    check_division(most - 1, by);
}

static void division_by_small_numbers(void **state)
{
    (void)state;
    for (int64_t by = 1; by <= 2000; by++)
        check_around(by);
}

static void division_around_powers_of_two(void **state)
{
    (void)state;
    for (int bit = 1; bit < 63; bit++)
        for (int64_t off = -3; off <= 3; off++) {
            int64_t by = (int64_t)((uint64_t)1 << bit) + off;
            if (by >= 1)
                check_around(by);
        }
    check_around(INT64_MAX);
    check_around(INT64_MAX - 1);
    check_around(INT64_MAX / 2 + 1);
    check_around(INT64_MAX / 3);
}

static void division_at_random(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int i = 0; i < 200000; i++) {
        int64_t by = (int64_t)(test_random(&seed) >> test_pick(&seed, 1, 63));
        int64_t n = (int64_t)(test_random(&seed) >> test_pick(&seed, 1, 63));
        check_division(n, by ? by : 1);
    }
}

static void a_divisor_keeps_its_value(void **state)
{
    (void)state;
    assert_int_equal(gdnn_divide_by(12).value, 12);
    assert_int_equal(gdnn_divide_by(INT64_MAX).value, INT64_MAX);
}

static gdnn_conv problem(const char *text)
{
    gdnn_conv conv;
    if (gdnn_conv_parse(text, &conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

static void missing_axes_have_size_one(void **state)
{
    (void)state;
    gdnn_conv conv =
        problem("dir=fwd dtype=f32 n=2 c=4 in=9 k=6 filter=3 pad=2 pad_after=1 stride=2 groups=2");
    gdnn_args a;
    gdnn_args_fill(&a, &conv);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a.axis[i].in, 1);
        assert_int_equal(a.axis[i].out, 1);
        assert_int_equal(a.axis[i].pad, 0);
        assert_int_equal(a.axis[i].filter_div.value, 1);
        assert_int_equal(a.axis[i].stride.value, 1);
        assert_int_equal(a.axis[i].dilation.value, 1);
        assert_int_equal(a.axis[i].tap_step.value, 1);
    }
    assert_int_equal(a.axis[2].in, 9);
    assert_int_equal(a.axis[2].out, 5);
    assert_int_equal(a.axis[2].pad, 2);
    assert_int_equal(a.axis[2].stride.value, 2);
    assert_int_equal(a.cpg.value, 2);
    assert_int_equal(a.kpg.value, 3);
}

static void strides_go_to_their_axes(void **state)
{
    (void)state;
    gdnn_conv conv = problem(
        "dir=fwd dtype=f32 n=2 c=4 in=3x5 k=6 filter=2x2 groups=2 z=1 xstrides=1000x100x10x1 "
        "wstrides=900x90x9x3 ystrides=800x80x8x2 zstrides=700x70x7x1");
    gdnn_args a;
    gdnn_args_fill(&a, &conv);
    assert_int_equal(a.x_stride_n, 1000);
    assert_int_equal(a.x_stride_c, 100);
    assert_int_equal(a.axis[1].x_stride, 10);
    assert_int_equal(a.axis[2].x_stride, 1);
    assert_int_equal(a.w_stride_k, 900);
    assert_int_equal(a.w_stride_c, 90);
    assert_int_equal(a.axis[1].w_stride, 9);
    assert_int_equal(a.axis[2].w_stride, 3);
    assert_int_equal(a.y_stride_n, 800);
    assert_int_equal(a.y_stride_k, 80);
    assert_int_equal(a.axis[1].y_stride, 8);
    assert_int_equal(a.axis[2].y_stride, 2);
    assert_int_equal(a.z_stride_n, 700);
    assert_int_equal(a.z_stride_k, 70);
    assert_int_equal(a.axis[1].z_stride, 7);
    assert_int_equal(a.axis[2].z_stride, 1);
    assert_int_equal(a.w_offset, 0);
}

static void mode_conv_starts_at_the_last_tap(void **state)
{
    (void)state;
    gdnn_conv conv = problem("dir=fwd dtype=f32 n=1 c=2 in=5x6 k=2 filter=2x3 groups=2 mode=conv");
    gdnn_args a;
    gdnn_args_fill(&a, &conv);
    assert_int_equal(a.w_offset, 1 * 3 + 2);
    assert_int_equal(a.axis[1].w_stride, -3);
    assert_int_equal(a.axis[2].w_stride, -1);
    assert_int_equal(a.w_stride_k, 6);
}

static void scales_come_in_both_precisions(void **state)
{
    (void)state;
    gdnn_conv conv = problem(
        "dir=fwd dtype=f32 n=1 c=2 in=5 k=2 filter=3 groups=2 alpha=0.1 beta=-0 z=1 alpha2=0 "
        "bias=1 act=relu");
    gdnn_args a;
    gdnn_args_fill(&a, &conv);
    assert_true(a.alpha.f64 == 0.1 && a.alpha.f32 == 0.1f && a.alpha.nonzero);
    assert_false(a.beta.nonzero);
    assert_false(a.has_z); /* nothing of it would be used */
    assert_true(a.has_bias && a.relu);
    conv.beta = conv.alpha2 =
        1e-300; /* sums in float32 have float32 factors, and there this is 0 */
    gdnn_args_fill(&a, &conv);
    assert_false(a.has_z || a.beta.nonzero);
    conv.dtype = conv.acc = GDNN_F64;
    gdnn_args_fill(&a, &conv);
    assert_true(a.has_z && a.beta.nonzero);
}

/* Taps first, first + tap_step, ... reach the input: checked against trying every tap. */
static void taps_that_reach_an_input(void **state)
{
    (void)state;
    for (int stride = 1; stride <= 12; stride++)
        for (int dilation = 1; dilation <= 12; dilation++) {
            gdnn_conv conv = problem("dir=bwd_data dtype=f32 n=1 c=1 in=200 k=1 filter=9 pad=20");
            gdnn_args a;
            conv.stride[0] = stride;
            conv.dilation[0] = dilation;
            gdnn_args_fill(&a, &conv);
            const gdnn_axis *axis = &a.axis[2];
            for (int64_t from = 0; from < 60; from++) {
                int64_t first = -1, second = -1;
                for (int64_t t = 0; t < 40 && second < 0; t++)
                    if ((from - t * dilation) % stride == 0) {
                        second = first < 0 ? -1 : t;
                        first = first < 0 ? t : first;
                    }
                bool reached = from % axis->gcd.value == 0;
                assert_int_equal(reached, first >= 0);
                if (!reached)
                    continue;
                int64_t step = axis->tap_step.value;
                assert_int_equal(from / axis->gcd.value % step * axis->inverse % step, first);
                assert_int_equal(second - first, step);
                assert_int_equal(step * dilation, axis->out_step * stride);
            }
        }
}

/* Tensors of more than 2^31 elements that have broken other libraries: too large to run here, so
 * the numbers that lead to addresses are checked. */
static const char *const huge[] = {
    "n=1 c=2 in=32800x32800 k=2 filter=3x3 pad=1 groups=2",
    "n=50 c=96 in=720x1280 k=384 filter=2x2 stride=2 groups=96",
    "n=3200 c=96 in=96x96 k=96 filter=3x3 stride=2 pad=1 groups=96",
    "n=1 c=514 in=2048x2048 k=1 filter=3x3 pad=1",
    "n=16 c=512 in=64x64x640 k=128 filter=1x1x1 groups=2",
    "n=100000 c=1024 in=300 k=1024 filter=5 pad=2 groups=1024",
    "n=2 c=70000 in=200x200 k=140000 filter=1x1 groups=70000",
};

/* The divisor by which kernels split off this axis of what is written, the last axis first. */
static const gdnn_divisor *divisor_of(const gdnn_conv *conv, const gdnn_args *a, int axis)
{
    gdnn_role role = gdnn_written(conv->dir);
    if (axis == 1)
        return role == GDNN_ROLE_X ? &a->c_div : role == GDNN_ROLE_W ? &a->cpg : &a->k_div;
    const gdnn_axis *at = &a->axis[axis - 2 + GDNN_MAX_SPATIAL - conv->spatial];
    return role == GDNN_ROLE_X ? &at->in_div : role == GDNN_ROLE_W ? &at->filter_div : &at->out_div;
}

/* Element `index` of what is written, split by the divisors as kernels do, is the element that
 * plain division finds, and its offset is what the strides say. */
static void check_index(const gdnn_conv *conv, const gdnn_args *a, int64_t index)
{
    gdnn_role role = gdnn_written(conv->dir);
    int64_t size[GDNN_MAX_DIMS], rest = index, plain = index, offset = 0;
    const int64_t *stride = gdnn_strides(conv, role);
    gdnn_sizes(conv, role, size);
    for (int axis = gdnn_dims(conv) - 1; axis >= 1; axis--) {
        const gdnn_divisor *d = divisor_of(conv, a, axis);
        int64_t quotient = divide(rest, d), at = rest - quotient * d->value;
        assert_int_equal(d->value, size[axis]);
        assert_int_equal(at, plain % size[axis]);
        plain /= size[axis];
        rest = quotient;
        offset += at * stride[axis];
    }
    assert_in_range(rest, 0, size[0] - 1);
    offset += rest * stride[0];
    assert_in_range(offset, 0, gdnn_span(conv, role) - 1);
    if (stride[gdnn_dims(conv) - 1] == 1)
        assert_int_equal(offset, index); /* packed nchw */
}

static void huge_tensors_have_addresses_and_launches(void **state)
{
    (void)state;
    gdnn_device device;
    gdnn_options options;
    gdnn_options_init(&options);
    options.mode = GDNN_MODE_FORCE;
    assert_int_equal(gdnn_device_known("h200", &device), GDNN_OK);
    static const char *const rest[] = {"dir=fwd", "dir=bwd_data", "dir=bwd_filter"};
    static const char *const layouts[] = {"layout=nchw", "layout=nhwc"};
    for (size_t i = 0; i < COUNT_OF(huge) * 6; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s dtype=f16 %s %s", huge[i / 6], rest[i % 3],
                 layouts[i / 3 % 2]);
        gdnn_conv conv = problem(text);
        gdnn_role written = gdnn_written(conv.dir);
        int64_t elements = gdnn_elements(&conv, written);
        assert_true(gdnn_elements(&conv, GDNN_ROLE_X) > INT32_MAX);
        gdnn_args a;
        gdnn_args_fill(&a, &conv);
        for (int role = GDNN_ROLE_X; role <= GDNN_ROLE_Y; role++)
            assert_int_equal(gdnn_span(&conv, (gdnn_role)role),
                             gdnn_elements(&conv, (gdnn_role)role));
        const int64_t indices[] = {
            0, 1, elements / 2, elements - 1, INT32_MAX, (int64_t)INT32_MAX + 1};
        for (size_t j = 0; j < COUNT_OF(indices); j++)
            if (indices[j] < elements)
                check_index(&conv, &a, indices[j]);
        gdnn_decision decision = gdnn_decide(&conv, 0, &device, &options);
        assert_int_equal(decision.reason, GDNN_REASON_TAKEN);
        assert_in_range(decision.launch.blocks, 1, INT32_MAX);
        if (written != GDNN_ROLE_W && decision.launch.kernel->any_strides) /* an element a thread */
            assert_true(decision.launch.blocks * decision.launch.threads >= elements);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_by_small_numbers),
        cmocka_unit_test(division_around_powers_of_two),
        cmocka_unit_test(division_at_random),
        cmocka_unit_test(a_divisor_keeps_its_value),
        cmocka_unit_test(missing_axes_have_size_one),
        cmocka_unit_test(strides_go_to_their_axes),
        cmocka_unit_test(mode_conv_starts_at_the_last_tap),
        cmocka_unit_test(scales_come_in_both_precisions),
        cmocka_unit_test(taps_that_reach_an_input),
        cmocka_unit_test(huge_tensors_have_addresses_and_launches),
    };
    return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
