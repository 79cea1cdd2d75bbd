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

static void a_layer(void **state)
{
    (void)state;
    gdnn_conv conv = parsed("name=layer2.conv2 dir=bwd_filter dtype=f16 layout=nhwc n=128 c=256 "
                            "in=28x30 k=512 filter=3x5 pad=1x2 stride=2 groups=32 count=3");
    assert_int_equal(conv.dir, GDNN_BWD_FILTER);
    assert_int_equal(conv.dtype, GDNN_F16);
    assert_int_equal(conv.acc, GDNN_F32);
    assert_int_equal(conv.spatial, 2);
    assert_int_equal(conv.n, 128);
    assert_int_equal(conv.c, 256);
    assert_int_equal(conv.k, 512);
    assert_int_equal(conv.groups, 32);
    static const int64_t in[] = {28, 30, 0}, filter[] = {3, 5, 0}, pad[] = {1, 2, 0};
    static const int64_t stride[] = {2, 2, 1}, dilation[] = {1, 1, 1};
    assert_memory_equal(conv.in, in, sizeof in);
    assert_memory_equal(conv.filter, filter, sizeof filter);
    assert_memory_equal(conv.pad, pad, sizeof pad);
    assert_memory_equal(conv.pad_after, pad, sizeof pad);
    assert_memory_equal(conv.stride, stride, sizeof stride);
    assert_memory_equal(conv.dilation, dilation, sizeof dilation);
    static const int64_t x[] = {215040, 1, 7680, 256}, w[] = {120, 1, 40, 8};
    static const int64_t y[] = {107520, 1, 7680, 512};
    assert_memory_equal(conv.x_stride, x, sizeof x);
    assert_memory_equal(conv.w_stride, w, sizeof w);
    assert_memory_equal(conv.y_stride, y, sizeof y);
}

static void defaults(void **state)
{
    (void)state;
    gdnn_conv conv = parsed("n=1 c=4 in=16 k=4 filter=3"), plain;
    gdnn_conv_init(&plain);
    plain.spatial = 1;
    plain.n = 1;
    plain.c = plain.k = 4;
    plain.in[0] = 16;
    plain.filter[0] = 3;
    assert_int_equal(gdnn_conv_set_layout(&plain, GDNN_NCHW), GDNN_OK);
    assert_true(gdnn_conv_equal(&conv, &plain));
    assert_int_equal(parsed("n=1 c=4 in=16 k=4 filter=3 dtype=f64").acc, GDNN_F64);
    assert_int_equal(parsed("n=1 c=4 in=16 k=4 filter=3 dtype=f16 acc=f16").acc, GDNN_F16);
}

static void everything_at_once(void **state)
{
    (void)state;
    gdnn_conv conv = parsed(
        "  act=relu z=1 bias=1 alpha2=-0.25 beta=1e-3 alpha=0.1 math=tf32 mode=conv\tgroups=2 "
        "zstrides=400x50x25x5x1 ystrides=200x100x25x5x1 wstrides=27x27x9x3x1 "
        "xstrides=1000x500x100x10x1 dilation=1x1x2 stride=1x1x1 pad_after=1x1x2 pad=1x1x2 "
        "filter=3x3x3 k=2 in=4x5x5 c=2 n=3 # and more\n");
    assert_int_equal(conv.act, GDNN_ACT_RELU);
    assert_int_equal(conv.mode, GDNN_CONV);
    assert_int_equal(conv.math, GDNN_MATH_TF32);
    assert_int_equal(conv.bias, 1);
    assert_int_equal(conv.z, 1);
    assert_true(conv.alpha == 0.1 && conv.beta == 0.001 && conv.alpha2 == -0.25);
    static const int64_t x[] = {1000, 500, 100, 10, 1}, w[] = {27, 27, 9, 3, 1};
    static const int64_t y[] = {200, 100, 25, 5, 1}, z[] = {400, 50, 25, 5, 1};
    assert_memory_equal(conv.x_stride, x, sizeof x);
    assert_memory_equal(conv.w_stride, w, sizeof w);
    assert_memory_equal(conv.y_stride, y, sizeof y);
    assert_memory_equal(conv.z_stride, z, sizeof z);
}

static void z_lies_like_y(void **state)
{
    (void)state;
    gdnn_conv conv = parsed("n=1 c=2 in=4 k=2 filter=1 z=1 layout=nhwc");
    assert_memory_equal(conv.z_stride, conv.y_stride, sizeof conv.y_stride);
    conv = parsed("n=1 c=2 in=4 k=2 filter=1 z=1 xstrides=8x4x1 wstrides=2x1x1 ystrides=30x10x2");
    assert_memory_equal(conv.z_stride, conv.y_stride, sizeof conv.y_stride);
    conv = parsed("n=1 c=2 in=4 k=2 filter=1 z=1 layout=nhwc zstrides=8x4x1");
    static const int64_t z[] = {8, 4, 1};
    assert_memory_equal(conv.z_stride, z, sizeof z);
}

#define MINIMAL "n=2 c=8 in=9x9 k=8 filter=3x3 "

static const struct {
    const char *text, *first, *second;
} errors[] = {
    {"", "empty", "n, c, in, k and filter"},
    {"   # nothing", "empty", "n, c, in, k and filter"},
    {"c=8 in=9x9 k=8 filter=3x3", "n is missing", "n, c, in, k and filter"},
    {"n=2 in=9x9 k=8 filter=3x3", "c is missing", ""},
    {"n=2 c=8 k=8 filter=3x3", "in is missing", ""},
    {"n=2 c=8 in=9x9 filter=3x3", "k is missing", ""},
    {"n=2 c=8 in=9x9 k=8", "filter is missing", ""},
    /* Keys. */
    {MINIMAL "gruops=2", "unknown key \"gruops\"", "did you mean groups?"},
    {MINIMAL "dilatoin=2", "unknown key \"dilatoin\"", "did you mean dilation?"},
    {MINIMAL "strides=2", "unknown key \"strides\"", "did you mean stride?"},
    {MINIMAL "padafter=2", "unknown key \"padafter\"", "did you mean pad_after?"},
    {"N=2", "unknown key \"N\"", "did you mean n?"},
    {MINIMAL "kernel=3",
     "unknown key \"kernel\"; the keys are name, dir, dtype, acc, layout, n, c, "
     "in, k, filter, pad,",
     "zstrides, mode, math, alpha, beta, bias, z, alpha2, "
     "act, count"},
    {MINIMAL "q=3", "unknown key \"q\"; the keys", ""},
    {MINIMAL "=3", "unknown key \"\"", ""},
    {MINIMAL "groups", "\"groups\"", "expected key=value"},
    {MINIMAL "n=3", "n=3", "n was given before"},
    {"name=a name=b", "name=b", "name was given before"},
    /* Words. */
    {MINIMAL "dtype=fp16", "dtype=fp16", "one of f16, bf16, f32, f64"},
    {MINIMAL "dtype=f1", "dtype=f1:", "one of f16"},
    {MINIMAL "dir=", "dir=:", "one of fwd, bwd_data, bwd_filter"},
    {MINIMAL "dir=forward", "dir=forward", "one of fwd, bwd_data, bwd_filter"},
    {MINIMAL "layout=NHWC", "layout=NHWC", "one of nchw, nhwc"},
    {MINIMAL "acc=tf32", "acc=tf32", "one of f16, bf16, f32, f64"},
    {MINIMAL "mode=true", "mode=true", "one of xcorr, conv"},
    {MINIMAL "math=f16", "math=f16", "one of f32, tf32"},
    {MINIMAL "act=gelu", "act=gelu", "one of none, relu"},
    /* Whole numbers. */
    {"n= c=8", "n=:", "whole number"},
    {"n=2.5", "n=2.5", "whole number"},
    {"n=2a", "n=2a", "whole number"},
    {"n=0x10", "n=0x10", "whole number"},
    {"n=-", "n=-:", "whole number"},
    {"n=--3", "n=--3", "whole number"},
    {"n=1e3", "n=1e3", "whole number"},
    {"n=9223372036854775808", "n=9223372036854775808", "64 bits"},
    {"n=-9223372036854775809", "n=-9223372036854775809", "64 bits"},
    {"n=99999999999999999999999999", "n=99999999999999999999999999", "64 bits"},
    {MINIMAL "count=0", "count=0", "at least 1"},
    {MINIMAL "count=x", "count=x", "whole number"},
    /* Axes. */
    {"in=9x", "in=9x:", "joined by x"},
    {"in=x9", "in=x9:", "joined by x"},
    {"in=9xx9", "in=9xx9:", "joined by x"},
    {"in=9X9", "in=9X9:", "joined by x"},
    {"in=9,9", "in=9,9:", "joined by x"},
    {"in=", "in=:", "joined by x"},
    {"in=9x99999999999999999999", "in=9x99999999999999999999", "64 bits"},
    {"in=1x2x3x4", "in=1x2x3x4", "at most 3"},
    {"pad=1x2x3x4", "pad=1x2x3x4", "at most 3"},
    {"xstrides=1x2x3x4x5x6", "xstrides=1x2x3x4x5x6", "at most 5"},
    {"n=2 c=8 in=9x9 k=8 filter=3", "in=9x9 and filter=3 differ", "axes"},
    {"n=2 c=8 in=9 k=8 filter=3x3", "in=9 and filter=3x3 differ", "axes"},
    {MINIMAL "pad=1x1x1", "pad=1x1x1", "must have 2, or one for all"},
    {"n=2 c=8 in=9 k=8 filter=3 stride=1x1", "stride=1x1", "1 spatial axis it must have 1"},
    {"n=2 c=8 in=9x9x9 k=8 filter=3x3x3 dilation=1x2", "dilation=1x2", "must have 3"},
    /* Strides. */
    {MINIMAL "xstrides=1x2x3", "xstrides", ""},
    {MINIMAL "xstrides=648x81x9x1", "wstrides is missing", "xstrides was given"},
    {MINIMAL "xstrides=648x81x9x1 wstrides=72x9x3x1", "ystrides is missing", "was given"},
    {MINIMAL "ystrides=648x81x9x1 wstrides=72x9x3x1", "xstrides is missing", "was given"},
    {MINIMAL "xstrides=648x81x9x1 wstrides=72x9x3x1 ystrides=392x49x7x1 layout=nchw", "layout=nchw",
     "leave it out"},
    {MINIMAL "xstrides=648x81x9 wstrides=72x9x3x1 ystrides=392x49x7x1", "xstrides=648x81x9",
     "must have 4"},
    {MINIMAL "zstrides=7", "zstrides=7", "must have 4"},
    {MINIMAL "xstrides=648x81x9x-1 wstrides=72x9x3x1 ystrides=392x49x7x1", "xstrides=648x81x9x-1",
     "at least 0"},
    /* Real numbers, flags. */
    {MINIMAL "alpha=", "alpha=:", "number"},
    {MINIMAL "alpha=1,5", "alpha=1,5", "number"},
    {MINIMAL "alpha=1.5f", "alpha=1.5f", "number"},
    {MINIMAL "beta=two", "beta=two", "number"},
    {MINIMAL "alpha2=1e999", "alpha2=1e999", "fits in a double"},
    {MINIMAL "alpha=-1e999", "alpha=-1e999", "fits in a double"},
    {MINIMAL "bias=yes", "bias=yes", "0 or 1"},
    {MINIMAL "bias=2", "bias=2", "0 or 1"},
    {MINIMAL "z=", "z=:", "0 or 1"},
    {MINIMAL "z=01", "z=01", "0 or 1"},
    /* Rules of gdnn_check show through. */
    {"n=0 c=8 in=9x9 k=8 filter=3x3", "n=0", "at least 1"},
    {"n=2 c=30 in=9x9 k=8 filter=3x3 groups=4", "c=30 is not a multiple of groups=4", ""},
    {"n=2 c=8 in=9x9 k=6 filter=3x3 groups=4", "k=6 is not a multiple of groups=4", ""},
    {MINIMAL "pad=-1", "pad=-1", "at least 0"},
    {MINIMAL "stride=0", "stride=0", "at least 1"},
    {MINIMAL "groups=0", "groups=0", "at least 1"},
    {"n=2 c=8 in=9x2 k=8 filter=3x3", "axis 1 has no output", "filter=3"},
    {MINIMAL "dir=bwd_data bias=1", "bias=1", "dir=fwd"},
    /* Two problems are not one. */
    {"n=2 c=8 in=9x9 k=8 filter=3x3 # one\nn=3", "n=3", "was given before"},
};

static void wrong_text_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        gdnn_conv conv;
        memset(&conv, 0x5a, sizeof conv);
        gdnn_conv before = conv;
        gdnn_status status = gdnn_conv_parse(errors[i].text, &conv);
        if (status != GDNN_INVALID)
            fail_msg("%s: %s", errors[i].text, gdnn_status_name(status));
        assert_contains(gdnn_last_error(), errors[i].first);
        assert_contains(gdnn_last_error(), errors[i].second);
        assert_memory_equal(&conv, &before, sizeof conv);
    }
}

static void null_is_named(void **state)
{
    (void)state;
    gdnn_conv conv;
    assert_int_equal(gdnn_conv_parse(NULL, &conv), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "text is NULL");
    assert_int_equal(gdnn_conv_parse(MINIMAL, NULL), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "conv is NULL");
}

static void a_very_long_value_is_cut(void **state)
{
    (void)state;
    char text[20000] = "n=";
    memset(text + 2, '7', sizeof text - 3);
    gdnn_conv conv;
    assert_int_equal(gdnn_conv_parse(text, &conv), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "777...: does not fit");
    assert_true(strlen(gdnn_last_error()) < 200);
    memset(text, 'k', sizeof text - 1);
    assert_int_equal(gdnn_conv_parse(text, &conv), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "kkk...\": expected key=value");
    text[300] = '=';
    assert_int_equal(gdnn_conv_parse(text, &conv), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "kkk...\"; the keys are");
}

static void numbers_of_all_sizes(void **state)
{
    (void)state;
    gdnn_text text;
    bool empty;
    assert_int_equal(
        gdnn_text_parse("n=9223372036854775807 c=-9223372036854775808 k=+007", &text, &empty),
        GDNN_OK);
    assert_true(text.conv.n == INT64_MAX);
    assert_true(text.conv.c == INT64_MIN);
    assert_int_equal(text.conv.k, 7);
    assert_int_equal(gdnn_text_parse("alpha=inf beta=-nan alpha2=0x1p-3", &text, &empty), GDNN_OK);
    assert_true(isinf(text.conv.alpha) && isnan(text.conv.beta) && text.conv.alpha2 == 0.125);
    assert_int_equal(gdnn_text_parse("alpha=1e-320 beta=.5 alpha2=-0", &text, &empty), GDNN_OK);
    assert_true(text.conv.alpha == 1e-320 && text.conv.beta == 0.5 && signbit(text.conv.alpha2));
}

static void a_line_need_not_be_complete(void **state)
{
    (void)state;
    gdnn_text text;
    gdnn_conv conv;
    bool empty;
    assert_int_equal(gdnn_text_parse(" \t# only a comment", &text, &empty), GDNN_OK);
    assert_true(empty);
    assert_int_equal(gdnn_text_parse("name=conv1 groups=2 pad=1 count=3#x", &text, &empty),
                     GDNN_OK);
    assert_false(empty);
    assert_string_equal(text.name, "conv1");
    assert_int_equal(text.count, 3);
    assert_true(gdnn_text_has(&text, GDNN_KEY_groups));
    assert_true(gdnn_text_has(&text, GDNN_KEY_count));
    assert_false(gdnn_text_has(&text, GDNN_KEY_dir));
    assert_false(gdnn_text_has(&text, GDNN_KEY_n));
    assert_int_equal(gdnn_text_finish(&text, &conv), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "n is missing");

    /* The rest comes from elsewhere. */
    text.conv.spatial = 3;
    text.conv.n = 1;
    text.conv.c = text.conv.k = 4;
    for (int i = 0; i < 3; i++) {
        text.conv.in[i] = 5;
        text.conv.filter[i] = 3;
    }
    text.conv.dtype = GDNN_F64;
    text.layout = GDNN_NHWC;
    static const gdnn_key set[] = {GDNN_KEY_n, GDNN_KEY_c, GDNN_KEY_k, GDNN_KEY_in,
                                   GDNN_KEY_filter};
    for (size_t i = 0; i < COUNT_OF(set); i++)
        text.given |= UINT64_C(1) << set[i];
    assert_int_equal(gdnn_text_finish(&text, &conv), GDNN_OK);
    assert_int_equal(conv.acc, GDNN_F64);
    assert_int_equal(conv.pad[2], 1);
    assert_int_equal(conv.pad_after[2], 1);
    assert_int_equal(conv.x_stride[1], 1);
    text.conv.spatial = 9;
    assert_int_equal(gdnn_text_finish(&text, &conv), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "9 spatial axes");
}

static void long_names_are_cut(void **state)
{
    (void)state;
    char line[200] = "name=";
    memset(line + 5, 'b', 100);
    gdnn_text text;
    bool empty;
    assert_int_equal(gdnn_text_parse(line, &text, &empty), GDNN_OK);
    assert_int_equal(strlen(text.name), 63);
}

static const struct {
    const char *text, *printed;
} prints[] = {
    {MINIMAL, "dir=fwd dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3"},
    {"dtype=f64 " MINIMAL, "dir=fwd dtype=f64 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3"},
    {"dtype=f16 acc=f16 layout=nhwc n=1 c=4 in=16 k=4 filter=3 pad=2 pad_after=0 groups=4",
     "dir=fwd dtype=f16 acc=f16 layout=nhwc n=1 c=4 in=16 k=4 filter=3 pad=2 pad_after=0 groups=4"},
    {MINIMAL "pad=1x1 stride=2x1 dilation=1x1 alpha=0.1 beta=-1.5 act=relu bias=1 z=1 alpha2=1e300",
     "dir=fwd dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3 pad=1 stride=2x1 alpha=0.1 "
     "beta=-1.5 bias=1 z=1 alpha2=1e+300 act=relu"},
    {MINIMAL "dir=bwd_data mode=conv math=tf32 alpha=inf beta=nan",
     "dir=bwd_data dtype=f32 layout=nchw n=2 c=8 in=9x9 k=8 filter=3x3 mode=conv math=tf32 "
     "alpha=inf beta=nan"},
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

static double random_scale(uint64_t *random)
{
    uint64_t bits = test_random(random);
    double value;
    memcpy(&value, &bits, sizeof value);
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

/* Any bytes: an answer, and never a problem that breaks a rule. */
static void garbage_does_no_harm(void **state)
{
    (void)state;
    static const char *const pieces[] = {"n",
                                         "=",
                                         "2",
                                         "c=8 ",
                                         "in=9x9 ",
                                         "k=8 ",
                                         "filter=3x3 ",
                                         "groups=",
                                         "x",
                                         " ",
                                         "#",
                                         "\n",
                                         "pad=",
                                         "-",
                                         "1",
                                         "alpha=",
                                         "1e",
                                         "nan",
                                         "\xff",
                                         "dir=",
                                         "bwd_data",
                                         "xstrides=",
                                         "wstrides=1x1x1x1 ",
                                         "ystrides=1x1x1x1 ",
                                         "\t"};
    uint64_t random = test_seed();
    int accepted = 0;
    for (int round = 0; round < 50000; round++) {
        char text[512] = "";
        if (test_pick(&random, 0, 1))
            strcpy(text, MINIMAL);
        for (int count = (int)test_pick(&random, 0, 12); count > 0; count--)
            strcat(text, pieces[test_pick(&random, 0, COUNT_OF(pieces) - 1)]);
        gdnn_conv conv;
        if (gdnn_conv_parse(text, &conv))
            continue;
        accepted++;
        assert_int_equal(gdnn_check(&conv), GDNN_OK);
    }
    assert_true(accepted > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer),
        cmocka_unit_test(defaults),
        cmocka_unit_test(everything_at_once),
        cmocka_unit_test(z_lies_like_y),
        cmocka_unit_test(wrong_text_is_named),
        cmocka_unit_test(null_is_named),
        cmocka_unit_test(a_very_long_value_is_cut),
        cmocka_unit_test(numbers_of_all_sizes),
        cmocka_unit_test(a_line_need_not_be_complete),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(prints_what_differs),
        cmocka_unit_test(a_name_goes_in_front),
        cmocka_unit_test(cuts_like_snprintf),
        cmocka_unit_test(broken_problems_are_shown),
        cmocka_unit_test(a_thousand_bytes_suffice),
        cmocka_unit_test(what_is_printed_reads_back),
        cmocka_unit_test(garbage_does_no_harm),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
