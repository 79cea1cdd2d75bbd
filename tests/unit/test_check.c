#include "problem.h"
#include "unit.h"

/* A valid grouped problem; every case below breaks one thing of it. */
static gdnn_conv valid(void)
{
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.n = 2;
    conv.c = 32;
    conv.k = 48;
    conv.groups = 4;
    conv.in[0] = 9;
    conv.in[1] = 11;
    conv.filter[0] = conv.filter[1] = 3;
    conv.pad[0] = conv.pad[1] = conv.pad_after[0] = conv.pad_after[1] = 1;
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NHWC), GDNN_OK);
    return conv;
}

static void assert_invalid(gdnn_status status, const char *first, const char *second)
{
    if (status != GDNN_INVALID)
        fail_msg("%s, but should be invalid: %s %s", gdnn_status_name(status), first, second);
    assert_contains(gdnn_last_error(), first);
    assert_contains(gdnn_last_error(), second);
}

static void a_valid_problem_passes(void **state)
{
    (void)state;
    gdnn_conv conv = valid();
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    conv.bias = conv.z = 1;
    conv.act = GDNN_ACT_RELU;
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
}

static void null_is_invalid(void **state)
{
    (void)state;
    gdnn_conv conv = valid();
    int64_t out[3];
    assert_invalid(gdnn_check(NULL), "the problem", "NULL");
    assert_invalid(gdnn_conv_set_layout(NULL, GDNN_NCHW), "the problem", "NULL");
    assert_invalid(gdnn_conv_out(NULL, out), "the problem", "NULL");
    assert_invalid(gdnn_conv_out(&conv, NULL), "out", "NULL");
}

#define MEMBER(field) offsetof(gdnn_conv, field)

static void words_and_flags(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        int value;
        const char *name, *rule;
    } cases[] = {
        {MEMBER(dir), 3, "dir=3", "fwd, bwd_data, bwd_filter"},
        {MEMBER(dir), -1, "dir=-1", "fwd, bwd_data, bwd_filter"},
        {MEMBER(dtype), 4, "dtype=4", "f16, bf16, f32, f64"},
        {MEMBER(acc), 4, "acc=4", "f16, bf16, f32, f64"},
        {MEMBER(mode), 2, "mode=2", "xcorr, conv"},
        {MEMBER(math), 2, "math=2", "f32, tf32"},
        {MEMBER(act), 2, "act=2", "none, relu"},
        {MEMBER(bias), 2, "bias=2", "0 or 1"},
        {MEMBER(bias), -1, "bias=-1", "0 or 1"},
        {MEMBER(z), 2, "z=2", "0 or 1"},
        {MEMBER(spatial), 0, "0 spatial axes", "1 to 3"},
        {MEMBER(spatial), 4, "4 spatial axes", "1 to 3"},
        {MEMBER(spatial), -1, "-1 spatial axes", "1 to 3"},
        {MEMBER(acc), GDNN_BF16, "acc=bf16", "f16, f32 or f64"},
        {MEMBER(dtype), GDNN_F64, "acc=f32", "dtype=f64 must be f64"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = valid();
        memcpy((char *)&conv + cases[i].at, &cases[i].value, sizeof cases[i].value);
        assert_invalid(gdnn_check(&conv), cases[i].name, cases[i].rule);
        assert_invalid(gdnn_conv_set_layout(&conv, GDNN_NCHW), cases[i].name, cases[i].rule);
    }
    gdnn_conv conv = valid();
    assert_invalid(gdnn_conv_set_layout(&conv, (gdnn_layout)2), "layout=2", "nchw, nhwc");
}

static void sums(void **state)
{
    (void)state;
    static const struct {
        gdnn_dtype dtype, acc;
        gdnn_status status;
    } cases[] = {
        {GDNN_F16, GDNN_F16, GDNN_OK},        {GDNN_F16, GDNN_F32, GDNN_OK},
        {GDNN_F16, GDNN_F64, GDNN_OK},        {GDNN_BF16, GDNN_F32, GDNN_OK},
        {GDNN_BF16, GDNN_BF16, GDNN_INVALID}, {GDNN_F32, GDNN_F32, GDNN_OK},
        {GDNN_F32, GDNN_F64, GDNN_OK},        {GDNN_F64, GDNN_F64, GDNN_OK},
        {GDNN_F64, GDNN_F32, GDNN_INVALID},   {GDNN_F64, GDNN_F16, GDNN_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = valid();
        conv.dtype = cases[i].dtype;
        conv.acc = cases[i].acc;
        assert_int_equal(gdnn_check(&conv), cases[i].status);
    }
}

static void extras_are_forward_only(void **state)
{
    (void)state;
    static const gdnn_dir backward[] = {GDNN_BWD_DATA, GDNN_BWD_FILTER};
    static const char *const words[] = {"dir is bwd_data", "dir is bwd_filter"};
    for (int i = 0; i < 2; i++) {
        gdnn_conv conv = valid();
        conv.dir = backward[i];
        assert_int_equal(gdnn_check(&conv), GDNN_OK);
        conv.bias = 1;
        assert_invalid(gdnn_check(&conv), "bias=1", words[i]);
        conv.bias = 0;
        conv.z = 1;
        assert_invalid(gdnn_check(&conv), "z=1", words[i]);
        conv.z = 0;
        conv.act = GDNN_ACT_RELU;
        assert_invalid(gdnn_check(&conv), "act=relu", words[i]);
    }
}

static void reserved_is_zero(void **state)
{
    (void)state;
    gdnn_conv conv = valid();
    conv.reserved[7] = 5;
    assert_invalid(gdnn_check(&conv), "reserved[7]=5", "must be 0");
}

static void factors_are_finite_in_the_sums(void **state)
{
    (void)state;
    static const double bad[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf(), 3.5e38,
                                 -1e300};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gdnn_conv conv = valid();
        conv.alpha = bad[i];
        assert_invalid(gdnn_check(&conv), "alpha=", "finite in f32");
        conv = valid();
        conv.beta = bad[i];
        assert_invalid(gdnn_check(&conv), "beta=", "finite in f32");
        conv = valid();
        conv.alpha2 = bad[i];
        assert_invalid(gdnn_check(&conv), "alpha2=", "finite in f32");
        conv.dtype = conv.acc = GDNN_F64;
        assert_int_equal(gdnn_check(&conv), i < 3 ? GDNN_INVALID : GDNN_OK);
    }
    gdnn_conv conv = valid();
    conv.alpha = -3.4028234663852886e38;
    conv.beta = 1e-300;
    conv.alpha2 = 0;
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
}

static const struct {
    size_t at;
    int64_t value;
    const char *name, *rule;
} numbers[] = {
    {MEMBER(n), 0, "n=0:", "at least 1"},
    {MEMBER(n), -5, "n=-5:", "at least 1"},
    {MEMBER(n), INT64_MIN, "n=-9223372036854775808:", "at least 1"},
    {MEMBER(n), INT64_MAX, "n=9223372036854775807:", "below 2^62"},
    {MEMBER(n), INT64_C(1) << 62, "n=4611686018427387904:", "below 2^62"},
    {MEMBER(n), (INT64_C(1) << 62) - 1, "x of 4611686018427387903x32x9x11", "2^62 bytes"},
    {MEMBER(c), 0, "c=0:", "at least 1"},
    {MEMBER(c), 30, "c=30 ", "multiple of groups=4"},
    {MEMBER(c), 2, "c=2 ", "multiple of groups=4"},
    {MEMBER(c), INT64_C(1) << 61, "x of 2x2305843009213693952x9x11", "2^62 bytes"},
    {MEMBER(k), 0, "k=0:", "at least 1"},
    {MEMBER(k), 50, "k=50 ", "multiple of groups=4"},
    {MEMBER(k), 3, "k=3 ", "multiple of groups=4"},
    {MEMBER(k), INT64_C(1) << 56, "w of 72057594037927936x8x3x3", "2^62 bytes"},
    {MEMBER(groups), 0, "groups=0:", "at least 1"},
    {MEMBER(groups), -1, "groups=-1:", "at least 1"},
    {MEMBER(groups), 5, "c=32 ", "multiple of groups=5"},
    {MEMBER(groups), 32, "k=48 ", "multiple of groups=32"},
    {MEMBER(groups), 64, "c=32 ", "multiple of groups=64"},
    {MEMBER(in[0]), 0, "in=0x11:", "at least 1 on every axis"},
    {MEMBER(in[1]), -3, "in=9x-3:", "at least 1 on every axis"},
    {MEMBER(in[1]), INT64_MAX, "in=9x9223372036854775807:", "below 2^62 on every axis"},
    {MEMBER(in[1]), (INT64_C(1) << 62) - 2, "axis 1: in=4611686018427387902", "below 2^62"},
    {MEMBER(filter[0]), 0, "filter=0x3:", "at least 1"},
    {MEMBER(filter[1]), -1, "filter=3x-1:", "at least 1"},
    {MEMBER(filter[1]), INT64_MAX, "filter=3x9223372036854775807:", "below 2^62"},
    {MEMBER(pad[1]), -1, "pad=1x-1:", "at least 0"},
    {MEMBER(pad[1]), INT64_MAX, "pad=1x9223372036854775807:", "below 2^62"},
    {MEMBER(pad_after[0]), -1, "pad_after=-1x1:", "at least 0"},
    {MEMBER(pad_after[0]), INT64_MIN, "pad_after=-9223372036854775808x1:", "at least 0"},
    {MEMBER(stride[0]), 0, "stride=0x1:", "at least 1"},
    {MEMBER(stride[1]), -2, "stride=1x-2:", "at least 1"},
    {MEMBER(stride[1]), INT64_MAX, "stride=1x9223372036854775807:", "below 2^62"},
    {MEMBER(dilation[1]), 0, "dilation=1x0:", "at least 1"},
    {MEMBER(dilation[1]), -1, "dilation=1x-1:", "at least 1"},
    {MEMBER(dilation[1]), (INT64_C(1) << 62) - 1, "dilation=4611686018427387903", "filter=3"},
    {MEMBER(dilation[1]), INT64_C(1) << 61, "dilation=2305843009213693952", "less than 2^62"},
    {MEMBER(pad[0]), INT64_C(1) << 61, "y of 2x48x2305843009213693960x11", "2^62 bytes"},
    /* No output. */
    {MEMBER(filter[0]), 12, "filter=12", "spans 12, more than the 11 of in=9"},
    {MEMBER(filter[1]), 14, "axis 1 has no output", "more than the 13 of in=11 with pad=1"},
    {MEMBER(dilation[0]), 6, "dilation=6", "spans 13, more than the 11"},
    /* Strides of the tensors. */
    {MEMBER(x_stride[3]), -1, "xstrides=3168x1x352x-1:", "at least 0"},
    {MEMBER(y_stride[0]), -1, "ystrides=-1x1x528x48:", "at least 0"},
    {MEMBER(w_stride[1]), 0, "wstrides=72x0x24x8:", "gdnn_conv_set_layout"},
    {MEMBER(w_stride[1]), -1, "wstrides=72x-1x24x8:", "at least 0"},
    {MEMBER(x_stride[0]), INT64_MAX, "xstrides=9223372036854775807x", "x must span less than 2^62"},
    {MEMBER(x_stride[0]), INT64_C(1) << 60, "xstrides=1152921504606846976x", "2^62 bytes"},
    {MEMBER(w_stride[0]), INT64_C(1) << 56, "wstrides=72057594037927936x", "w must span"},
    {MEMBER(y_stride[2]), INT64_C(1) << 57, "ystrides=4752x1x144115188075855872x48", "y must span"},
};

static void each_number_has_its_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        gdnn_conv conv = valid();
        memcpy((char *)&conv + numbers[i].at, &numbers[i].value, sizeof numbers[i].value);
        assert_invalid(gdnn_check(&conv), numbers[i].name, numbers[i].rule);
    }
}

static void one_axis_is_shown_alone(void **state)
{
    (void)state;
    gdnn_conv conv = valid();
    conv.spatial = 1;
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NCHW), GDNN_OK);
    conv.stride[0] = 0;
    gdnn_check(&conv);
    assert_string_equal(gdnn_last_error(), "stride=0: must be at least 1");
}

static void what_lies_beyond_the_axes_is_not_looked_at(void **state)
{
    (void)state;
    gdnn_conv conv = valid();
    conv.in[2] = conv.filter[2] = conv.stride[2] = conv.dilation[2] = -7;
    conv.pad[2] = conv.pad_after[2] = INT64_MIN;
    conv.x_stride[4] = conv.w_stride[4] = conv.y_stride[4] = INT64_MIN;
    memset(conv.z_stride, 0xff, sizeof conv.z_stride);
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    conv.z = 1;
    assert_invalid(gdnn_check(&conv), "zstrides=-1x-1x-1x-1:", "at least 0");
}

static void legal_oddities(void **state)
{
    (void)state;
    /* Padding wider than the filter, stride wider than the input, huge dilation of a single tap. */
    gdnn_conv conv = valid();
    conv.filter[0] = 1;
    conv.pad[0] = 5;
    conv.pad_after[0] = 0;
    conv.stride[0] = INT64_C(1) << 61;
    conv.dilation[0] = INT64_C(1) << 61;
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NCHW), GDNN_OK);
    int64_t out[3] = {-1, -1, -1};
    assert_int_equal(gdnn_conv_out(&conv, out), GDNN_OK);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 11);
    assert_int_equal(out[2], -1);

    /* The filter exactly as large as the padded input. */
    conv = valid();
    conv.filter[0] = 11;
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NCHW), GDNN_OK);
    assert_int_equal(gdnn_out_size(&conv, 0), 1);

    /* Batches and groups above 65535, elements and bytes above 2^32. */
    conv = valid();
    conv.n = 100000;
    conv.c = conv.k = conv.groups = 70000;
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NHWC), GDNN_OK);
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    assert_true(gdnn_elements(&conv, GDNN_ROLE_X) == INT64_C(693000000000));
}

static void strides_that_repeat(void **state)
{
    (void)state;
    /* cuDNN takes stride 0 on x and y, whichever is written; decide declines a written one. */
    gdnn_conv conv = valid();
    memset(conv.x_stride, 0, sizeof conv.x_stride);
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    conv.y_stride[0] = 0;
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    conv.y_stride[0] = 5;
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    /* An axis of size 1 has no use for its stride, in w either. */
    conv = valid();
    conv.c = conv.groups;
    conv.w_stride[1] = 0;
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    conv.w_stride[1] = 12345;
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    /* Strides that were never set. */
    conv = valid();
    memset(conv.x_stride, 0, sizeof conv.x_stride);
    memset(conv.w_stride, 0, sizeof conv.w_stride);
    memset(conv.y_stride, 0, sizeof conv.y_stride);
    assert_invalid(gdnn_check(&conv), "wstrides=0x0x0x0", "gdnn_conv_set_layout");
}

static void set_layout_fills_all_four(void **state)
{
    (void)state;
    gdnn_conv conv = valid();
    static const int64_t x[] = {3168, 1, 352, 32}, w[] = {72, 1, 24, 8}, y[] = {4752, 1, 528, 48};
    assert_memory_equal(conv.x_stride, x, sizeof x);
    assert_memory_equal(conv.w_stride, w, sizeof w);
    assert_memory_equal(conv.y_stride, y, sizeof y);
    assert_memory_equal(conv.z_stride, y, sizeof y);
    assert_int_equal(gdnn_conv_set_layout(&conv, GDNN_NCHW), GDNN_OK);
    static const int64_t x2[] = {3168, 99, 11, 1}, w2[] = {72, 9, 3, 1}, y2[] = {4752, 99, 11, 1};
    assert_memory_equal(conv.x_stride, x2, sizeof x2);
    assert_memory_equal(conv.w_stride, w2, sizeof w2);
    assert_memory_equal(conv.y_stride, y2, sizeof y2);
    assert_memory_equal(conv.z_stride, y2, sizeof y2);
}

static void out_needs_the_axes_only(void **state)
{
    (void)state;
    gdnn_conv conv = valid();
    int64_t out[3] = {0};
    conv.n = conv.c = 0;
    conv.stride[1] = 2;
    assert_int_equal(gdnn_conv_out(&conv, out), GDNN_OK);
    assert_int_equal(out[0], 9);
    assert_int_equal(out[1], 6);
    conv.filter[1] = 14;
    assert_invalid(gdnn_conv_out(&conv, out), "axis 1", "no output");
}

/* The rules once more, in numbers that cannot overflow. */
typedef __int128 wide;
#define WIDE_LIMIT ((wide)1 << 62)

static bool span_fits(int dims, const int64_t *size, const int64_t *stride, int element,
                      bool filter)
{
    wide span = 1;
    for (int i = 0; i < dims; i++) {
        if (stride[i] < 0 || (filter && stride[i] == 0 && size[i] > 1))
            return false;
        /* An axis of size 1 needs no room, but its stride still has to be a sane number. */
        if ((wide)stride[i] * element >= WIDE_LIMIT)
            return false;
        span += (wide)(size[i] - 1) * stride[i];
        if (span * element >= WIDE_LIMIT)
            return false;
    }
    return true;
}

static bool elements_fit(int dims, const int64_t *size, int element)
{
    wide bytes = element;
    for (int i = 0; i < dims; i++)
        if ((bytes *= size[i]) >= WIDE_LIMIT)
            return false;
    return true;
}

static bool obeys_all_rules(const gdnn_conv *c)
{
    int dims = c->spatial + 2, element = c->dtype == GDNN_F16 ? 2 : 4;
    if (c->n < 1 || c->c < 1 || c->k < 1 || c->groups < 1 || c->c % c->groups || c->k % c->groups ||
        c->n >= WIDE_LIMIT || c->c >= WIDE_LIMIT || c->k >= WIDE_LIMIT)
        return false;
    int64_t x[5] = {c->n, c->c}, w[5] = {c->k, c->c / c->groups}, y[5] = {c->n, c->k};
    for (int i = 0; i < c->spatial; i++) {
        if (c->in[i] < 1 || c->filter[i] < 1 || c->pad[i] < 0 || c->pad_after[i] < 0 ||
            c->stride[i] < 1 || c->dilation[i] < 1)
            return false;
        wide padded = (wide)c->in[i] + c->pad[i] + c->pad_after[i];
        wide extent = (wide)(c->filter[i] - 1) * c->dilation[i] + 1;
        if (padded >= WIDE_LIMIT || extent > padded || c->stride[i] >= WIDE_LIMIT ||
            c->dilation[i] >= WIDE_LIMIT)
            return false;
        x[2 + i] = c->in[i];
        w[2 + i] = c->filter[i];
        y[2 + i] = (int64_t)((padded - extent) / c->stride[i] + 1);
    }
    return elements_fit(dims, x, element) && elements_fit(dims, w, element) &&
           elements_fit(dims, y, element) && span_fits(dims, x, c->x_stride, element, false) &&
           span_fits(dims, w, c->w_stride, element, true) &&
           span_fits(dims, y, c->y_stride, element, false) &&
           (!c->z || span_fits(dims, y, c->z_stride, element, false));
}

static int64_t wild_number(uint64_t *random)
{
    static const int64_t wild[] = {INT64_MIN,
                                   INT64_MIN + 1,
                                   -1,
                                   0,
                                   1,
                                   2,
                                   3,
                                   65536,
                                   INT32_MAX,
                                   INT64_C(1) << 31,
                                   INT64_C(1) << 32,
                                   INT64_C(1) << 59,
                                   INT64_C(1) << 60,
                                   INT64_C(1) << 61,
                                   (INT64_C(1) << 62) - 1,
                                   INT64_C(1) << 62,
                                   INT64_MAX - 1,
                                   INT64_MAX};
    int64_t value = wild[test_pick(random, 0, COUNT_OF(wild) - 1)];
    /* Also anything of any number of bits. */
    return test_pick(random, 0, 1) ? value
                                   : (int64_t)(test_random(random) >> test_pick(random, 1, 63));
}

static void agrees_with_wide_arithmetic(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    int passed = 0, failed = 0;
    for (int round = 0; round < 200000; round++) {
        gdnn_conv conv = valid();
        conv.spatial = (int)test_pick(&random, 1, 3);
        conv.z = (int)test_pick(&random, 0, 1);
        conv.dtype = test_pick(&random, 0, 1) ? GDNN_F16 : GDNN_F32;
        conv.in[2] = conv.filter[2] = 1;
        conv.c = conv.k = conv.groups = 4;
        if (gdnn_conv_set_layout(&conv, GDNN_NCHW))
            fail_msg("%s", gdnn_last_error());
        /* n to dilation lie in one row, then the strides; change a few of those numbers. */
        size_t count = (MEMBER(alpha) - MEMBER(n)) / sizeof(int64_t);
        for (int changes = (int)test_pick(&random, 1, 3); changes > 0; changes--) {
            size_t which = (size_t)test_pick(&random, 0, (int64_t)count - 1);
            int64_t number = wild_number(&random);
            memcpy((char *)&conv + MEMBER(n) + which * sizeof number, &number, sizeof number);
        }
        bool expected = obeys_all_rules(&conv);
        gdnn_status status = gdnn_check(&conv);
        if ((status == GDNN_OK) != expected) {
            char text[1024];
            gdnn_conv_format(&conv, text, sizeof text);
            fail_msg("round %d: %s, expected %s: %s", round, gdnn_status_name(status),
                     expected ? "ok" : "invalid", text);
        }
        if (expected && gdnn_span(&conv, GDNN_ROLE_X) < 1)
            fail_msg("round %d: the span overflows", round);
        passed += expected;
        failed += !expected;
    }
    assert_true(passed > 10000);
    assert_true(failed > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_problem_passes),
        cmocka_unit_test(null_is_invalid),
        cmocka_unit_test(words_and_flags),
        cmocka_unit_test(sums),
        cmocka_unit_test(extras_are_forward_only),
        cmocka_unit_test(reserved_is_zero),
        cmocka_unit_test(factors_are_finite_in_the_sums),
        cmocka_unit_test(each_number_has_its_range),
        cmocka_unit_test(one_axis_is_shown_alone),
        cmocka_unit_test(what_lies_beyond_the_axes_is_not_looked_at),
        cmocka_unit_test(legal_oddities),
        cmocka_unit_test(strides_that_repeat),
        cmocka_unit_test(set_layout_fills_all_four),
        cmocka_unit_test(out_needs_the_axes_only),
        cmocka_unit_test(agrees_with_wide_arithmetic),
    };
    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
