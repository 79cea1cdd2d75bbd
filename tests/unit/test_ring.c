/* The cut of the ring kernels: whatever the problem, blocks cover it, threads and shared memory stay within bounds, and the
 * numbers that the kernel is told fit each other. */
#include "dw_ring_host.h"
#include "problem.h"
#include "ring.h"
#include "unit.h"

static const gdnn_ring_shape shapes[] = {
    {3, 3, 1, 4, 7, 4, 128}, {3, 3, 2, 4, 7, 4, 128}, {5, 5, 1, 2, 7, 6, 128},
    {5, 5, 2, 2, 7, 6, 128}, {7, 7, 1, 1, 7, 8, 128}, {7, 7, 2, 1, 7, 8, 128},
};

static gdnn_conv problem(const gdnn_ring_shape *s, const char *dtype, const int64_t size[5])
{
    char text[256];
    gdnn_conv conv;
    snprintf(text, sizeof text,
             "dtype=%s layout=nhwc n=%lld c=%lld in=%lldx%lld k=%lld filter=%dx%d groups=%lld "
             "pad=%d stride=%d dilation=%lld",
             dtype, (long long)size[0], (long long)size[1], (long long)size[2], (long long)size[3],
             (long long)size[1], s->filter_h, s->filter_w, (long long)size[1],
             (int)(s->filter_h / 2 * size[4]), s->stride, (long long)size[4]);
    if (gdnn_conv_parse(text, &conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

static int64_t divide_up(int64_t n, int64_t d)
{
    return (n + d - 1) / d;
}

static void check_grid(const gdnn_conv *p, const gdnn_ring_shape *s)
{
    gdnn_grid g = gdnn_ring_grid(p, *s);
    const gdnn_tiling *t = &g.tiling;
    int size = (int)gdnn_dtype_size(p->dtype), group = t->lanes * t->strips;

    assert_in_range(t->lanes, 1, s->threads);
    assert_in_range(group * t->images, 1, s->threads);
    assert_int_equal(g.threads % 32, 0);
    assert_in_range(g.threads - group * t->images, 0, 31);
    assert_in_range(g.shared, 1, 64 * 1024);

    int64_t rows = divide_up(gdnn_out_size(p, 0), p->dilation[0]);
    int64_t columns = divide_up(gdnn_out_size(p, 1), p->dilation[1]);
    assert_true(t->channel_tiles.value * t->tile >= p->c);
    assert_true((t->channel_tiles.value - 1) * t->tile < p->c);
    assert_true(t->strip_tiles.value * t->strips * s->columns >= columns);
    assert_true(t->slabs.value * t->rows >= rows);
    assert_true((t->slabs.value - 1) * t->rows < rows);
    int64_t rest = t->channel_tiles.value * t->strip_tiles.value * t->slabs.value * p->dilation[0] *
                   p->dilation[1];
    assert_int_equal(g.blocks % rest, 0);
    assert_true(g.blocks / rest * t->images * t->turns >= p->n);
    assert_true((g.blocks / rest - 1) * t->images * t->turns < p->n);

    assert_int_equal(t->tile, t->lanes * s->channels);
    assert_int_equal(t->width, (t->strips * s->columns - 1) * s->stride + s->filter_w);
    assert_int_equal(t->slot, t->images * t->width * t->tile);
    assert_true(g.shared >=
                (int64_t)s->ring * t->slot * size + t->tile * s->filter_h * s->filter_w * size);
    assert_int_equal(t->last_slot, (s->ring - 1) * t->slot * size);
    for (int i = 0; i < s->threads; i++) { /* the division by multiplication */
        assert_int_equal(i * t->lanes_inverse >> 20, i / t->lanes);
        assert_int_equal((int64_t)i * t->group_inverse >> 20, i / group);
        assert_int_equal((int64_t)i * t->parts_inverse >> 20, i / t->parts);
    }
    if (t->chunk >= 4) {
        assert_int_equal(p->c * size % t->chunk, 0);
        assert_int_equal(t->tile_bytes % t->chunk, 0);
        assert_int_equal(t->parts * t->chunk, t->tile_bytes);
        assert_in_range(t->copies * t->parts, 1, group);
    }
}

static void every_cut_covers_its_problem(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f16", "f32"};
    uint64_t random = test_seed();
    for (int i = 0; i < 3000; i++) {
        const gdnn_ring_shape *s = &shapes[i % COUNT_OF(shapes)];
        int64_t most = i % 3 ? 40 : 300;
        int64_t size[] = {test_pick(&random, 1, i % 5 ? 9 : 400),
                          test_pick(&random, 1, i % 4 ? 70 : 2000), test_pick(&random, 1, most),
                          test_pick(&random, 1, most),
                          s->stride == 1 ? test_pick(&random, 1, 3) : 1};
        gdnn_conv conv = problem(s, dtypes[i / 6 % 2], size);
        check_grid(&conv, s);
    }
}

/* Usual layers fill the machine: lanes are not idle, and rows are not read twice. */
static void usual_layers_are_cut_well(void **state)
{
    (void)state;
    static const int64_t layers[][4] = {{128, 32, 112, 0}, {128, 128, 56, 0}, {128, 256, 28, 0},
                                        {128, 512, 14, 0}, {128, 1024, 7, 0}, {128, 144, 56, 0}};
    for (size_t i = 0; i < COUNT_OF(layers); i++) {
        const int64_t size[] = {layers[i][0], layers[i][1], layers[i][2], layers[i][2], 1};
        gdnn_conv conv = problem(&shapes[0], "f16", size);
        gdnn_grid g = gdnn_ring_grid(&conv, shapes[0]);
        const gdnn_tiling *t = &g.tiling;
        double outputs = (double)gdnn_elements(&conv, GDNN_ROLE_Y);
        double room = (double)g.blocks * g.threads * t->turns * t->rows * 28;
        assert_true(outputs / room > 0.85);
        assert_true(t->rows * t->slabs.value < size[2] * 1.1);
        double share = (double)g.blocks / 132, busiest = (double)((g.blocks + 131) / 132);
        assert_true(busiest / share < 1.15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_covers_its_problem),
        cmocka_unit_test(usual_layers_are_cut_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
