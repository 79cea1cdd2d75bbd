/* decide: every reason it can give, the modes, the options, and which variant a problem gets. */
#include "decide.h"
#include "device.h"
#include "problem.h"
#include "unit.h"

static gdnn_device h200(void)
{
    gdnn_device device;
    assert_int_equal(gdnn_device_known("h200", &device), GDNN_OK);
    return device;
}

static gdnn_options options_for(gdnn_run_mode mode)
{
    gdnn_options options;
    gdnn_options_init(&options);
    options.mode = mode;
    return options;
}

static gdnn_conv problem(const char *text)
{
    gdnn_conv conv;
    if (gdnn_conv_parse(text, &conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

static const char usual[] = "dir=fwd dtype=f16 n=2 c=8 in=5x5 k=8 filter=3x3 pad=1 groups=4";

static gdnn_decision decide(const gdnn_conv *conv, const gdnn_options *options)
{
    gdnn_device device = h200();
    return gdnn_decide(conv, 0, &device, options);
}

static gdnn_decision forced(const gdnn_conv *conv)
{
    gdnn_options options = options_for(GDNN_MODE_FORCE);
    return decide(conv, &options);
}

/* A reason that is not TAKEN and comes before any kernel was found leaves no kernel behind. */
static void assert_declined(gdnn_decision decision, gdnn_reason reason)
{
    assert_string_equal(gdnn_reason_name(decision.reason), gdnn_reason_name(reason));
    assert_null(decision.launch.kernel);
    assert_string_equal(decision.evidence, "none");
}

static void reasons_have_names_and_sentences(void **state)
{
    (void)state;
    for (int i = 0; i < GDNN_REASONS; i++) {
        assert_true(strlen(gdnn_reason_name((gdnn_reason)i)) > 2);
        assert_true(strlen(gdnn_reason_sentence((gdnn_reason)i)) > 10);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(gdnn_reason_name((gdnn_reason)i),
                                    gdnn_reason_name((gdnn_reason)j));
    }
    assert_string_equal(gdnn_reason_name(GDNN_REASON_TAKEN), "taken");
}

static void force_takes_every_direction_type_and_layout(void **state)
{
    (void)state;
    static const char *const dirs[] = {"fwd", "bwd_data", "bwd_filter"};
    static const char *const dtypes[] = {"f16", "bf16", "f32", "f64"};
    static const char *const layouts[] = {"nchw", "nhwc"};
    for (int dir = 0; dir < 3; dir++)
        for (int dtype = 0; dtype < 4; dtype++)
            for (int layout = 0; layout < 2; layout++) {
                char text[256];
                snprintf(text, sizeof text,
                         "dir=%s dtype=%s layout=%s n=9 c=8 in=5x6 k=8 filter=3x2 pad=1 groups=4",
                         dirs[dir], dtypes[dtype], layouts[layout]);
                gdnn_conv conv = problem(text);
                gdnn_decision decision = forced(&conv);
                assert_int_equal(decision.reason, GDNN_REASON_TAKEN);
                assert_int_equal(decision.launch.kernel->dir, dir);
                assert_int_equal(decision.launch.dtype, dtype);
                assert_int_equal(decision.launch.variant, layout);
                assert_true(decision.launch.blocks > 0);
                assert_int_equal(decision.launch.threads, 256);
                assert_in_range(decision.launch.launches, 1, 2);
            }
}

static void invalid(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual);
    conv.groups = 3;
    assert_declined(forced(&conv), GDNN_REASON_INVALID);
}

static void modes(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual);
    gdnn_options options = options_for(GDNN_MODE_OFF);
    assert_declined(decide(&conv, &options), GDNN_REASON_MODE_OFF);

    static const gdnn_run_mode need_evidence[] = {GDNN_MODE_ON, GDNN_MODE_OBSERVE};
    conv.dtype = conv.acc = GDNN_F64; /* no family has evidence in f64 */
    for (size_t i = 0; i < COUNT_OF(need_evidence); i++) {
        options = options_for(need_evidence[i]);
        gdnn_decision decision = decide(&conv, &options);
        assert_int_equal(decision.reason, GDNN_REASON_NO_EVIDENCE);
        /* what would run it is named all the same */
        assert_string_equal(decision.launch.kernel->name, "direct_fwd");
        assert_string_equal(decision.evidence, "none");
    }
    static const gdnn_run_mode need_none[] = {GDNN_MODE_FORCE, GDNN_MODE_VERIFY};
    for (size_t i = 0; i < COUNT_OF(need_none); i++) {
        options = options_for(need_none[i]);
        assert_int_equal(decide(&conv, &options).reason, GDNN_REASON_TAKEN);
    }
}

/* Lanes of backward-filter go along the pixels from one pixel a thread on. */
static void few_pixels(void **state)
{
    (void)state;
    gdnn_options options = options_for(GDNN_MODE_FORCE);
    gdnn_conv conv = problem(
        "dir=bwd_filter dtype=f32 layout=nchw n=1 c=4 in=15x17 k=4 filter=3x3 pad=1 groups=2");
    assert_int_equal(decide(&conv, &options).launch.variant, GDNN_NHWC); /* 255 */
    conv = problem(
        "dir=bwd_filter dtype=f32 layout=nchw n=1 c=4 in=16x16 k=4 filter=3x3 pad=1 groups=2");
    assert_int_equal(decide(&conv, &options).launch.variant, GDNN_NCHW); /* 256 */
    conv = problem(
        "dir=bwd_filter dtype=f32 layout=nhwc n=9 c=4 in=16x16 k=4 filter=3x3 pad=1 groups=2");
    assert_int_equal(decide(&conv, &options).launch.variant, GDNN_NHWC);
}

static void disable(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual);
    gdnn_options options = options_for(GDNN_MODE_FORCE);
    static const char *const disabling[] = {"all", "fwd", "bwd_data,fwd", "fwd,bwd_filter"};
    for (size_t i = 0; i < COUNT_OF(disabling); i++) {
        snprintf(options.disable, sizeof options.disable, "%s", disabling[i]);
        assert_declined(decide(&conv, &options), GDNN_REASON_DISABLED);
    }
    /* every forward kernel that runs the problem, by its name: `usual` has groups of two channels */
    snprintf(options.disable, sizeof options.disable, "direct_fwd");
    assert_declined(decide(&conv, &options), GDNN_REASON_DISABLED);
    conv = problem("dir=fwd dtype=f16 layout=nhwc n=2 c=8 in=5x5 k=8 filter=3x3 pad=1 groups=8");
    static const char *const falls_to[][2] = {
        {"", "dw_ring_3x3_s1_fwd"},
        {"dw_ring_3x3_s1_fwd", "dw_general_s1_fwd"},
        {"dw_ring_3x3_s1_fwd,dw_general_s1_fwd", "dw_general_fwd"},
        {"dw_ring_3x3_s1_fwd,dw_general_s1_fwd,dw_general_fwd", "direct_fwd"},
    };
    for (size_t i = 0; i < COUNT_OF(falls_to); i++) {
        snprintf(options.disable, sizeof options.disable, "%s", falls_to[i][0]);
        assert_string_equal(decide(&conv, &options).launch.kernel->name, falls_to[i][1]);
    }
    conv = problem(usual);

    static const char *const harmless[] = {
        "", "bwd_data", "bwd_filter,bwd_data", "direct_bwd_data", "direct", "fw", "al"};
    for (size_t i = 0; i < COUNT_OF(harmless); i++) {
        snprintf(options.disable, sizeof options.disable, "%s", harmless[i]);
        assert_int_equal(decide(&conv, &options).reason, GDNN_REASON_TAKEN);
    }
    static const char *const other[] = {"bwd_data", "bwd_filter"};
    for (int i = 0; i < 2; i++) {
        conv.dir = i ? GDNN_BWD_FILTER : GDNN_BWD_DATA;
        snprintf(options.disable, sizeof options.disable, "%s", other[i]);
        assert_declined(decide(&conv, &options), GDNN_REASON_DISABLED);
    }
}

static void kernel_option(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual);
    gdnn_options options = options_for(GDNN_MODE_FORCE);
    snprintf(options.kernel, sizeof options.kernel, "direct_fwd");
    gdnn_decision decision = decide(&conv, &options);
    assert_int_equal(decision.reason, GDNN_REASON_TAKEN);
    assert_string_equal(decision.launch.kernel->name, "direct_fwd");
    snprintf(options.kernel, sizeof options.kernel, "direct_bwd_data");
    assert_declined(decide(&conv, &options), GDNN_REASON_KERNEL_OPTION);
    snprintf(options.kernel, sizeof options.kernel, "direct_fwd2");
    assert_declined(decide(&conv, &options), GDNN_REASON_KERNEL_OPTION);
    /* a kernel that is asked for and disabled at once is disabled */
    snprintf(options.kernel, sizeof options.kernel, "direct_fwd");
    snprintf(options.disable, sizeof options.disable, "direct_fwd");
    assert_declined(decide(&conv, &options), GDNN_REASON_DISABLED);
}

static void accumulator(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual);
    conv.acc = GDNN_F64;
    assert_declined(forced(&conv), GDNN_REASON_ACCUMULATOR);
    conv.acc = GDNN_F16; /* kept in f32, which is more than was asked */
    assert_int_equal(forced(&conv).reason, GDNN_REASON_TAKEN);
    conv.dtype = conv.acc = GDNN_F64;
    assert_int_equal(forced(&conv).reason, GDNN_REASON_TAKEN);
}

static void overlap(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual);
    conv.y_stride[3] = 0;
    assert_declined(forced(&conv), GDNN_REASON_OVERLAP);
    conv = problem(usual);
    conv.y_stride[2] = conv.y_stride[3];
    assert_declined(forced(&conv), GDNN_REASON_OVERLAP);
    conv = problem(usual);
    conv.x_stride[0] = 0; /* an input may repeat */
    assert_int_equal(forced(&conv).reason, GDNN_REASON_TAKEN);
    conv.dir = GDNN_BWD_DATA; /* and here it is what is written */
    assert_declined(forced(&conv), GDNN_REASON_OVERLAP);
    conv = problem(usual);
    conv.w_stride[3] = conv.w_stride[2] = 1;
    assert_int_equal(forced(&conv).reason, GDNN_REASON_TAKEN);
    conv.dir = GDNN_BWD_FILTER;
    assert_declined(forced(&conv), GDNN_REASON_OVERLAP);
}

static void too_large(void **state)
{
    (void)state;
    static const char *const beyond[] = {
        "n=1 c=1 in=3000000000 k=1 filter=2147483648",
        "n=1 c=1 in=5 k=1 filter=1 stride=2147483648",
        "n=1 c=1 in=5 k=1 filter=1 dilation=2147483648",
        "n=1 c=2147483648 in=1 k=1 filter=1",
        "n=1 c=1 in=1 k=2147483648 filter=1",
        "n=1 c=1 in=549755813888 k=1 filter=1", /* 2^31 blocks of 256 outputs */
    };
    static const char *const within[] = {
        "n=1 c=1 in=3000000000 k=1 filter=2147483647",
        "n=1 c=1 in=5 k=1 filter=1 stride=2147483647",
        "n=1 c=1 in=5 k=1 filter=1 dilation=2147483647",
        "n=1 c=2147483647 in=1 k=1 filter=1",
        "n=1 c=1 in=1 k=2147483647 filter=1",
        "n=1 c=1 in=549755813632 k=1 filter=1", /* one less */
    };
    for (size_t i = 0; i < COUNT_OF(beyond); i++) {
        char text[256];
        snprintf(text, sizeof text, "dir=fwd dtype=f16 %s", beyond[i]);
        gdnn_conv conv = problem(text);
        assert_declined(forced(&conv), GDNN_REASON_TOO_LARGE);
        snprintf(text, sizeof text, "dir=fwd dtype=f16 %s", within[i]);
        conv = problem(text);
        assert_int_equal(forced(&conv).reason, GDNN_REASON_TAKEN);
        assert_in_range(forced(&conv).launch.blocks, 1, INT32_MAX);
    }
}

/* No device and no offer is like these, but whatever a kernel needs is more. */
static void shared_memory_and_workspace(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual);
    gdnn_options options = options_for(GDNN_MODE_FORCE);
    gdnn_device device = h200();
    device.shared_bytes = -1;
    assert_declined(gdnn_decide(&conv, 0, &device, &options), GDNN_REASON_SHARED_MEMORY);
    device = h200();
    assert_declined(gdnn_decide(&conv, -1, &device, &options), GDNN_REASON_WORKSPACE);
    gdnn_decision decision = gdnn_decide(&conv, 1 << 20, &device, &options);
    assert_int_equal(decision.reason, GDNN_REASON_TAKEN);
    assert_in_range(decision.launch.workspace, 0, 1 << 20);
}

/* Where the variant is a preference: lanes go along what is close together in memory, in what is
 * written, or in backward-filter in x. */
static gdnn_layout variant_of(const char *text)
{
    gdnn_conv conv = problem(text);
    gdnn_options options = options_for(GDNN_MODE_FORCE);
    static const char *const direct[] = {"direct_fwd", "direct_bwd_data", "direct_bwd_filter"};
    snprintf(options.kernel, sizeof options.kernel, "%s", direct[conv.dir]);
    gdnn_decision decision = decide(&conv, &options);
    assert_int_equal(decision.reason, GDNN_REASON_TAKEN);
    return decision.launch.variant;
}

#define MIXED(dir, x, w, y)                                                                        \
    "dir=" dir " dtype=f32 n=11 c=8 in=5x5 k=8 filter=3x3 pad=1 groups=4 xstrides=" x              \
    " wstrides=" w " ystrides=" y
#define PLANES "200x25x5x1"
#define PIXELS "200x1x40x8"
#define FILTER "18x9x3x1"

static void the_variant_follows_the_strides(void **state)
{
    (void)state;
    assert_int_equal(variant_of(MIXED("fwd", PLANES, FILTER, PLANES)), GDNN_NCHW);
    assert_int_equal(variant_of(MIXED("fwd", PLANES, FILTER, PIXELS)), GDNN_NHWC);
    assert_int_equal(variant_of(MIXED("fwd", PIXELS, FILTER, PLANES)), GDNN_NCHW);
    assert_int_equal(variant_of(MIXED("bwd_data", PIXELS, FILTER, PLANES)), GDNN_NHWC);
    assert_int_equal(variant_of(MIXED("bwd_data", PLANES, FILTER, PIXELS)), GDNN_NCHW);
    assert_int_equal(variant_of(MIXED("bwd_filter", PIXELS, FILTER, PLANES)), GDNN_NHWC);
    assert_int_equal(variant_of(MIXED("bwd_filter", PLANES, FILTER, PIXELS)), GDNN_NCHW);
    /* one pixel: only the channels are left; one channel: only the pixels */
    assert_int_equal(variant_of("dir=fwd dtype=f32 n=2 c=8 in=1x1 k=8 filter=1x1 groups=4"),
                     GDNN_NHWC);
    assert_int_equal(
        variant_of("dir=fwd dtype=f32 layout=nhwc n=2 c=1 in=5x5 k=1 filter=1x1 groups=1"),
        GDNN_NCHW);
    /* with more blocks than a launch can have, the other variant: 2^32 filters of one tap in 2^27
     * blocks */
    assert_int_equal(variant_of("dir=bwd_filter dtype=f16 n=1 c=65536 in=2 k=65536 filter=1"),
                     GDNN_NHWC);
}

/* Same arguments, same answer; the options of the environment do not matter here. */
static void a_decision_is_a_pure_function(void **state)
{
    (void)state;
    gdnn_conv conv = problem(usual), before = conv;
    gdnn_decision first = forced(&conv);
    setenv("GROUPDNN_MODE", "off", 1);
    setenv("GROUPDNN_DISABLE", "all", 1);
    gdnn_decision second = forced(&conv);
    unsetenv("GROUPDNN_MODE");
    unsetenv("GROUPDNN_DISABLE");
    assert_memory_equal(&conv, &before, sizeof conv);
    assert_int_equal(second.reason, first.reason);
    assert_ptr_equal(second.launch.kernel, first.launch.kernel);
    assert_int_equal(second.launch.blocks, first.launch.blocks);
}

/* Nothing is taken because of the number of groups: one group is like any other number here. */
static void one_group_is_decided_like_any_number(void **state)
{
    (void)state;
    gdnn_conv conv = problem("dir=fwd dtype=f16 n=2 c=8 in=5x5 k=8 filter=3x3 pad=1 groups=1");
    assert_int_equal(forced(&conv).reason, GDNN_REASON_TAKEN);
}

static void kernels_are_found_by_name(void **state)
{
    (void)state;
    char symbol[128];
    for (int i = 0; i < gdnn_kernel_count; i++)
        assert_ptr_equal(gdnn_kernel_find(gdnn_kernels[i].name), &gdnn_kernels[i]);
    assert_null(gdnn_kernel_find("direct_fw"));
    assert_null(gdnn_kernel_find(""));
    gdnn_kernel_symbol(gdnn_kernel_find("direct_fwd"), GDNN_NHWC, GDNN_BF16, false, symbol,
                       sizeof symbol);
    assert_string_equal(symbol, "gdnn_direct_fwd_nhwc_bf16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_have_names_and_sentences),
        cmocka_unit_test(force_takes_every_direction_type_and_layout),
        cmocka_unit_test(invalid),
        cmocka_unit_test(modes),
        cmocka_unit_test(few_pixels),
        cmocka_unit_test(disable),
        cmocka_unit_test(kernel_option),
        cmocka_unit_test(accumulator),
        cmocka_unit_test(overlap),
        cmocka_unit_test(too_large),
        cmocka_unit_test(shared_memory_and_workspace),
        cmocka_unit_test(the_variant_follows_the_strides),
        cmocka_unit_test(a_decision_is_a_pure_function),
        cmocka_unit_test(one_group_is_decided_like_any_number),
        cmocka_unit_test(kernels_are_found_by_name),
    };
    return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
