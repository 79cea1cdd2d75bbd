/* Backward-data turned into a forward convolution: which problems can be, and sizes, pads and strides of those that can. That
 * the numbers are right is tested with the kernels that run it. */
#include "problem.h"
#include "turn.h"
#include "unit.h"

static gdnn_conv problem(const char *rest)
{
    char text[256];
    gdnn_conv conv;
    snprintf(text, sizeof text, "dir=bwd_data dtype=f16 layout=nhwc %s", rest);
    if (gdnn_conv_parse(text, &conv) != GDNN_OK)
        fail_msg("%s: %s", text, gdnn_last_error());
    return conv;
}

static void what_cannot_be_turned(void **state)
{
    (void)state;
    static const char *const problems[] = {
        "n=1 c=4 in=9x9 k=4 filter=3x3 groups=4 pad=1 stride=2",
        "n=1 c=4 in=9x9 k=4 filter=3x3 groups=4 pad=1 stride=1x2",
        "n=1 c=4 in=9x9 k=4 filter=3x3 groups=4 pad=3",
        "n=1 c=4 in=9x9 k=4 filter=3x3 groups=4 pad=2 pad_after=3",
        "n=1 c=4 in=9x9 k=4 filter=1x3 groups=4 pad=1",
        "n=1 c=4 in=9x9 k=4 filter=3x3 groups=2 pad=1",
        "n=1 c=4 in=9x9 k=8 filter=3x3 groups=4 pad=1",
    };
    for (size_t i = 0; i < COUNT_OF(problems); i++) {
        gdnn_conv conv = problem(problems[i]), turned;
        if (gdnn_turn(&conv, &turned))
            fail_msg("%s", problems[i]);
    }
    gdnn_conv conv = problem("n=1 c=4 in=9x9 k=4 filter=3x3 groups=4 pad=1"), turned;
    assert_true(gdnn_turn(&conv, &turned));
    conv.dir = GDNN_FWD;
    assert_false(gdnn_turn(&conv, &turned));
}

/* dx has x's sizes and place, dy is read in y's: for pads of each side, dilations and both modes. */
static void sizes_change_places(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int i = 0; i < 2000; i++) {
        char text[256];
        int64_t h = test_pick(&random, 1, 9), w = test_pick(&random, 1, 9);
        int64_t r = test_pick(&random, 1, 5), s = test_pick(&random, 1, 5);
        int64_t dh = test_pick(&random, 1, 3), dw = test_pick(&random, 1, 3);
        int64_t pad[4] = {test_pick(&random, 0, (r - 1) * dh), test_pick(&random, 0, (s - 1) * dw),
                          test_pick(&random, 0, (r - 1) * dh), test_pick(&random, 0, (s - 1) * dw)};
        if (h + pad[0] + pad[2] <= (r - 1) * dh || w + pad[1] + pad[3] <= (s - 1) * dw)
            continue;
        snprintf(text, sizeof text,
                 "n=2 c=3 in=%dx%d k=3 filter=%dx%d groups=3 pad=%dx%d pad_after=%dx%d "
                 "dilation=%dx%d mode=%s",
                 (int)h, (int)w, (int)r, (int)s, (int)pad[0], (int)pad[1], (int)pad[2], (int)pad[3],
                 (int)dh, (int)dw, i % 2 ? "conv" : "xcorr");
        gdnn_conv conv = problem(text), turned, again;
        assert_true(gdnn_turn(&conv, &turned));
        assert_int_equal(gdnn_check(&turned), GDNN_OK);
        assert_int_equal(turned.dir, GDNN_FWD);
        assert_int_not_equal(turned.mode, conv.mode);
        for (int axis = 0; axis < 2; axis++) {
            assert_int_equal(turned.in[axis], gdnn_out_size(&conv, axis));
            assert_int_equal(gdnn_out_size(&turned, axis), conv.in[axis]);
        }
        assert_memory_equal(turned.x_stride, conv.y_stride, sizeof conv.y_stride);
        assert_memory_equal(turned.y_stride, conv.x_stride, sizeof conv.x_stride);
        assert_memory_equal(turned.w_stride, conv.w_stride, sizeof conv.w_stride);
        /* turned once more it is the problem it was */
        turned.dir = GDNN_BWD_DATA;
        assert_true(gdnn_turn(&turned, &again));
        again.dir = GDNN_BWD_DATA;
        assert_true(gdnn_conv_equal(&again, &conv));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_turned),
        cmocka_unit_test(sizes_change_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
