#include "kernel.h"
#include "problem.h"
#include "scale.h"
#include "text.h"
#include "unit.h"

static gdnn_conv parse(const char *text)
{
    gdnn_conv conv;
    if (gdnn_conv_parse(text, &conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

/* What must hold of every scaled problem, whatever it was. */
static void check_rules(const gdnn_conv *from, const gdnn_conv *to)
{
    gdnn_layout before, after;
    assert_int_equal(gdnn_check(to), GDNN_OK);
    assert_int_equal(gdnn_cpg(to), gdnn_cpg(from));
    assert_int_equal(gdnn_kpg(to), gdnn_kpg(from));
    assert_true(to->n >= 1 && to->n <= from->n);
    assert_true(to->groups <= from->groups && (to->groups >= 2 || from->groups == 1));
    assert_true(gdnn_common_layout(from, &before));
    assert_true(gdnn_common_layout(to, &after));
    assert_int_equal(before, after);
    for (int k = 0; k < gdnn_kernel_count; k++) {
        const gdnn_kernel *kernel = &gdnn_kernels[k];
        if (!gdnn_kernel_fits(kernel, from))
            continue;
        assert_int_equal(from->n % kernel->tile.n, to->n % kernel->tile.n);
        assert_int_equal(from->groups % kernel->tile.groups, to->groups % kernel->tile.groups);
        for (int i = 0; i < from->spatial; i++) {
            int tile = kernel->tile.spatial[GDNN_MAX_SPATIAL - from->spatial + i];
            assert_int_equal(from->in[i] % tile, to->in[i] % tile);
            assert_int_equal(gdnn_out_size(from, i) % tile, gdnn_out_size(to, i) % tile);
        }
    }
    for (int i = 0; i < from->spatial; i++) {
        int64_t extent = (from->filter[i] - 1) * from->dilation[i] + 1;
        assert_true(to->in[i] >= extent || to->in[i] == from->in[i]);
        assert_true(to->in[i] <= from->in[i]);
    }
    gdnn_conv rest = *to; /* all else is as it was */
    rest.n = from->n;
    rest.c = from->c;
    rest.k = from->k;
    rest.groups = from->groups;
    memcpy(rest.in, from->in, sizeof rest.in);
    assert_int_equal(gdnn_conv_set_layout(&rest, before), GDNN_OK);
    assert_true(gdnn_conv_equal(&rest, from));
}

/* The common period of all tiles along an axis; `tile` picks it from a kernel. */
static int64_t period(const gdnn_conv *conv, int64_t (*tile)(const gdnn_tile *tile, int axis),
                      int axis)
{
    int64_t all = 1;
    for (int k = 0; k < gdnn_kernel_count; k++) {
        const gdnn_kernel *kernel = &gdnn_kernels[k];
        if (!gdnn_kernel_fits(kernel, conv))
            continue;
        int64_t common = all;
        while (common % tile(&kernel->tile, axis))
            common += all;
        all = common;
    }
    return all;
}

static int64_t tile_n(const gdnn_tile *tile, int axis)
{
    (void)axis;
    return tile->n;
}
static int64_t tile_groups(const gdnn_tile *tile, int axis)
{
    (void)axis;
    return tile->groups;
}
static int64_t tile_spatial(const gdnn_tile *tile, int axis)
{
    return tile->spatial[axis];
}

/* No size could lose another period: what is larger than the target had to stay so. */
static void check_smallest(const gdnn_conv *conv)
{
    assert_true(conv->n - period(conv, tile_n, 0) < 1);
    assert_true(conv->groups - period(conv, tile_groups, 0) < 2);
    for (int i = 0; i < conv->spatial; i++) {
        int64_t step =
            period(conv, tile_spatial, GDNN_MAX_SPATIAL - conv->spatial + i) * conv->stride[i];
        assert_true(conv->in[i] - step < (conv->filter[i] - 1) * conv->dilation[i] + 1);
    }
}

static void known_layers(void **state)
{
    static const char *const layers[] = {
        "n=128 c=256 in=56x56 k=256 filter=3x3 pad=1 stride=2 groups=32",
        "n=100000 c=2 in=1x80 k=8 filter=1x5 pad=0x2 groups=2 layout=nhwc",
        "n=8 c=432 in=13x5x5 k=432 filter=3x3x3 pad=1 groups=432",
        "n=32 c=75000 in=1 k=5000 filter=1 groups=5000",
        "n=4 c=4128 in=16384 k=4128 filter=4 pad=3 groups=4128",
        "n=7 c=66 in=61x59 k=132 filter=5x3 pad=2x1 stride=3x2 dilation=2 groups=33 pad_after=0x4",
        "n=128 c=1024 in=14x14 k=1024 filter=3x3 pad=1 groups=32 layout=nhwc",
        "n=64 c=128 in=56x56 k=128 filter=31x31 pad=15 groups=128",
        "n=8 c=4096 in=64x64 k=4096 filter=3x3 pad=1 groups=8",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(layers); i++)
        for (gdnn_dir dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++) {
            gdnn_conv from = parse(layers[i]), to;
            from.dir = dir;
            to = from;
            assert_true(scale_problem(&to, SCALE_EMULATED));
            check_rules(&from, &to);
            assert_true(gdnn_macs(&to) < gdnn_macs(&from));
            if (gdnn_macs(&to) > SCALE_EMULATED)
                check_smallest(&to);
        }
}

static void random_layers(void **state)
{
    uint64_t random = test_seed();
    (void)state;
    for (int i = 0; i < 2000; i++) {
        gdnn_conv from, to;
        gdnn_conv_init(&from);
        from.dir = (gdnn_dir)test_pick(&random, 0, 2);
        from.dtype = (gdnn_dtype)test_pick(&random, 0, 2);
        from.spatial = (int)test_pick(&random, 1, 3);
        from.n = test_pick(&random, 1, 300);
        from.groups = test_pick(&random, 1, 300);
        from.c = from.groups * test_pick(&random, 1, 9);
        from.k = from.groups * test_pick(&random, 1, 9);
        for (int axis = 0; axis < from.spatial; axis++) {
            from.in[axis] = test_pick(&random, 1, 200);
            from.filter[axis] = test_pick(&random, 1, 7);
            from.pad[axis] = test_pick(&random, 0, 3);
            from.pad_after[axis] = test_pick(&random, 0, 3);
            from.stride[axis] = test_pick(&random, 1, 3);
            from.dilation[axis] = test_pick(&random, 1, 2);
        }
        gdnn_layout layout = (gdnn_layout)test_pick(&random, 0, 1);
        if (gdnn_conv_set_layout(&from, layout) != GDNN_OK || gdnn_check(&from) != GDNN_OK)
            continue;
        to = from;
        if (scale_problem(&to, SCALE_EMULATED))
            check_rules(&from, &to);
        else
            assert_true(gdnn_conv_equal(&from, &to));
    }
}

static void small_problems_and_odd_strides_stay(void **state)
{
    gdnn_conv small = parse("n=2 c=8 in=8x8 k=8 filter=3x3 groups=8"), before = small;
    (void)state;
    assert_false(scale_problem(&small, SCALE_EMULATED));
    assert_true(gdnn_conv_equal(&small, &before));
    gdnn_conv odd = parse("n=64 c=64 in=64x64 k=64 filter=3x3 pad=1 groups=64");
    odd.x_stride[0] += 1;
    before = odd;
    assert_false(scale_problem(&odd, SCALE_EMULATED));
    assert_true(gdnn_conv_equal(&odd, &before));
}

/* As much is left as the target allows: one tile more of what shrank last would be too much. */
static void nothing_shrinks_more_than_it_must(void **state)
{
    gdnn_conv conv = parse("n=1000 c=64 in=16x16 k=64 filter=3x3 pad=1 groups=32");
    (void)state;
    assert_true(scale_problem(&conv, SCALE_GPU));
    assert_int_equal(conv.groups, 32);
    assert_int_equal(conv.in[0], 16);
    double one = 64.0 * 2 * 9 * 256; /* multiply-adds of an image */
    assert_true(conv.n == (int64_t)(SCALE_GPU / one));
}

/* Sizes up to the largest there are: as much is left as with small ones, and no sum overflows. */
static void sizes_of_any_magnitude(void **state)
{
    static const struct {
        const char *text;
        int64_t n, groups, in;
    } cases[] = {
        {"n=99999999999 c=64 in=6x6 k=64 filter=3x3", 3, 1, 6},
        {"n=1 c=1000000000000000003 in=1 k=1000000000000000003 filter=1 groups=1000000000000000003",
         1, 249999, 1},
        {"n=1 c=2 in=500000000000000003 k=2 filter=1 groups=2", 1, 2, 124995},
        {"n=1 c=2 in=500000000000000003 k=2 filter=3 groups=2 stride=1000000000000000000", 1, 2,
         500000000000000003},
        {"n=5000 c=2 in=1000 k=2 filter=3 groups=2 stride=4000000000000000000", 125, 2, 1000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gdnn_conv conv = parse(cases[i].text), before = conv;
        if (scale_problem(&conv, SCALE_EMULATED))
            check_rules(&before, &conv);
        assert_int_equal(conv.n, cases[i].n);
        assert_int_equal(conv.groups, cases[i].groups);
        assert_int_equal(conv.in[0], cases[i].in);
    }
}

/* Whether it is within the target: the multiply-adds, and an eighth as many elements a tensor. */
static bool within(const gdnn_conv *conv, double macs)
{
    return gdnn_macs(conv) <= macs && (double)gdnn_elements(conv, GDNN_ROLE_X) <= macs / 8 &&
           (double)gdnn_elements(conv, GDNN_ROLE_Y) <= macs / 8;
}

/* One image more than is left would be too much, whatever the target. */
static void no_step_too_many(void **state)
{
    gdnn_conv from = parse("n=4000 c=12 in=9x8 k=12 filter=3x2 groups=3");
    (void)state;
    for (double macs = 1e6; macs < 9e6; macs += 7919) {
        gdnn_conv to = from;
        assert_true(scale_problem(&to, macs));
        assert_int_equal(to.groups, 3);
        assert_true(within(&to, macs));
        to.n++;
        assert_false(within(&to, macs));
    }
}

/* The emulated device pays for each thread as well: where there are many weights, few pixels are
 * left, so that kernels with a thread or more a weight and pixel stay cheap. */
static void many_weights_leave_few_pixels(void **state)
{
    static const char *const layers[] = {
        "n=128 c=96 in=27x27 k=256 filter=5x5 pad=2 groups=2",
        "n=64 c=3712 in=14x14 k=3712 filter=3x3 pad=1 stride=2 groups=16",
        "n=1 c=256 in=1024x1024 k=256 filter=3x3 pad=1 groups=8",
        "n=8 c=768 in=749 k=768 filter=128 pad=64 groups=16",
        "n=32 c=100000 in=1 k=100000 filter=1 groups=10000",
        "n=1 c=4096 in=32x32 k=4096 filter=3x3 pad=1 groups=8",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(layers); i++) {
        gdnn_conv conv = parse(layers[i]);
        conv.dir = GDNN_BWD_FILTER;
        assert_true(scale_problem(&conv, SCALE_EMULATED));
        int64_t pixels = gdnn_elements(&conv, GDNN_ROLE_Y) / conv.k;
        assert_true(gdnn_elements(&conv, GDNN_ROLE_W) <= 20000 || pixels < 256);
    }
}

/* A tile and more of every axis stays where the target allows, so that kernels cross from tile to
 * tile. */
static void tiles_are_crossed(void **state)
{
    const gdnn_tile tile = gdnn_kernel_find("direct_fwd")->tile;
    gdnn_conv conv = parse("n=64 c=64 in=64x64 k=64 filter=3x3 pad=1 groups=64");
    (void)state;
    assert_true(scale_problem(&conv, SCALE_EMULATED));
    assert_true(conv.n > tile.n && conv.groups > tile.groups);
    assert_true(conv.in[0] > tile.spatial[1] && conv.in[1] > tile.spatial[2]);
}

/* A filter too large by itself: groups shrink for it, and nothing else does. */
static void filters_are_tensors_too(void **state)
{
    gdnn_conv conv = parse("n=1 c=1024 in=64 k=16384 filter=64 groups=1024"), before = conv;
    (void)state;
    assert_true(scale_problem(&conv, SCALE_EMULATED));
    check_rules(&before, &conv);
    assert_true(gdnn_elements(&conv, GDNN_ROLE_W) <= (int64_t)(SCALE_EMULATED / 8));
    assert_true(conv.groups > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_layers),
        cmocka_unit_test(random_layers),
        cmocka_unit_test(small_problems_and_odd_strides_stay),
        cmocka_unit_test(tiles_are_crossed),
        cmocka_unit_test(filters_are_tensors_too),
        cmocka_unit_test(nothing_shrinks_more_than_it_must),
        cmocka_unit_test(sizes_of_any_magnitude),
        cmocka_unit_test(no_step_too_many),
        cmocka_unit_test(many_weights_leave_few_pixels),
    };
    return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
