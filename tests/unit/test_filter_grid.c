/* filter_grid: how backward-filter is cut, by problem and workspace alone. */
#include "decide.h"
#include "device.h"
#include "problem.h"
#include "unit.h"
#include <string.h>

static const char *const problems[] = {
    "n=128 c=32 in=112x112 k=32 groups=32 filter=3x3 pad=1 dtype=f16",
    "n=128 c=960 in=7x7 k=960 groups=960 filter=3x3 pad=1 dtype=f32",
    "n=1 c=3 in=5x300 k=3 groups=3 filter=3x3 pad=1 dtype=bf16",
    "n=32 c=96 in=112x112 k=96 groups=96 filter=3x3 pad=1 stride=2 dtype=f16",
    "n=2 c=64 in=33x65 k=64 groups=64 filter=3x3 pad=2 dilation=2 dtype=f32",
    "n=1000 c=1 in=1x1 k=1 groups=1 filter=3x3 pad=1 dtype=f16",
    "n=1 c=2 in=3x20000 k=2 groups=2 filter=3x3 pad=1 dtype=f32",
    "n=64 c=240 in=28x28 k=240 groups=240 filter=5x5 pad=2 dtype=f16",
    "n=64 c=384 in=14x14 k=384 groups=384 filter=5x5 pad=2 stride=2 dtype=bf16",
};

static gdnn_conv problem(const char *text)
{
    char whole[256];
    gdnn_conv conv;
    snprintf(whole, sizeof whole, "dir=bwd_filter layout=nhwc %s", text);
    if (gdnn_conv_parse(whole, &conv) != GDNN_OK)
        fail_msg("%s: %s", whole, gdnn_last_error());
    return conv;
}

static gdnn_grid grid_of(const gdnn_conv *conv, int64_t workspace)
{
    gdnn_grid grid;
    for (int i = 0; i < gdnn_kernel_count; i++)
        if (!strncmp(gdnn_kernels[i].name, "dw_filter_", strlen("dw_filter_")) &&
            gdnn_kernel_grid(&gdnn_kernels[i], conv, GDNN_NHWC, workspace, &grid))
            return grid;
    fail_msg("no kernel takes the problem");
    return (gdnn_grid){0};
}

#include "filter_splits.h"

static void cuts_cover_the_problem(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(problems); i++) {
        gdnn_conv conv = problem(problems[i]);
        gdnn_grid grid = grid_of(&conv, INT64_MAX);
        const gdnn_tiling *t = &grid.tiling;
        assert_in_range(grid.threads, t->lanes * t->strips * t->images, 128);
        assert_in_range(grid.shared, 1, 96 * 1024);
        assert_int_equal(grid.blocks, t->channel_tiles.value * t->split);
        assert_true(t->channel_tiles.value * t->tile >= conv.c);
        assert_true(t->split * t->places >= t->all_places);
        assert_true((t->split - 1) * t->places < t->all_places);
        int64_t grids = conv.dilation[0] * conv.dilation[1];
        int64_t images = t->all_places / (t->strip_tiles.value * t->slabs.value * grids);
        assert_true(images * t->images * t->depth >= conv.n);
        assert_true(t->slabs.value * t->rows * conv.dilation[0] >= gdnn_out_size(&conv, 0));
    }
}

/* A thread's chain of additions has about a thousand products at most. */
static void chains_are_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(problems); i++) {
        gdnn_conv conv = problem(problems[i]);
        for (int unsplit = 0; unsplit < 2; unsplit++) {
            gdnn_tiling t = grid_of(&conv, unsplit ? 0 : INT64_MAX).tiling;
            int64_t images = t.sums ? t.chain : t.depth * t.places;
            int columns = t.dy_bytes / (t.strips * t.tile_bytes);
            assert_in_range(images * t.rows * columns, 1, 1024);
        }
    }
}

static void decide_tells_of_both_launches(void **state)
{
    (void)state;
    gdnn_device device;
    gdnn_options options;
    assert_int_equal(gdnn_device_known("h200", &device), GDNN_OK);
    gdnn_options_init(&options);
    options.mode = GDNN_MODE_FORCE;
    gdnn_conv conv = problem(problems[0]);
    gdnn_decision split = gdnn_decide(&conv, INT64_MAX, &device, &options);
    assert_string_equal(split.launch.kernel->name, "dw_filter_3x3_s1_bwd_filter");
    assert_int_equal(split.launch.launches, 2);
    gdnn_decision whole = gdnn_decide(&conv, 0, &device, &options);
    assert_string_equal(whole.launch.kernel->name, "dw_filter_3x3_s1_bwd_filter");
    assert_int_equal(whole.launch.launches, 1);
    assert_int_equal(whole.launch.workspace, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_cover_the_problem),
        cmocka_unit_test(a_split_needs_workspace_and_a_second_launch),
        cmocka_unit_test(what_is_left_over_changes_nothing),
        cmocka_unit_test(chains_are_short),
        cmocka_unit_test(decide_tells_of_both_launches),
    };
    return cmocka_run_group_tests_name("filter_grid", tests, NULL, NULL);
}
