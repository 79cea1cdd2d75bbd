/* plane_filter: how backward-filter, channels first, is cut, by problem and workspace alone. */
#include "dw_plane_host.h"
#include "kernel.h"
#include "problem.h"
#include "unit.h"
#include <limits.h>
#include <string.h>

static const char *const problems[] = {
    "n=128 c=32 in=112x112 k=32 groups=32 filter=3x3 pad=1 dtype=f16",
    "n=128 c=960 in=7x7 k=960 groups=960 filter=3x3 pad=1 dtype=bf16",
    "n=128 c=513 in=14x14 k=513 groups=513 filter=3x3 pad=1 dtype=f32",
    "n=1 c=3 in=50x300 k=3 groups=3 filter=3x3 pad=1 dtype=bf16",
    "n=32 c=96 in=112x112 k=96 groups=96 filter=3x3 pad=1 stride=2 dtype=f32",
    "n=1000 c=1 in=1x1 k=1 groups=1 filter=3x3 pad=1 dtype=f16",
    "n=1 c=2 in=400x896 k=2 groups=2 filter=3x3 pad=1 dtype=f32",
    "n=64 c=240 in=28x28 k=240 groups=240 filter=5x5 pad=2 dtype=f16",
    "n=64 c=384 in=14x14 k=384 groups=384 filter=7x7 pad=3 dtype=bf16",
    "n=128 c=384 in=28x28 k=384 groups=384 filter=11x1 pad=5x0 dtype=f32",
};

static gdnn_conv problem(const char *text)
{
    char whole[256];
    gdnn_conv conv;
    snprintf(whole, sizeof whole, "dir=bwd_filter layout=nchw %s", text);
    if (gdnn_conv_parse(whole, &conv) != GDNN_OK)
        fail_msg("%s: %s", whole, gdnn_last_error());
    return conv;
}

static gdnn_grid grid_of(const gdnn_conv *conv, int64_t workspace)
{
    gdnn_grid grid;
    for (int i = 0; i < gdnn_kernel_count; i++)
        if (!strncmp(gdnn_kernels[i].name, "dw_pfilter_", strlen("dw_pfilter_")) &&
            gdnn_kernel_grid(&gdnn_kernels[i], conv, GDNN_NCHW, workspace, &grid))
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
        assert_in_range(grid.threads, t->tile * t->strips, GDNN_PLANE_THREADS);
        assert_in_range(grid.shared, GDNN_PLANE_GUARD + 2 * t->x_buffer, 112 * 1024);
        assert_int_equal(grid.blocks, t->channel_tiles.value * t->split);
        assert_true(t->channel_tiles.value * t->tile >= conv.c);
        assert_int_equal(t->split % t->slabs.value, 0);
        assert_true(t->split / t->slabs.value * t->images >= conv.n);
        assert_true((t->split / t->slabs.value - 1) * t->images < conv.n);
        assert_true(t->slabs.value * t->rows >= gdnn_out_size(&conv, 0));
        assert_true((t->slabs.value - 1) * t->rows < gdnn_out_size(&conv, 0));
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
            int64_t stages = t.chain < INT_MAX ? t.chain : t.images;
            int64_t rows = t.stage_rows < t.rows ? t.stage_rows : t.rows;
            assert_int_equal(t.sums > 0, t.chain < INT_MAX);
            assert_in_range(stages * rows * 7, 1, 1024);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_cover_the_problem),
        cmocka_unit_test(a_split_needs_workspace_and_a_second_launch),
        cmocka_unit_test(what_is_left_over_changes_nothing),
        cmocka_unit_test(chains_are_short),
    };
    return cmocka_run_group_tests_name("plane_filter", tests, NULL, NULL);
}
