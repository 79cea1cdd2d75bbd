/* The cut of backward-data of stride 2, channels first: whatever the problem, blocks cover it, and threads and shared memory stay
 * within bounds. */
#include "dw_plane_host.h"
#include "plane.h"
#include "problem.h"
#include "unit.h"

static void check_grid(const gdnn_conv *p, int filter)
{
    gdnn_grid g = gdnn_plane_up_grid(p, filter, 7);
    const gdnn_tiling *t = &g.tiling;
    int size = (int)gdnn_dtype_size(p->dtype);
    assert_in_range(g.threads, 32, GDNN_PLANE_THREADS);
    assert_int_equal(g.threads % 32, 0);
    assert_in_range(t->strips * t->tile, 1, g.threads);
    assert_in_range(g.shared, 1, 64 * 1024);

    assert_true(t->channel_tiles.value * t->tile >= p->c);
    assert_true((t->channel_tiles.value - 1) * t->tile < p->c);
    assert_true(t->strips * 7 >= t->pairs_w && (t->strips - 1) * 7 < t->pairs_w);
    assert_true(t->slabs.value * t->rows >= t->pairs_h);
    assert_true((t->slabs.value - 1) * t->rows < t->pairs_h);
    assert_int_equal(g.blocks % (t->channel_tiles.value * t->slabs.value), 0);
    int64_t images = g.blocks / (t->channel_tiles.value * t->slabs.value);
    assert_true(images * t->images >= p->n && (images - 1) * t->images < p->n);
    /* pairs cover dx, and no pair lies beside it */
    assert_in_range(2 * t->pairs_h - p->in[0], 0, 2);
    assert_in_range(2 * t->pairs_w - p->in[1], 0, 2);

    assert_int_equal(t->y_pitch, p->in[1] * size);
    assert_int_equal(t->x_run % 16, 0);
    assert_int_equal(t->y_run % 16, 0);
    if (t->run_planes == 1) {
        int64_t pairs = t->stage_rows < t->rows ? t->stage_rows : t->rows; /* that are stored */
        int64_t rows = 2 * pairs < p->in[0] ? 2 * pairs : p->in[0];
        assert_true(t->y_run >= rows * t->y_pitch);
    } else {
        assert_true(t->y_run >= t->tile * t->y_plane && t->x_run >= t->tile * t->x_plane);
    }
}

static void every_cut_covers_its_problem(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f16", "f32"};
    uint64_t random = test_seed();
    for (int i = 0; i < 3000; i++) {
        int filter = i % 2 ? 3 : 5;
        long long channels = (long long)test_pick(&random, 1, i % 4 ? 70 : 2000);
        int64_t most = i % 3 ? 40 : 300;
        char text[256];
        snprintf(text, sizeof text,
                 "dir=bwd_data dtype=%s layout=nchw n=%d c=%lld in=%dx%d k=%lld filter=%dx%d "
                 "groups=%lld pad=%dx%d stride=2",
                 dtypes[i / 2 % 2], (int)test_pick(&random, 1, i % 5 ? 9 : 400), channels,
                 (int)test_pick(&random, filter, most), (int)test_pick(&random, filter, most),
                 channels, filter, filter, channels, (int)test_pick(&random, 0, filter - 1),
                 (int)test_pick(&random, 0, filter - 1));
        gdnn_conv conv;
        if (gdnn_conv_parse(text, &conv) != GDNN_OK)
            fail_msg("%s: %s", text, gdnn_last_error());
        assert_true(gdnn_plane_up_fits(&conv, filter, 7));
        check_grid(&conv, filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cut_covers_its_problem)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
