/* gfilter_grid: how the general backward-filter is cut, by problem, variant and workspace alone. */
#include "dw_gfilter_host.h"
#include "gfilter_grid.h"
#include "problem.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static const char *const problems[] = {
    "n=64 c=384 in=14x14 k=384 groups=384 filter=7x7 pad=3 dtype=bf16",
    "n=128 c=960 in=7x7 k=960 groups=960 filter=7x7 pad=3 dtype=f16",
    "n=16 c=64 in=32x32 k=64 groups=64 filter=31x31 pad=15 dtype=f32",
    "n=8 c=6 in=28x28 k=18 groups=6 filter=3x3 pad=1 stride=2 dtype=f16",
    "n=8 c=32 in=28x28 k=32 groups=32 filter=7x3 pad=3x1 stride=2x1 dtype=f16",
    "n=2 c=33 in=130x131 k=33 groups=33 filter=3x3 pad=65 dilation=65 dtype=f32",
    "n=2 c=4 in=31x35 k=4 groups=4 filter=7x5 pad=9 stride=4x6 dilation=6x4 dtype=bf16",
    "n=1 c=1 in=70000x1 k=1 groups=1 filter=3x1 pad=1x0 dtype=f32",
    "n=1 c=2 in=3x4 k=2 groups=2 filter=2x3 pad=40x70 stride=1x3 dilation=80x70 dtype=f16",
    "n=100000 c=1 in=1x1 k=1 groups=1 filter=1x1 dtype=f16",
};

static const gdnn_layout layouts[] = {GDNN_NCHW, GDNN_NHWC};

static gdnn_conv problem(const char *text, gdnn_layout layout)
{
    char whole[256];
    gdnn_conv conv;
    snprintf(whole, sizeof whole, "dir=bwd_filter layout=%s %s",
             layout == GDNN_NCHW ? "nchw" : "nhwc", text);
    if (gdnn_conv_parse(whole, &conv) != GDNN_OK)
        fail_msg("%s: %s", whole, gdnn_last_error());
    return conv;
}

/* Calls `check` for every problem in both layouts. */
static void for_all(void (*check)(const gdnn_conv *, gdnn_layout))
{
    for (size_t i = 0; i < COUNT_OF(problems); i++)
        for (size_t j = 0; j < COUNT_OF(layouts); j++) {
            gdnn_conv conv = problem(problems[i], layouts[j]);
            check(&conv, layouts[j]);
        }
}

static void check_blocks(const gdnn_conv *conv, gdnn_layout layout)
{
    gdnn_grid grid = gdnn_gfilter_grid(conv, layout, INT64_MAX);
    const gdnn_tiling *t = &grid.tiling;
    int slots = (int)t->slots.value;
    assert_in_range(grid.threads, 32, GDNN_GFILTER_THREADS);
    assert_int_equal(grid.threads % 32, 0);
    assert_int_equal(grid.threads, t->tap_tiles * t->tile_threads);
    assert_int_equal(t->tile_threads, t->lanes * slots);
    assert_in_range(grid.shared, 1, 48 * 1024);
    assert_int_equal(grid.blocks, t->channel_tiles.value * t->tap_groups.value * t->split);
    assert_true(t->channel_tiles.value * t->tile >= conv->k);
    assert_true(t->tap_groups.value * t->tap_tiles >= t->all_tap_tiles);
    assert_true(t->split == 1 || grid.blocks <= 132 * 8);
    assert_true(t->slabs.value * t->rows * t->out_step.value >= t->march.out);
    assert_true((t->slabs.value - 1) * t->rows * t->out_step.value < t->march.out);
    assert_in_range(t->chain * t->rows, 1, 1024);
}

static void blocks_cover_the_problem(void **state)
{
    (void)state;
    for_all(check_blocks);
}

/* Every tap is in one tile. */
static void check_taps(const gdnn_conv *conv, gdnn_layout layout)
{
    gdnn_tiling t = gdnn_gfilter_grid(conv, layout, INT64_MAX).tiling;
    int cross = layout == GDNN_NHWC ? 1 : GDNN_GFILTER_CROSS(t.taps);
    int march_filter = t.march.filter, cross_filter = t.cross.filter;
    int *seen = calloc((size_t)gdnn_taps(conv), sizeof *seen);
    assert_non_null(seen);
    assert_int_equal(march_filter * cross_filter, gdnn_taps(conv));
    for (int64_t i = 0; i < t.all_tap_tiles; i++) {
        int64_t of_march = i % t.march_tiles.value, row = i / t.march_tiles.value * cross;
        int64_t first =
            of_march / t.class_tiles.value + of_march % t.class_tiles.value * t.taps * t.tap_step;
        for (int u = 0; u < t.taps; u++)
            for (int v = 0; v < cross; v++) {
                int64_t tap = first + u * t.tap_step, across = row + v;
                if (tap < march_filter && across < cross_filter)
                    seen[across * march_filter + tap]++;
            }
    }
    for (int64_t i = 0; i < gdnn_taps(conv); i++)
        assert_int_equal(seen[i], 1);
    free(seen);
}

static void every_tap_is_in_one_tile(void **state)
{
    (void)state;
    for_all(check_taps);
}

/* From one tap of a tile to the next as from one output of a march to the next, unless there is only one of them. */
static void check_steps(const gdnn_conv *conv, gdnn_layout layout)
{
    gdnn_tiling t = gdnn_gfilter_grid(conv, layout, INT64_MAX).tiling;
    if (t.tap_step < t.march.filter)
        assert_true(t.tap_step * t.march.dilation == t.x_step.value ||
                    t.x_step.value == t.march.in + t.march.pad);
    if (t.out_step.value < t.march.out)
        assert_true(t.out_step.value * t.march.stride.value == t.x_step.value ||
                    t.x_step.value == t.march.in + t.march.pad);
}

static void taps_and_outputs_have_one_step(void **state)
{
    (void)state;
    for_all(check_steps);
}

/* Plans that are made again with the workspace they asked for are the same. */
static void check_workspace(const gdnn_conv *conv, gdnn_layout layout)
{
    int64_t part = gdnn_elements(conv, GDNN_ROLE_W) * 4;
    gdnn_grid much = gdnn_gfilter_grid(conv, layout, INT64_MAX);
    int64_t likes = much.workspace;
    for (int64_t offered = 0; offered <= likes; offered += likes / 7 + 1) {
        gdnn_grid grid = gdnn_gfilter_grid(conv, layout, offered);
        assert_true(grid.workspace <= offered);
        assert_int_equal(grid.workspace, grid.tiling.split > 1 ? grid.tiling.split * part : 0);
        assert_int_equal(grid.finish_blocks > 0, grid.tiling.split > 1);
        gdnn_grid again = gdnn_gfilter_grid(conv, layout, grid.workspace);
        assert_int_equal(again.blocks, grid.blocks);
        assert_memory_equal(&again.tiling, &grid.tiling, sizeof grid.tiling);
    }
    gdnn_grid enough = gdnn_gfilter_grid(conv, layout, likes);
    assert_memory_equal(&enough.tiling, &much.tiling, sizeof much.tiling);
}

static void what_is_left_over_changes_nothing(void **state)
{
    (void)state;
    for_all(check_workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_cover_the_problem),
        cmocka_unit_test(every_tap_is_in_one_tile),
        cmocka_unit_test(taps_and_outputs_have_one_step),
        cmocka_unit_test(what_is_left_over_changes_nothing),
    };
    return cmocka_run_group_tests_name("gfilter_grid", tests, NULL, NULL);
}
