#include "problem.h"
#include "unit.h"

/* A problem of `spatial` axes with small, distinct numbers. */
static gdnn_conv example(int spatial)
{
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.spatial = spatial;
    conv.n = 2;
    conv.c = 12;
    conv.k = 8;
    conv.groups = 4;
    for (int i = 0; i < spatial; i++) {
        conv.in[i] = 7 + i;
        conv.filter[i] = 3;
        conv.pad[i] = conv.pad_after[i] = 1;
    }
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NCHW), GDNN_OK);
    return conv;
}

static void assert_axes(int count, const int64_t *found, const int64_t *expected)
{
    for (int i = 0; i < count; i++)
        if (found[i] != expected[i])
            fail_msg("axis %d: %lld, expected %lld", i, (long long)found[i],
                     (long long)expected[i]);
}

static void init_is_a_plain_forward_problem(void **state)
{
    (void)state;
    gdnn_conv conv;
    memset(&conv, 0xff, sizeof conv);
    gdnn_conv_init(&conv);
    assert_int_equal(conv.dir, GDNN_FWD);
    assert_int_equal(conv.dtype, GDNN_F32);
    assert_int_equal(conv.acc, GDNN_F32);
    assert_int_equal(conv.mode, GDNN_XCORR);
    assert_int_equal(conv.math, GDNN_MATH_F32);
    assert_int_equal(conv.act, GDNN_ACT_NONE);
    assert_int_equal(conv.spatial, 2);
    assert_int_equal(conv.groups, 1);
    assert_true(conv.alpha == 1 && conv.beta == 0 && conv.alpha2 == 1);
    for (int i = 0; i < GDNN_MAX_SPATIAL; i++) {
        assert_int_equal(conv.stride[i], 1);
        assert_int_equal(conv.dilation[i], 1);
        assert_int_equal(conv.pad[i], 0);
        assert_int_equal(conv.pad_after[i], 0);
    }
    for (size_t i = 0; i < COUNT_OF(conv.reserved); i++)
        assert_int_equal(conv.reserved[i], 0);
}

static void types_and_roles(void **state)
{
    (void)state;
    assert_int_equal(gdnn_dtype_size(GDNN_F16), 2);
    assert_int_equal(gdnn_dtype_size(GDNN_BF16), 2);
    assert_int_equal(gdnn_dtype_size(GDNN_F32), 4);
    assert_int_equal(gdnn_dtype_size(GDNN_F64), 8);
    assert_int_equal(gdnn_written(GDNN_FWD), GDNN_ROLE_Y);
    assert_int_equal(gdnn_written(GDNN_BWD_DATA), GDNN_ROLE_X);
    assert_int_equal(gdnn_written(GDNN_BWD_FILTER), GDNN_ROLE_W);
}

/* Slides the dilated filter over the padded input and counts the places where it fits. */
static int64_t count_outputs(int in, int pad, int pad_after, int filter, int stride, int dilation)
{
    int64_t count = 0;
    for (int first = -pad; first + (filter - 1) * dilation < in + pad_after; first += stride)
        count++;
    return count;
}

static void out_size_counts_the_places_of_the_filter(void **state)
{
    (void)state;
    gdnn_conv conv = example(1);
    for (int in = 1; in <= 6; in++)
        for (int filter = 1; filter <= 7; filter++)
            for (int pads = 0; pads < 16; pads++)
                for (int stride = 1; stride <= 5; stride++)
                    for (int dilation = 1; dilation <= 3; dilation++) {
                        conv.in[0] = in;
                        conv.filter[0] = filter;
                        conv.pad[0] = pads % 4;
                        conv.pad_after[0] = pads / 4;
                        conv.stride[0] = stride;
                        conv.dilation[0] = dilation;
                        assert_int_equal(
                            gdnn_out_size(&conv, 0),
                            count_outputs(in, pads % 4, pads / 4, filter, stride, dilation));
                    }
}

static void out_size_of_layers(void **state)
{
    (void)state;
    static const struct {
        int64_t in, filter, pad, pad_after, stride, dilation, out;
    } cases[] = {
        {224, 7, 3, 3, 2, 1, 112},
        {56, 3, 1, 1, 1, 1, 56},
        {6, 3, 1, 1, 2, 1, 3},
        {1024, 31, 15, 15, 1, 1, 1024},
        {2048, 4, 3, 0, 1, 1, 2048},
        {250, 128, 64, 64, 1, 1, 251},
        {7, 1, 0, 0, 1, 1000, 7},
        {3, 1, 5, 5, 1, 1, 13},
        {3, 5, 1, 1, 1, 1, 1},
        {3, 6, 1, 1, 1, 1, 0},
        {3, 6, 0, 0, 5, 1, 0},
        {3, 1, 0, 0, 1000000, 1, 1},
        {4294967296, 3, 0, 0, 1, 1, 4294967294},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = example(1);
        conv.in[0] = cases[i].in;
        conv.filter[0] = cases[i].filter;
        conv.pad[0] = cases[i].pad;
        conv.pad_after[0] = cases[i].pad_after;
        conv.stride[0] = cases[i].stride;
        conv.dilation[0] = cases[i].dilation;
        assert_int_equal(gdnn_out_size(&conv, 0), cases[i].out);
    }
}

static void out_size_bears_nonsense(void **state)
{
    (void)state;
    static const int64_t extreme[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    int64_t *fields[6];
    gdnn_conv conv = example(1);
    fields[0] = conv.in, fields[1] = conv.filter, fields[2] = conv.pad;
    fields[3] = conv.pad_after, fields[4] = conv.stride, fields[5] = conv.dilation;
    for (int code = 0; code < 15625; code++) {
        for (int i = 0, rest = code; i < 6; i++, rest /= 5)
            fields[i][0] = extreme[rest % 5];
        if (conv.stride[0] < 1)
            assert_int_equal(gdnn_out_size(&conv, 0), 0);
        assert_true(gdnn_out_size(&conv, 0) >= 0);
    }
}

static void sizes_of_the_three_tensors(void **state)
{
    (void)state;
    gdnn_conv conv = example(3);
    conv.stride[1] = 2;
    int64_t size[GDNN_MAX_DIMS];
    assert_int_equal(gdnn_dims(&conv), 5);
    gdnn_sizes(&conv, GDNN_ROLE_X, size);
    assert_axes(5, size, (int64_t[]){2, 12, 7, 8, 9});
    gdnn_sizes(&conv, GDNN_ROLE_W, size);
    assert_axes(5, size, (int64_t[]){8, 3, 3, 3, 3});
    gdnn_sizes(&conv, GDNN_ROLE_Y, size);
    assert_axes(5, size, (int64_t[]){2, 8, 7, 4, 9});
    assert_int_equal(gdnn_cpg(&conv), 3);
    assert_int_equal(gdnn_kpg(&conv), 2);
    assert_int_equal(gdnn_taps(&conv), 27);
    assert_int_equal(gdnn_elements(&conv, GDNN_ROLE_X), 2 * 12 * 7 * 8 * 9);
    assert_int_equal(gdnn_elements(&conv, GDNN_ROLE_W), 8 * 3 * 27);
    assert_int_equal(gdnn_elements(&conv, GDNN_ROLE_Y), 2 * 8 * 7 * 4 * 9);
    assert_true(gdnn_macs(&conv) == 4032.0 * 3 * 27);
    assert_true(gdnn_bytes(&conv) == 4.0 * (12096 + 648 + 4032));
}

static void packed_strides(void **state)
{
    (void)state;
    static const struct {
        int dims;
        int64_t size[5], nchw[5], nhwc[5];
    } cases[] = {
        {3, {2, 3, 5}, {15, 5, 1}, {15, 1, 3}},
        {4, {2, 3, 5, 7}, {105, 35, 7, 1}, {105, 1, 21, 3}},
        {5, {2, 3, 5, 7, 11}, {1155, 385, 77, 11, 1}, {1155, 1, 231, 33, 3}},
        {4, {8, 1, 3, 3}, {9, 9, 3, 1}, {9, 1, 3, 1}},
        {4, {1, 6, 1, 1}, {6, 1, 1, 1}, {6, 1, 6, 6}},
        {3, {3, 65536, 65536}, {4294967296, 65536, 1}, {4294967296, 1, 65536}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int dims = cases[i].dims;
        int64_t stride[5];
        gdnn_packed(dims, cases[i].size, GDNN_NCHW, stride);
        assert_axes(dims, stride, cases[i].nchw);
        assert_true(gdnn_is_packed(dims, cases[i].size, stride, GDNN_NCHW));
        gdnn_packed(dims, cases[i].size, GDNN_NHWC, stride);
        assert_axes(dims, stride, cases[i].nhwc);
        assert_true(gdnn_is_packed(dims, cases[i].size, stride, GDNN_NHWC));
    }
}

static void axes_of_size_one_may_have_any_stride(void **state)
{
    (void)state;
    static const int64_t size[] = {1, 6, 1, 4};
    /* Frameworks disagree about the strides of the two axes of size 1. */
    assert_true(gdnn_is_packed(4, size, (int64_t[]){24, 4, 4, 1}, GDNN_NCHW));
    assert_true(gdnn_is_packed(4, size, (int64_t[]){0, 4, 999, 1}, GDNN_NCHW));
    assert_false(gdnn_is_packed(4, size, (int64_t[]){24, 4, 4, 1}, GDNN_NHWC));
    assert_true(gdnn_is_packed(4, size, (int64_t[]){1, 1, 1, 6}, GDNN_NHWC));
    assert_false(gdnn_is_packed(4, size, (int64_t[]){24, 5, 4, 1}, GDNN_NCHW));
    assert_false(gdnn_is_packed(4, size, (int64_t[]){24, 4, 4, 2}, GDNN_NCHW));
}

static void common_layout(void **state)
{
    (void)state;
    gdnn_layout layout;
    gdnn_conv conv = example(2);
    assert_true(gdnn_common_layout(&conv, &layout));
    assert_int_equal(layout, GDNN_NCHW);
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NHWC), GDNN_OK);
    assert_true(gdnn_common_layout(&conv, &layout));
    assert_int_equal(layout, GDNN_NHWC);

    gdnn_conv mixed = conv;
    gdnn_packed(4, (int64_t[]){8, 3, 3, 3}, GDNN_NCHW, mixed.w_stride);
    assert_false(gdnn_common_layout(&mixed, &layout));
    mixed = conv;
    mixed.x_stride[0]++;
    assert_false(gdnn_common_layout(&mixed, &layout));
    mixed = conv;
    mixed.y_stride[2]++;
    assert_false(gdnn_common_layout(&mixed, &layout));
    mixed = conv;
    mixed.z_stride[2]++;
    assert_true(gdnn_common_layout(&mixed, &layout));
    mixed.z = 1;
    assert_false(gdnn_common_layout(&mixed, &layout));

    /* A depthwise filter (C, 1, R, S) has the same memory in both; x and y then decide. */
    conv = example(2);
    conv.k = conv.groups = 12;
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NHWC), GDNN_OK);
    gdnn_packed(4, (int64_t[]){12, 1, 3, 3}, GDNN_NCHW, conv.w_stride);
    assert_true(gdnn_common_layout(&conv, &layout));
    assert_int_equal(layout, GDNN_NHWC);

    /* (N, C, 1, 1) with a 1x1 filter fits both. */
    conv.in[0] = conv.in[1] = conv.filter[0] = conv.filter[1] = 1;
    conv.pad[0] = conv.pad[1] = conv.pad_after[0] = conv.pad_after[1] = 0;
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NHWC), GDNN_OK);
    assert_true(gdnn_common_layout(&conv, &layout));
    assert_int_equal(layout, GDNN_NCHW);
}

static void span_counts_gaps(void **state)
{
    (void)state;
    gdnn_conv conv = example(2);
    assert_int_equal(gdnn_span(&conv, GDNN_ROLE_X), gdnn_elements(&conv, GDNN_ROLE_X));
    assert_int_equal(gdnn_span(&conv, GDNN_ROLE_W), gdnn_elements(&conv, GDNN_ROLE_W));
    assert_int_equal(gdnn_span(&conv, GDNN_ROLE_Y), gdnn_elements(&conv, GDNN_ROLE_Y));
    memcpy(conv.x_stride, (int64_t[]){5000, 100, 10, 1}, 4 * sizeof(int64_t));
    assert_int_equal(gdnn_span(&conv, GDNN_ROLE_X), 1 + 5000 + 11 * 100 + 6 * 10 + 7);
    memset(conv.x_stride, 0, sizeof conv.x_stride);
    assert_int_equal(gdnn_span(&conv, GDNN_ROLE_X), 1);
}

/* Visits every element. */
static bool overlaps(int dims, const int64_t *size, const int64_t *stride)
{
    bool seen[4096] = {false};
    int64_t elements = 1;
    for (int i = 0; i < dims; i++)
        elements *= size[i];
    for (int64_t element = 0; element < elements; element++) {
        int64_t rest = element, address = 0;
        for (int i = 0; i < dims; i++) {
            address += rest % size[i] * stride[i];
            rest /= size[i];
        }
        assert_in_range(address, 0, sizeof seen - 1);
        if (seen[address])
            return true;
        seen[address] = true;
    }
    return false;
}

static void may_overlap_never_misses(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    int overlapping = 0, safe = 0;
    for (int i = 0; i < 20000; i++) {
        int dims = (int)test_pick(&random, 3, 5);
        int64_t size[5], stride[5];
        for (int a = 0; a < dims; a++) {
            size[a] = test_pick(&random, 1, 4);
            stride[a] = test_pick(&random, 0, test_pick(&random, 0, 1) ? 12 : 200);
        }
        bool real = overlaps(dims, size, stride), said = gdnn_may_overlap(dims, size, stride);
        if (real && !said)
            fail_msg("round %d: elements share memory, and it was not seen", i);
        overlapping += real;
        safe += !said;
    }
    assert_true(overlapping > 1000);
    assert_true(safe > 1000);
}

static void may_overlap_accepts_packed_orders_and_gaps(void **state)
{
    (void)state;
    static const int64_t size[] = {3, 4, 2, 5};
    int orders = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++) {
                int d = 6 - a - b - c, order[] = {a, b, c, d};
                if (a == b || a == c || b == c || d < 0 || d > 3)
                    continue;
                orders++;
                for (int gap = 0; gap < 2; gap++) {
                    int64_t stride[4], step = 1 + gap, extent = 1;
                    for (int i = 0; i < 4; i++) {
                        stride[order[i]] = step;
                        step = step * size[order[i]] + gap;
                        extent += i < 3 ? (size[order[i]] - 1) * stride[order[i]] : 0;
                    }
                    assert_false(gdnn_may_overlap(4, size, stride));
                    /* The slowest axis steps onto the last element of the others, then just past it. */
                    stride[d] = extent - 1;
                    assert_true(gdnn_may_overlap(4, size, stride));
                    stride[d] = extent;
                    assert_false(gdnn_may_overlap(4, size, stride));
                }
            }
    assert_int_equal(orders, 24);
    assert_false(gdnn_may_overlap(4, (int64_t[]){1, 4, 1, 5}, (int64_t[]){0, 5, 0, 1}));
    assert_true(gdnn_may_overlap(4, (int64_t[]){2, 4, 1, 5}, (int64_t[]){0, 5, 0, 1}));
    assert_false(
        gdnn_may_overlap(2, (int64_t[]){2, INT64_C(1) << 40}, (int64_t[]){INT64_C(1) << 41, 2}));
}

static void equal_looks_at_everything_that_counts(void **state)
{
    (void)state;
    gdnn_conv a = example(2);
    a.z = 1;
    assert_true(gdnn_conv_equal(&a, &a));
#define DIFFERS(change)                                                                            \
    do {                                                                                           \
        gdnn_conv b = a;                                                                           \
        b.change;                                                                                  \
        if (gdnn_conv_equal(&a, &b) || gdnn_conv_equal(&b, &a))                                    \
            fail_msg("not seen: %s", #change);                                                     \
    } while (0)
#define SAME(change)                                                                               \
    do {                                                                                           \
        gdnn_conv b = a;                                                                           \
        b.change;                                                                                  \
        if (!gdnn_conv_equal(&a, &b) || !gdnn_conv_equal(&b, &a))                                  \
            fail_msg("does not count: %s", #change);                                               \
    } while (0)
    DIFFERS(dir = GDNN_BWD_DATA);
    DIFFERS(dtype = GDNN_F16);
    DIFFERS(acc = GDNN_F16);
    DIFFERS(mode = GDNN_CONV);
    DIFFERS(math = GDNN_MATH_TF32);
    DIFFERS(act = GDNN_ACT_RELU);
    DIFFERS(spatial = 1);
    DIFFERS(bias = 1);
    DIFFERS(z = 0);
    DIFFERS(n = 3);
    DIFFERS(c = 16);
    DIFFERS(k = 12);
    DIFFERS(groups = 2);
    DIFFERS(in[1] = 5);
    DIFFERS(filter[1] = 2);
    DIFFERS(pad[1] = 0);
    DIFFERS(pad_after[1] = 0);
    DIFFERS(stride[1] = 2);
    DIFFERS(dilation[1] = 2);
    DIFFERS(x_stride[0] = 1);
    DIFFERS(w_stride[1] = 1);
    DIFFERS(y_stride[3] = 2);
    DIFFERS(z_stride[2] = 1);
    DIFFERS(alpha = 2);
    DIFFERS(beta = -0.0);
    DIFFERS(alpha2 = 2);
    SAME(in[2] = 99);
    SAME(pad[2] = 99);
    SAME(x_stride[4] = 99);
    a.z = 0;
    SAME(z_stride[2] = 99);
    SAME(alpha2 = 99);
    a.n = 1;
    SAME(x_stride[0] = 99);
    SAME(y_stride[0] = 99);
    a.alpha = __builtin_nan("");
    SAME(alpha = -__builtin_nan("7"));
#undef DIFFERS
#undef SAME
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_is_a_plain_forward_problem),
        cmocka_unit_test(types_and_roles),
        cmocka_unit_test(out_size_counts_the_places_of_the_filter),
        cmocka_unit_test(out_size_of_layers),
        cmocka_unit_test(out_size_bears_nonsense),
        cmocka_unit_test(sizes_of_the_three_tensors),
        cmocka_unit_test(packed_strides),
        cmocka_unit_test(axes_of_size_one_may_have_any_stride),
        cmocka_unit_test(common_layout),
        cmocka_unit_test(span_counts_gaps),
        cmocka_unit_test(may_overlap_never_misses),
        cmocka_unit_test(may_overlap_accepts_packed_orders_and_gaps),
        cmocka_unit_test(equal_looks_at_everything_that_counts),
    };
    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
