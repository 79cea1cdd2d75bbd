/* The float64 reference against cases whose result is known, or follows from another problem. */
#include "reference_fixture.h"
#include "unit.h"
#include <math.h>

static fixture f, g;

/* The number of terms of each element, 6x6 by 3x3 with stride 2. */
static void all_ones_count_the_terms(void **state)
{
    static const double y[9] = {4, 6, 6, 6, 9, 9, 6, 9, 9};
    static const double dx_axis[6] = {1, 2, 1, 2, 1, 1};

    (void)state;
    for (int c = 23; c <= 25; c++) {
        read_problem(&f, "n=1 c=23 in=6x6 k=23 filter=3x3 pad=1 stride=2 groups=23");
        f.conv.c = f.conv.k = f.conv.groups = c;
        assert_true(prepare(&f));
        fill_with(f.x, f.n_x, 1);
        fill_with(f.w, f.n_w, 1);
        run(&f, GDNN_FWD);
        for (int i = 0; i < c; i++)
            assert_equal(&f.y[9 * i], y, 9);

        fill_with(f.y, f.n_y, 1);
        run(&f, GDNN_BWD_FILTER);
        for (int i = 0; i < c; i++)
            assert_equal(&f.w[9 * i], y, 9); /* by chance the same numbers as y */

        fill_with(f.w, f.n_w, 1);
        run(&f, GDNN_BWD_DATA);
        for (int i = 0; i < f.n_x; i++)
            assert_true(f.x[i] == dx_axis[i / 6 % 6] * dx_axis[i % 6]);
    }
}

static void a_single_one_shows_the_filter(void **state)
{
    static const double w[3] = {2, 3, 5}, x[5] = {7, 11, 13, 17, 19};
    static const double reversed[5] = {0, 5, 3, 2, 0}, straight[5] = {0, 2, 3, 5, 0};

    (void)state;
    for (int mode = GDNN_XCORR; mode <= GDNN_CONV; mode++) {
        read_problem(&f, "n=1 c=1 in=5 k=1 filter=3 pad=1");
        f.conv.mode = (gdnn_mode)mode;
        memcpy(f.w, w, sizeof w);
        fill_with(f.x, 5, 0);
        f.x[2] = 1;
        run(&f, GDNN_FWD);
        assert_equal(f.y, mode == GDNN_CONV ? straight : reversed, 5);

        fill_with(f.y, 5, 0);
        f.y[2] = 1;
        run(&f, GDNN_BWD_DATA);
        assert_equal(f.x, mode == GDNN_CONV ? reversed : straight, 5);

        memcpy(f.x, x, sizeof x);
        run(&f, GDNN_BWD_FILTER);
        for (int i = 0; i < 3; i++)
            assert_true(f.w[mode == GDNN_CONV ? 2 - i : i] == x[1 + i]);
    }
}

static void pointwise_is_a_matrix_product_per_group(void **state)
{
    (void)state;
    read_problem(&f, "n=1 c=6 in=7 k=4 filter=1 groups=2");
    run(&f, GDNN_FWD);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 7; i++) {
            double sum = 0;
            for (int c = 0; c < 3; c++)
                sum += f.w[3 * k + c] * f.x[7 * (3 * (k / 2) + c) + i];
            assert_true(f.y[7 * k + i] == sum);
        }
}

/* With one image the channels of a group lie together, so each group is a problem of its own. */
static void groups_are_separate_convolutions(void **state)
{
    const char *whole = "n=1 c=6 in=5x4 k=9 filter=3x2 pad=1 stride=2x1 groups=3";
    const char *part = "n=1 c=2 in=5x4 k=3 filter=3x2 pad=1 stride=2x1";

    (void)state;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f, whole);
        static fixture before;
        before = f;
        run(&f, (gdnn_dir)dir);
        for (int group = 0; group < 3; group++) {
            read_problem(&g, part);
            memcpy(g.x, before.x + group * g.n_x, (size_t)g.n_x * sizeof(double));
            memcpy(g.w, before.w + group * g.n_w, (size_t)g.n_w * sizeof(double));
            memcpy(g.y, before.y + group * g.n_y, (size_t)g.n_y * sizeof(double));
            run(&g, (gdnn_dir)dir);
            assert_equal(f.x + group * g.n_x, g.x, g.n_x);
            assert_equal(f.w + group * g.n_w, g.w, g.n_w);
            assert_equal(f.y + group * g.n_y, g.y, g.n_y);
        }
    }
}

static void dilation_of_one_tap_changes_nothing(void **state)
{
    (void)state;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f, "n=2 c=2 in=1x5 k=42 filter=1x1 dilation=4x3 groups=2");
        g = f;
        g.conv.dilation[0] = g.conv.dilation[1] = 1;
        run(&f, (gdnn_dir)dir);
        run(&g, (gdnn_dir)dir);
        assert_equal(f.x, g.x, f.n_x);
        assert_equal(f.w, g.w, f.n_w);
        assert_equal(f.y, g.y, f.n_y);
    }
}

/* A dilated filter is a longer one with zeros between its taps. */
static void dilation_is_zeros_between_taps(void **state)
{
    (void)state;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f, "n=2 c=2 in=11 k=4 filter=3 dilation=2 pad=3 pad_after=1 groups=2");
        read_problem(&g, "n=2 c=2 in=11 k=4 filter=5 pad=3 pad_after=1 groups=2");
        assert_int_equal(f.n_y, g.n_y);
        memcpy(g.x, f.x, sizeof f.x);
        memcpy(g.y, f.y, sizeof f.y);
        for (int i = 0; i < g.n_w; i++)
            g.w[i] = i % 5 % 2 == 0 ? f.w[i / 5 * 3 + i % 5 / 2] : 0;
        run(&f, (gdnn_dir)dir);
        run(&g, (gdnn_dir)dir);
        assert_equal(f.x, g.x, f.n_x);
        assert_equal(f.y, g.y, f.n_y);
        for (int i = 0; i < f.n_w; i++)
            assert_true(f.w[i] == g.w[i / 3 * 5 + i % 3 * 2]);
    }
}

/* Padding, here more than half of an even filter, is zeros around x. */
static void padding_is_zeros_around_x(void **state)
{
    (void)state;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f, "n=2 c=2 in=5 k=2 filter=4 pad=3 pad_after=2 stride=2 groups=2");
        read_problem(&g, "n=2 c=2 in=10 k=2 filter=4 stride=2 groups=2");
        assert_int_equal(f.n_y, g.n_y);
        memcpy(g.w, f.w, sizeof f.w);
        memcpy(g.y, f.y, sizeof f.y);
        fill_with(g.x, g.n_x, 0);
        for (int i = 0; i < f.n_x; i++)
            g.x[i / 5 * 10 + 3 + i % 5] = f.x[i];
        run(&f, (gdnn_dir)dir);
        run(&g, (gdnn_dir)dir);
        assert_equal(f.w, g.w, f.n_w);
        assert_equal(f.y, g.y, f.n_y);
        for (int i = 0; i < f.n_x; i++)
            assert_true(f.x[i] == g.x[i / 5 * 10 + 3 + i % 5]);
    }
}

static void conv_mode_flips_the_filter(void **state)
{
    (void)state;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f,
                     "n=2 c=4 in=4x5x3 k=4 filter=2x3x2 pad=1x0x1 pad_after=1 groups=2 mode=conv");
        g = f;
        g.conv.mode = GDNN_XCORR;
        for (int i = 0; i < f.n_w; i++)
            g.w[i] = f.w[i / 12 * 12 + 11 - i % 12];
        run(&f, (gdnn_dir)dir);
        run(&g, (gdnn_dir)dir);
        assert_equal(f.x, g.x, f.n_x);
        assert_equal(f.y, g.y, f.n_y);
        for (int i = 0; i < f.n_w; i++)
            assert_true(f.w[i] == g.w[i / 12 * 12 + 11 - i % 12]);
    }
}

/* y = act(alpha * conv + beta * y + alpha2 * z + bias), put together from the plain convolution. */
static void everything_around_the_sum(void **state)
{
    (void)state;
    read_problem(&f, "n=2 c=4 in=5x5 k=6 filter=3x3 pad=1 groups=2 alpha=3 beta=-2 bias=1 z=1 "
                     "alpha2=5 act=relu");
    read_problem(&g, "n=2 c=4 in=5x5 k=6 filter=3x3 pad=1 groups=2");
    memcpy(g.x, f.x, sizeof f.x);
    memcpy(g.w, f.w, sizeof f.w);
    run(&g, GDNN_FWD);
    for (int i = 0; i < f.n_y; i++) {
        const double y = 3 * g.y[i] - 2 * f.y[i] + 5 * f.z[i] + f.bias[i / 25 % 6];
        g.y[i] = y > 0 ? y : 0;
    }
    run(&f, GDNN_FWD);
    assert_equal(f.y, g.y, f.n_y);

    for (int dir = GDNN_BWD_DATA; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f, "n=2 c=4 in=5x5 k=6 filter=3x3 pad=1 groups=2 alpha=3 beta=-2");
        g = f;
        g.conv.alpha = 1;
        g.conv.beta = 0;
        run(&g, (gdnn_dir)dir);
        for (int i = 0; i < f.n_x && dir == GDNN_BWD_DATA; i++)
            g.x[i] = 3 * g.x[i] - 2 * f.x[i];
        for (int i = 0; i < f.n_w && dir == GDNN_BWD_FILTER; i++)
            g.w[i] = 3 * g.w[i] - 2 * f.w[i];
        run(&f, (gdnn_dir)dir);
        assert_equal(f.x, g.x, f.n_x);
        assert_equal(f.w, g.w, f.n_w);
    }
}

/* They are float32 numbers, for other than f64 data. */
static void factors_are_rounded(void **state)
{
    const double next = 1 + 0x1p-30;
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        read_problem(&f,
                     "n=2 c=4 in=5x5 k=6 filter=3x3 pad=1 groups=2 alpha=3 beta=-2 z=1 alpha2=5");
        f.conv.dtype = f.conv.acc = wide ? GDNN_F64 : GDNN_F16;
        g = f;
        f.conv.alpha *= next;
        f.conv.beta *= next;
        f.conv.alpha2 *= next;
        run(&f, GDNN_FWD);
        run(&g, GDNN_FWD);
        for (int i = 0; i < f.n_y; i++)
            g.y[i] *= wide ? next : 1;
        for (int i = 0; i < f.n_y; i++)
            assert_true(wide ? fabs(f.y[i] - g.y[i]) < 1e-14 * fabs(g.y[i]) + 1e-13
                             : f.y[i] == g.y[i]);
    }
}

/* With beta = 0 the prior contents, and with alpha2 = 0 z, are not read. */
static void factors_of_zero_read_nothing(void **state)
{
    (void)state;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f, "n=2 c=4 in=5x5 k=6 filter=3x3 pad=1 groups=2");
        g = f;
        if (dir == GDNN_FWD) {
            f.conv.z = 1;
            f.conv.alpha2 = 0;
            fill_with(f.z, f.n_y, NAN);
            fill_with(f.y, f.n_y, NAN);
        } else {
            fill_with(dir == GDNN_BWD_DATA ? f.x : f.w, dir == GDNN_BWD_DATA ? f.n_x : f.n_w, NAN);
        }
        run(&f, (gdnn_dir)dir);
        run(&g, (gdnn_dir)dir);
        assert_equal(f.x, g.x, f.n_x);
        assert_equal(f.w, g.w, f.n_w);
        assert_equal(f.y, g.y, f.n_y);
    }
}

static void relu_keeps_nan(void **state)
{
    (void)state;
    read_problem(&f, "n=1 c=1 in=4 k=1 filter=1 act=relu");
    f.w[0] = 1;
    memcpy(f.x, (const double[]){NAN, -INFINITY, INFINITY, -1}, 4 * sizeof(double));
    run(&f, GDNN_FWD);
    assert_true(isnan(f.y[0]));
    assert_equal(&f.y[1], (const double[]){0, INFINITY, 0}, 3);
}

/* A NaN or infinity in each weight in turn reaches just those outputs where its tap falls on x. */
static void padding_is_never_multiplied(void **state)
{
    static const double bad[2] = {NAN, INFINITY};

    (void)state;
    for (int tap = 0; tap < 9; tap++)
        for (int which = 0; which < 2; which++) {
            read_problem(&f, "n=1 c=2 in=4x4 k=2 filter=3x3 pad=1 groups=2");
            fill_with(f.x, f.n_x, 1);
            f.w[9 + tap] = bad[which];
            run(&f, GDNN_FWD);
            for (int o = 0; o < 32; o++) {
                const int ih = o / 4 % 4 + tap / 3 - 1, iw = o % 4 + tap % 3 - 1;
                const bool reached = o >= 16 && ih >= 0 && ih < 4 && iw >= 0 && iw < 4;
                assert_true(isfinite(f.y[o]) == !reached);
            }
            /* Backward-data: the same weight, with y and x changing places. */
            fill_with(f.y, f.n_y, 1);
            run(&f, GDNN_BWD_DATA);
            for (int i = 0; i < 32; i++) {
                const int oh = i / 4 % 4 - tap / 3 + 1, ow = i % 4 - tap % 3 + 1;
                const bool reached = i >= 16 && oh >= 0 && oh < 4 && ow >= 0 && ow < 4;
                assert_true(isfinite(f.x[i]) == !reached);
            }
        }
    /* Backward-filter: an infinite dy at a corner reaches the taps that fall on x there. */
    read_problem(&f, "n=1 c=2 in=4x4 k=2 filter=3x3 pad=1 groups=2");
    fill_with(f.x, f.n_x, 1);
    f.y[16] = INFINITY;
    run(&f, GDNN_BWD_FILTER);
    for (int i = 0; i < 18; i++)
        assert_true(isfinite(f.w[i]) == !(i >= 9 && i % 9 / 3 >= 1 && i % 3 >= 1));
}

/* The magnitude is the result that absolute values would give. */
static void magnitude_is_the_sum_of_absolute_values(void **state)
{
    (void)state;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
        read_problem(&f,
                     "n=2 c=4 in=5x6 k=6 filter=3x2 pad=1 stride=2x1 groups=2 alpha=-3 beta=-2");
        if (dir == GDNN_FWD) {
            f.conv.bias = f.conv.z = 1;
            f.conv.alpha2 = -5;
        }
        g = f;
        g.conv.alpha = 3;
        g.conv.beta = 2;
        g.conv.alpha2 = 5;
        for (int i = 0; i < FIXTURE_ELEMENTS; i++) {
            g.x[i] = fabs(g.x[i]);
            g.w[i] = fabs(g.w[i]);
            g.y[i] = fabs(g.y[i]);
            g.z[i] = fabs(g.z[i]);
        }
        for (int i = 0; i < 6; i++)
            g.bias[i] = fabs(g.bias[i]);
        run(&f, (gdnn_dir)dir);
        run(&g, (gdnn_dir)dir);
        const int64_t count[3] = {f.n_y, f.n_x, f.n_w};
        const double *result[3] = {g.y, g.x, g.w};
        assert_equal(f.magnitude, result[dir], count[dir]);
        assert_equal(g.magnitude, result[dir], count[dir]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ones_count_the_terms),
        cmocka_unit_test(a_single_one_shows_the_filter),
        cmocka_unit_test(pointwise_is_a_matrix_product_per_group),
        cmocka_unit_test(groups_are_separate_convolutions),
        cmocka_unit_test(dilation_of_one_tap_changes_nothing),
        cmocka_unit_test(dilation_is_zeros_between_taps),
        cmocka_unit_test(padding_is_zeros_around_x),
        cmocka_unit_test(conv_mode_flips_the_filter),
        cmocka_unit_test(everything_around_the_sum),
        cmocka_unit_test(factors_are_rounded),
        cmocka_unit_test(factors_of_zero_read_nothing),
        cmocka_unit_test(relu_keeps_nan),
        cmocka_unit_test(padding_is_never_multiplied),
        cmocka_unit_test(magnitude_is_the_sum_of_absolute_values),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
