/* The data of trials: fill.h and tensor.h. */
#include "fill.h"
#include "half.h"
#include "tensor.h"
#include "unit.h"
#include <math.h>

enum { COUNT = 10000 };

static void values_depend_on_seed_tensor_and_index_alone(void **state)
{
    static double all[COUNT], few[10], other[COUNT];
    (void)state;
    fill_values(all, COUNT, FILL_UNIFORM, 5, FILL_X, GDNN_F32);
    fill_values(few, 10, FILL_UNIFORM, 5, FILL_X, GDNN_F32);
    assert_memory_equal(all, few, sizeof few);
    fill_values(other, COUNT, FILL_UNIFORM, 6, FILL_X, GDNN_F32);
    int same = 0;
    for (int i = 0; i < COUNT; i++)
        same += all[i] == other[i];
    assert_true(same < 3);
    for (fill_stream s = FILL_W; s <= FILL_BIAS; s++) {
        fill_values(other, COUNT, FILL_UNIFORM, 5, s, GDNN_F32);
        same = 0;
        for (int i = 0; i < COUNT; i++)
            same += all[i] == other[i];
        assert_true(same < 3);
    }
}

static void values_have_their_kind_and_type(void **state)
{
    static double values[COUNT];
    (void)state;
    for (gdnn_dtype type = GDNN_F16; type <= GDNN_F64; type++) {
        double sum = 0, squares = 0;
        fill_values(values, COUNT, FILL_UNIFORM, 1, FILL_W, type);
        for (int i = 0; i < COUNT; i++) {
            assert_true(values[i] >= -1 && values[i] <= 1);
            assert_true(gdnn_round_to(type, values[i]) == values[i]);
            sum += values[i];
            squares += values[i] * values[i];
        }
        /* 0 and 1/3, within 4 standard deviations */
        assert_true(fabs(sum / COUNT) < 4 * 0.577 / 100);
        assert_true(fabs(squares / COUNT - 1.0 / 3) < 4 * 0.298 / 100);

        int seen[5] = {0};
        fill_values(values, COUNT, FILL_INTEGERS, 1, FILL_W, type);
        for (int i = 0; i < COUNT; i++) {
            assert_true(values[i] == -2 || values[i] == -1 || values[i] == 0 || values[i] == 1 ||
                        values[i] == 2);
            seen[(int)values[i] + 2]++;
        }
        for (int i = 0; i < 5; i++)
            assert_true(abs(seen[i] - COUNT / 5) < 200);
        fill_values(values, COUNT, FILL_ONES, 1, FILL_W, type);
        for (int i = 0; i < COUNT; i++)
            assert_true(values[i] == 1);
    }
}

static void a_tensor_is_laid_out_by_its_strides(void **state)
{
    /* n, c, h, w with gaps everywhere and channels fastest but for one */
    const tensor t = {
        .dtype = GDNN_F32, .dims = 4, .size = {2, 3, 2, 4}, .stride = {200, 2, 80, 10}};
    static float image[512], before[512];
    double values[48], back[48];
    (void)state;
    assert_int_equal(tensor_elements(&t), 48);
    assert_int_equal(tensor_bytes(&t), (200 + 2 * 2 + 80 + 3 * 10 + 1) * sizeof(float));
    for (int i = 0; i < 48; i++)
        values[i] = i + 0.5;
    memset(image, 0xff, sizeof image);
    memcpy(before, image, sizeof image);
    tensor_scatter(&t, values, image);
    int at = 0;
    for (int n = 0; n < 2; n++)
        for (int c = 0; c < 3; c++)
            for (int h = 0; h < 2; h++)
                for (int w = 0; w < 4; w++)
                    assert_true(image[200 * n + 2 * c + 80 * h + 10 * w] == (float)(at++ + 0.5));
    tensor_gather(&t, image, back);
    assert_memory_equal(values, back, sizeof values);
    image[1] = 7; /* a gap */
    tensor_erase(&t, image);
    assert_true(image[1] == 7);
    memcpy(&image[1], &before[1], sizeof image[1]);
    assert_memory_equal(image, before, sizeof image);
}

static void tensors_of_a_problem(void **state)
{
    gdnn_conv conv;
    (void)state;
    assert_int_equal(
        gdnn_conv_parse("n=2 c=6 in=5x7 k=4 filter=3x2 groups=2 layout=nhwc dtype=bf16 bias=1",
                        &conv),
        GDNN_OK);
    tensor x = tensor_of(&conv, TENSOR_X), w = tensor_of(&conv, TENSOR_W),
           y = tensor_of(&conv, TENSOR_Y), bias = tensor_of(&conv, TENSOR_BIAS);
    const int64_t x_size[] = {2, 6, 5, 7}, w_size[] = {4, 3, 3, 2}, y_size[] = {2, 4, 3, 6};
    assert_memory_equal(x.size, x_size, sizeof x_size);
    assert_memory_equal(w.size, w_size, sizeof w_size);
    assert_memory_equal(y.size, y_size, sizeof y_size);
    assert_int_equal(x.stride[1], 1);
    assert_int_equal(tensor_bytes(&x), 2 * 6 * 5 * 7 * 2);
    assert_int_equal(bias.dims, 1);
    assert_int_equal(bias.size[0], 4);
    assert_true(tensor_used(&conv, TENSOR_BIAS));
    assert_false(tensor_used(&conv, TENSOR_Z));
    assert_string_equal(tensor_label(GDNN_BWD_DATA, TENSOR_X), "dx");
    assert_string_equal(tensor_label(GDNN_BWD_FILTER, TENSOR_X), "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_depend_on_seed_tensor_and_index_alone),
        cmocka_unit_test(values_have_their_kind_and_type),
        cmocka_unit_test(a_tensor_is_laid_out_by_its_strides),
        cmocka_unit_test(tensors_of_a_problem),
    };
    return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
