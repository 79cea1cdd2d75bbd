/* The cut of the general plane kernels: whatever the problem, every row of the result is of one group, the rows of the
 * source that the kernel steps through are those that the definition names, and chunks stay within bounds. */
#include "dw_gplane_host.h"
#include "gplane.h"
#include "problem.h"
#include "unit.h"

static const char *const problems[] = {
    "n=128 c=384 in=56x56 k=384 groups=384 filter=7x7 pad=3 dtype=f16",
    "n=1 c=3 in=33x65 k=6 groups=3 filter=3x3 pad=12 dilation=12 dtype=bf16",
    "n=1 c=3 in=9x9 k=3 groups=3 filter=3x3 pad=36 dilation=36 dtype=f32",
    "n=2 c=8 in=56x57 k=8 groups=8 filter=5x5 pad=2 stride=2 dtype=f16",
    "n=2 c=8 in=40x41 k=8 groups=8 filter=7x3 pad=3x1 stride=2x1 dtype=f16",
    "n=1 c=2 in=30x31 k=2 groups=2 filter=4x5 pad=7 stride=4 dilation=6 dtype=f32",
    "n=1 c=2 in=30x31 k=2 groups=2 filter=9x2 pad=9 stride=6x9 dilation=4x3 dtype=f32",
    "n=1 c=1 in=56x56 k=1 groups=1 filter=31x31 pad=15 dtype=f16",
    "n=1 c=1 in=256x256 k=1 groups=1 filter=256x256 pad=1 dtype=f32",
    "n=1 c=2 in=5x5 k=2 groups=2 filter=3x3 stride=100 dtype=f32",
    "n=1 c=1 in=3x3 k=1 groups=1 filter=1x1500 pad=0x1499 dtype=f32",
    "n=1 c=1 in=3x3 k=1 groups=1 filter=1500x1 pad=1499x0 stride=700x1 dtype=f32",
    "n=1 c=960 in=7x7 k=960 groups=960 filter=3x3 pad=1 dtype=f16",
};

static gdnn_conv problem(const char *dir, const char *text)
{
    char whole[256];
    gdnn_conv conv;
    snprintf(whole, sizeof whole, "dir=%s layout=nchw %s", dir, text);
    if (gdnn_conv_parse(whole, &conv) != GDNN_OK)
        fail_msg("%s: %s", whole, gdnn_last_error());
    return conv;
}

/* Calls `check` for all problems in both directions. */
static void for_all(void (*check)(const gdnn_conv *p, const gdnn_grid *grid))
{
    for (size_t i = 0; i < COUNT_OF(problems); i++) {
        gdnn_conv fwd = problem("fwd", problems[i]), data = problem("bwd_data", problems[i]);
        gdnn_grid grid = gdnn_gplane_grid(&fwd);
        check(&fwd, &grid);
        grid = gdnn_gplane_grid(&data);
        check(&data, &grid);
    }
}

static int64_t rows_of(const gdnn_conv *p)
{
    return p->dir == GDNN_BWD_DATA ? p->in[0] : gdnn_out_size(p, 0);
}

static void check_cover(const gdnn_conv *p, const gdnn_grid *grid)
{
    const gdnn_tiling *t = &grid->tiling;
    bool data = p->dir == GDNN_BWD_DATA;
    int64_t rows = rows_of(p), channels = data ? p->c : p->k;
    assert_int_equal(t->row_phases.value, t->row_step);
    assert_in_range(t->row_step, 1, rows);
    int64_t slab = (int64_t)t->rows * GDNN_GPLANE_ROWS * t->row_step;
    assert_true(t->slabs.value * slab >= rows);
    assert_true((t->slabs.value - 1) * slab < rows);
    assert_int_equal(t->columns.value, data ? p->in[1] : gdnn_out_size(p, 1));

    assert_int_equal(t->lanes * t->tile, grid->threads);
    assert_true(t->channel_tiles.value * t->tile >= channels);
    assert_true((t->channel_tiles.value - 1) * t->tile < channels);
    int64_t items = p->n * t->columns.value * t->slabs.value * t->row_phases.value;
    int64_t blocks = grid->blocks / t->channel_tiles.value;
    assert_int_equal(grid->blocks % t->channel_tiles.value, 0);
    assert_true(blocks * t->lanes >= items);
    assert_true((blocks - 1) * t->lanes < items);
}

static void blocks_cover_the_result(void **state)
{
    (void)state;
    for_all(check_cover);
}

static void check_chunks(const gdnn_conv *p, const gdnn_grid *grid)
{
    const gdnn_tiling *t = &grid->tiling;
    assert_in_range(grid->shared, 1, 32 * 1024);
    assert_int_equal(grid->shared, (int64_t)t->filter_floats * t->tile * 4);
    assert_int_equal(t->chunk_rows % GDNN_GPLANE_TAPS, 0);
    assert_true(t->run.value >= t->chunk_rows);
    assert_int_equal(t->run.value % (2 * GDNN_GPLANE_TAPS), GDNN_GPLANE_TAPS);
    assert_int_equal(t->run_bytes, t->run.value * 4);
    assert_int_equal(t->phase_bytes, t->run_bytes * t->chunk_columns);
    assert_int_equal(t->filter_floats * 4, t->phase_bytes * t->chunk_phases);
    assert_in_range(t->chunk_rows * t->chunk_columns * t->chunk_phases, 1, 1024);
    assert_true((int64_t)t->taps * t->tap_step >= p->filter[0]);
    if (t->one_chunk) {
        assert_true(t->chunk_rows >= t->taps);
        assert_true(t->chunk_columns >= p->filter[1]);
        assert_true(t->chunk_phases >= t->tap_phases);
    }
}

static void chunks_are_small(void **state)
{
    (void)state;
    for_all(check_chunks);
}

/* Forward, o * stride + tap * dilation - pad is the row of x; backward-data, that of dx. */
static void check_row(const gdnn_conv *p, const gdnn_tiling *t, int64_t row, int64_t tap)
{
    bool data = p->dir == GDNN_BWD_DATA;
    int64_t phase = tap % t->tap_step, number = tap / t->tap_step;
    int64_t group = t->row_step * GDNN_GPLANE_ROWS, first = row / group * group + row % t->row_step;
    int64_t q = (row - first) / t->row_step, source = t->source_step.value;
    if (!data) {
        int64_t begin = first * p->stride[0] - p->pad[0] + phase * p->dilation[0];
        assert_int_equal(begin + (number + q) * source,
                         row * p->stride[0] - p->pad[0] + tap * p->dilation[0]);
        return;
    }
    int64_t from = row + p->pad[0] - tap * p->dilation[0];
    if (from % p->stride[0] || from < 0)
        return;
    int64_t begin =
        first + p->pad[0] - phase * p->dilation[0]; /* a multiple of the stride, or less than 0 */
    assert_int_equal(begin % p->stride[0], 0);
    begin = begin / p->stride[0] - (t->taps - 1) * source;
    assert_int_equal(begin + (t->taps - 1 - number + q) * source, from / p->stride[0]);
}

static void check_rows(const gdnn_conv *p, const gdnn_grid *grid)
{
    for (int64_t row = 0; row < rows_of(p); row++)
        for (int64_t tap = 0; tap < p->filter[0]; tap++)
            check_row(p, &grid->tiling, row, tap);
}

static void rows_of_the_source_are_right(void **state)
{
    (void)state;
    for_all(check_rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_cover_the_result),
        cmocka_unit_test(chunks_are_small),
        cmocka_unit_test(rows_of_the_source_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
