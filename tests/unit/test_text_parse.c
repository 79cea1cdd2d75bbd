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
    {"n=2, c=8", "n=2,: pairs are separated by blanks", "not commas"},
    {"n=2,c=8", "n=2,c=8: pairs are separated by blanks", "not commas"},
    {"in=9x9, c=8", "in=9x9,: pairs are separated by blanks", "not commas"},
    {"in=9 9", "\"9\": expected key=value", "values contain no blanks"},
    {"name=my layer", "\"layer\"", "values contain no blanks"},
    {"xstrides=4 2", "\"2\"", "values contain no blanks"},
    {MINIMAL "q=3", "unknown key \"q\"; the keys", ""},
    {MINIMAL "=3", "unknown key \"\"", ""},
    {MINIMAL "groups", "\"groups\"", "expected key=value"},
    {MINIMAL "n=3", "n=3", "n was given before"},
    {"name=a name=b", "name=b", "name was given before"},
    /* Words. */
    {MINIMAL "dtype=fp16", "dtype=fp16", "one of f16, bf16, f32, f64; did you mean f16?"},
    {MINIMAL "dtype=half", "dtype=half", "did you mean f16?"},
    {MINIMAL "dtype=float", "dtype=float", "did you mean f32?"},
    {MINIMAL "dtype=bfloat16", "dtype=bfloat16", "did you mean bf16?"},
    {MINIMAL "dtype=F16", "dtype=F16", "did you mean f16?"},
    {MINIMAL "dir=wgrad", "dir=wgrad", "did you mean bwd_filter?"},
    {MINIMAL "dtype=f1", "dtype=f1:", "one of f16"},
    {MINIMAL "dir=", "dir=:", "one of fwd, bwd_data, bwd_filter"},
    {MINIMAL "dir=forward", "dir=forward", "one of fwd, bwd_data, bwd_filter; did you mean fwd?"},
    {MINIMAL "layout=NHWC", "layout=NHWC", "one of nchw, nhwc; did you mean nhwc?"},
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
    {"xstrides=9,9", "xstrides=9,9:", "such as 64x16x4x1"},
    {"in=9,9", "in=9,9:", "such as 3x3"},
    {"in=9x99999999999999999999", "in=9x99999999999999999999", "64 bits"},
    {"in=1x2x3x4", "in=1x2x3x4", "at most 3"},
    {"pad=1x2x3x4", "pad=1x2x3x4", "at most 3"},
    {"xstrides=1x2x3x4x5x6", "xstrides=1x2x3x4x5x6", "at most 5"},
    {"n=2 c=8 in=9x9 k=8 filter=3", "in=9x9 and filter=3 differ", "axes: write filter=3x3"},
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
    {MINIMAL "z=1 zstrides=7", "zstrides=7", "must have 4"},
    /* What belongs to z. */
    {MINIMAL "alpha2=0.5", "alpha2=0.5: needs z=1", ""},
    {MINIMAL "alpha2=1", "alpha2=1: needs z=1", ""},
    {MINIMAL "z=0 alpha2=-2", "alpha2=-2: needs z=1", ""},
    {MINIMAL "zstrides=392x49x7x1", "zstrides=392x49x7x1: needs z=1", ""},
    {MINIMAL "zstrides=392x49x7x1 z=0", "zstrides=392x49x7x1: needs z=1", ""},
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

/* No advice where it would be wrong. */
static void messages_stay_short(void **state)
{
    static const struct {
        const char *text, *without;
    } cases[] = {
        {MINIMAL "gruops=2", "the keys are"},
        {"in=9x9 n", "; did you mean"},
        {"n=2 9", "blanks"},
        {"9", "blanks"},
        {"alpha=1,5", "commas"},
        {"dtype=f8", "did you mean"},
        {"act=half", "did you mean"},
        {"n=2 c=8 in=9 k=8 filter=3x3", "write"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv;
        assert_int_equal(gdnn_conv_parse(cases[i].text, &conv), GDNN_INVALID);
        if (strstr(gdnn_last_error(), cases[i].without))
            fail_msg("%s: %s", cases[i].text, gdnn_last_error());
    }
    gdnn_conv conv = parsed("name=a,b, n=2 c=8 in=9x9 k=8 filter=3x3"); /* a name may hold commas */
    assert_int_equal(conv.n, 2);
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
        cmocka_unit_test(messages_stay_short),
        cmocka_unit_test(null_is_named),
        cmocka_unit_test(a_very_long_value_is_cut),
        cmocka_unit_test(numbers_of_all_sizes),
        cmocka_unit_test(a_line_need_not_be_complete),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(garbage_does_no_harm),
    };
    return cmocka_run_group_tests_name("text_parse", tests, NULL, NULL);
}
