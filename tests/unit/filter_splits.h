/* What holds for every cut of backward-filter, included by tests with `problems`, problem() and grid_of(). */
#ifndef FILTER_SPLITS_H
#define FILTER_SPLITS_H

static void a_split_needs_workspace_and_a_second_launch(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(problems); i++) {
        gdnn_conv conv = problem(problems[i]);
        int64_t part = gdnn_elements(&conv, GDNN_ROLE_W) * 4;
        int64_t likes = grid_of(&conv, INT64_MAX).workspace;
        for (int64_t offered = 0; offered <= likes; offered += likes / 7 + 1) {
            gdnn_grid grid = grid_of(&conv, offered);
            assert_true(grid.workspace <= offered);
            assert_int_equal(grid.workspace, grid.tiling.split > 1 ? grid.tiling.split * part : 0);
            assert_int_equal(grid.finish_blocks > 0, grid.tiling.split > 1);
        }
        assert_int_equal(grid_of(&conv, 0).tiling.split, 1);
    }
}

/* Plans that are made again with the workspace they asked for are the same. */
static void what_is_left_over_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(problems); i++) {
        gdnn_conv conv = problem(problems[i]);
        gdnn_grid much = grid_of(&conv, INT64_MAX), enough = grid_of(&conv, much.workspace);
        assert_int_equal(enough.blocks, much.blocks);
        assert_memory_equal(&enough.tiling, &much.tiling, sizeof much.tiling);
    }
}

#endif
