#include "problem.h"
#include "text.h"
#include "unit.h"
#include <math.h>

static gdnn_conv parsed(const char *text)
{
    gdnn_conv conv;
    if (gdnn_conv_parse(text, &conv))
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

#define MINIMAL "n=2 c=8 in=9x9 k=8 filter=3x3 "

static const struct {
    const char *text, *printed;
} prints[] = {
    {MINIMAL, "dir=fwd dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3"},
    {"dtype=f64 " MINIMAL, "dir=fwd dtype=f64 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3"},
    {"dtype=f16 acc=f16 layout=nhwc n=1 c=4 in=16 k=4 filter=3 pad=2 pad_after=0 groups=4",
     "dir=fwd dtype=f16 acc=f16 layout=nhwc n=1 c=4 in=16 k=4 filter=3 pad=2 pad_after=0 groups=4"},
    {MINIMAL "pad=1x1 stride=2x1 dilation=1x1 alpha=0.1 beta=-1.5 act=relu bias=1 z=1 alpha2=1e30",
     "dir=fwd dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3 pad=1 stride=2x1 alpha=0.1 "
     "beta=-1.5 bias=1 z=1 alpha2=1e+30 act=relu"},
    {MINIMAL "dir=bwd_data mode=conv math=tf32 alpha=-2.5 beta=1e-300",
     "dir=bwd_data dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3 mode=conv math=tf32 "
     "alpha=-2.5 beta=1e-300"},
    {MINIMAL "alpha=0.3333333333333333 beta=5e-324",
     "dir=fwd dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3 alpha=0.3333333333333333 "
     "beta=5e-324"},
    /* Strides appear only where no layout says the same. */
    {MINIMAL "xstrides=648x81x9x1 wstrides=72x9x3x1 ystrides=392x49x7x1",
     "dir=fwd dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3"},
    {MINIMAL "xstrides=648x81x9x1 wstrides=72x9x3x1 ystrides=392x1x56x8",
     "dir=fwd dtype=f32 n=2 c=8 in=9x9 k=8 filter=3x3 xstrides=648x81x9x1 wstrides=72x9x3x1 "
     "ystrides=392x1x56x8"},
    {MINIMAL "z=1 zstrides=392x1x56x8",
     "dir=fwd dtype=f32 n=2 c=8 in=9x9 k=8 filter=3x3 xstrides=648x81x9x1 wstrides=72x9x3x1 "
     "ystrides=392x49x7x1 zstrides=392x1x56x8 z=1"},
};

static void prints_what_differs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(prints); i++) {
        char text[1024];
        gdnn_conv conv = parsed(prints[i].text);
        size_t length = gdnn_conv_format(&conv, text, sizeof text);
        assert_string_equal(text, prints[i].printed);
        assert_int_equal(length, strlen(text));
    }
}

static void a_name_goes_in_front(void **state)
{
    (void)state;
    char text[1024];
    gdnn_conv conv = parsed("n=1 c=1 in=1 k=1 filter=1");
    gdnn_text_format(&conv, "a b#c\n", text, sizeof text);
    assert_string_equal(text,
                        "name=a_b_c_ dir=fwd dtype=f32 layout=nchw n=1 c=1 in=1 k=1 filter=1");
    gdnn_text_format(&conv, "", text, sizeof text);
    assert_string_equal(text, "dir=fwd dtype=f32 layout=nchw n=1 c=1 in=1 k=1 filter=1");
}

/* What belongs to z is not printed without it, since it could not be read again. */
static void without_z_its_scale_is_not_printed(void **state)
{
    (void)state;
    char text[1024];
    gdnn_conv conv = parsed(MINIMAL "z=1 alpha2=0.5 zstrides=392x1x56x8");
    conv.z = 0;
    gdnn_conv_format(&conv, text, sizeof text);
    assert_string_equal(text, "dir=fwd dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3");
    gdnn_conv back = parsed(text);
    assert_true(gdnn_conv_equal(&conv, &back));
}

static void cuts_like_snprintf(void **state)
{
    (void)state;
    char whole[1024], part[1024];
    gdnn_conv conv = parsed(MINIMAL "groups=8 alpha=0.5");
    size_t length = gdnn_conv_format(&conv, whole, sizeof whole);
    assert_int_equal(gdnn_conv_format(&conv, NULL, 0), length);
    for (size_t size = 1; size <= length + 1; size++) {
        memset(part, '!', sizeof part);
        assert_int_equal(gdnn_conv_format(&conv, part, size), length);
        assert_int_equal(strlen(part), size - 1);
        assert_memory_equal(part, whole, size - 1);
        assert_int_equal(part[size], '!');
    }
}

static void broken_problems_are_shown(void **state)
{
    (void)state;
    char text[1024];
    gdnn_conv conv;
    memset(&conv, 0xff, sizeof conv);
    gdnn_conv_format(&conv, text, sizeof text);
    assert_contains(text, "dir=-1");
    assert_contains(text, "groups=-1");
    conv.spatial = 77;
    gdnn_conv_format(&conv, text, sizeof text);
    assert_contains(text, "in=-1x-1x-1");
    memset(&conv, 0, sizeof conv);
    gdnn_conv_format(&conv, text, sizeof text);
    assert_contains(text, "groups=0");
    gdnn_conv_init(&conv);
    conv.in[0] = INT64_MIN;
    conv.groups = INT64_MAX;
    conv.c = INT64_MIN;
    gdnn_conv_format(&conv, text, sizeof text);
    assert_contains(text, "c=-9223372036854775808");
    assert_contains(text, "in=-9223372036854775808x0");
}

/* The longest text there can be: many digits in every number. */
static void a_thousand_bytes_suffice(void **state)
{
    (void)state;
    char text[4096];
    const int64_t big = (INT64_C(1) << 62) - 1;
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.spatial = 3;
    conv.dtype = GDNN_BF16;
    conv.acc = GDNN_F64;
    conv.mode = GDNN_CONV;
    conv.math = GDNN_MATH_TF32;
    conv.act = GDNN_ACT_RELU;
    conv.bias = conv.z = 1;
    conv.n = conv.k = 1;
    conv.c = 1;
    for (int i = 0; i < 3; i++) {
        conv.in[i] = 1;
        conv.filter[i] = 1;
        conv.pad[i] = big / 2 - 2;
        conv.pad_after[i] = big / 2 - 3 - i;
        conv.stride[i] = big - i;
        conv.dilation[i] = big - i;
    }
    for (int i = 0; i < GDNN_MAX_DIMS; i++) {
        conv.x_stride[i] = conv.w_stride[i] = conv.y_stride[i] = big / 2 - i;
        conv.z_stride[i] = big / 2 - 10 - i;
    }
    conv.alpha = conv.beta = conv.alpha2 = -2.2250738585072014e-308;
    /* Something must keep it from being a plain nchw. */
    conv.n = 2;
    conv.x_stride[0] = conv.y_stride[0] = conv.z_stride[0] = big / 4 - 1;
    assert_int_equal(gdnn_check(&conv), GDNN_OK);
    size_t length = gdnn_conv_format(&conv, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_in_range(length, 700, 900);
    gdnn_conv back = parsed(text);
    assert_true(gdnn_conv_equal(&conv, &back));
    /* n, c, k, in and filter together can have some forty digits more, and groups nineteen. */
    assert_in_range(length + 40 + sizeof " groups=" + 19, 700, 1023);
}

static void null_is_said(void **state)
{
    (void)state;
    gdnn_conv conv = parsed(MINIMAL);
    char text[8] = "before";
    assert_int_equal(gdnn_conv_format(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_non_null(strstr(gdnn_last_error(), "conv is NULL"));
    assert_int_equal(gdnn_conv_format(&conv, NULL, 8), 0);
    assert_non_null(strstr(gdnn_last_error(), "text is NULL"));
    assert_true(gdnn_conv_format(&conv, NULL, 0) > 40);
}

static double random_scale(uint64_t *random)
{
    double value = ldexp((double)(int64_t)test_random(random), (int)test_pick(random, -1100, 64));
    return test_pick(random, 0, 1) ? value : (double)test_pick(random, -3, 3) / 4;
}

/* Any strides at all, packed in either layout, or packed in another order with gaps. */
static void random_strides(uint64_t *random, int dims, const int64_t *size, int64_t *stride)
{
    gdnn_packed(dims, size, test_pick(random, 0, 1) ? GDNN_NHWC : GDNN_NCHW, stride);
    for (int i = 0; i < dims; i++)
        if (test_pick(random, 0, 9) == 0)
            stride[i] = test_pick(random, 1, 1000);
}

static gdnn_conv random_conv(uint64_t *random)
{
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.dir = (gdnn_dir)test_pick(random, 0, 2);
    conv.dtype = (gdnn_dtype)test_pick(random, 0, 3);
    conv.acc = conv.dtype == GDNN_F64    ? GDNN_F64
               : test_pick(random, 0, 1) ? GDNN_F32
                                         : (gdnn_dtype)(test_pick(random, 0, 1) * 3);
    conv.mode = (gdnn_mode)test_pick(random, 0, 1);
    conv.math = (gdnn_math)test_pick(random, 0, 1);
    if (conv.dir == GDNN_FWD) {
        conv.bias = (int)test_pick(random, 0, 1);
        conv.z = (int)test_pick(random, 0, 1);
        conv.act = (gdnn_act)test_pick(random, 0, 1);
    }
    conv.spatial = (int)test_pick(random, 1, 3);
    conv.groups = test_pick(random, 1, 9);
    conv.n = test_pick(random, 1, 3);
    conv.c = conv.groups * test_pick(random, 1, 3);
    conv.k = conv.groups * test_pick(random, 1, 3);
    for (int i = 0; i < conv.spatial; i++) {
        conv.filter[i] = test_pick(random, 1, 4);
        conv.dilation[i] = test_pick(random, 1, 2);
        conv.in[i] = test_pick(random, 1, 8) + (conv.filter[i] - 1) * conv.dilation[i];
        conv.pad[i] = test_pick(random, 0, 2);
        conv.pad_after[i] = test_pick(random, 0, 2);
        conv.stride[i] = test_pick(random, 1, 3);
    }
    if (test_pick(random, 0, 1))
        memcpy(conv.pad_after, conv.pad, sizeof conv.pad);
    conv.alpha = random_scale(random);
    conv.beta = random_scale(random);
    conv.alpha2 = random_scale(random);
    gdnn_layout layout = test_pick(random, 0, 1) ? GDNN_NHWC : GDNN_NCHW;
    if (gdnn_conv_set_layout(&conv, layout))
        fail_msg("%s", gdnn_last_error());
    if (test_pick(random, 0, 1)) {
        int64_t size[GDNN_MAX_DIMS];
        gdnn_sizes(&conv, GDNN_ROLE_X, size);
        random_strides(random, gdnn_dims(&conv), size, conv.x_stride);
        gdnn_sizes(&conv, GDNN_ROLE_W, size);
        random_strides(random, gdnn_dims(&conv), size, conv.w_stride);
        gdnn_sizes(&conv, GDNN_ROLE_Y, size);
        random_strides(random, gdnn_dims(&conv), size, conv.y_stride);
        random_strides(random, gdnn_dims(&conv), size, conv.z_stride);
    }
    return conv;
}

static void what_is_printed_reads_back(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    int layouts = 0, strides = 0;
    for (int round = 0; round < 20000; round++) {
        gdnn_conv conv = random_conv(&random), back;
        char text[1024], again[1024];
        size_t length = gdnn_conv_format(&conv, text, sizeof text);
        if (gdnn_conv_parse(text, &back))
            fail_msg("round %d: %s: %s", round, text, gdnn_last_error());
        if (length >= sizeof text || !gdnn_conv_equal(&conv, &back))
            fail_msg("round %d: read back differently: %s", round, text);
        gdnn_conv_format(&back, again, sizeof again);
        assert_string_equal(again, text);
        *(strstr(text, "layout=") ? &layouts : &strides) += 1;
    }
    assert_true(layouts > 1000);
    assert_true(strides > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_said),
        cmocka_unit_test(prints_what_differs),
        cmocka_unit_test(a_name_goes_in_front),
        cmocka_unit_test(without_z_its_scale_is_not_printed),
        cmocka_unit_test(cuts_like_snprintf),
        cmocka_unit_test(broken_problems_are_shown),
        cmocka_unit_test(a_thousand_bytes_suffice),
        cmocka_unit_test(what_is_printed_reads_back),
    };
    return cmocka_run_group_tests_name("text_format", tests, NULL, NULL);
}
