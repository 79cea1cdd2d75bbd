#include "enums.h"
#include "unit.h"

/* Written out, not made from enums.def: these words are a promise to files and scripts. */
static const struct {
    gdnn_enum which;
    int value;
    const char *word;
} expected[] = {
    {GDNN_ENUM_dir, GDNN_FWD, "fwd"},
    {GDNN_ENUM_dir, GDNN_BWD_DATA, "bwd_data"},
    {GDNN_ENUM_dir, GDNN_BWD_FILTER, "bwd_filter"},
    {GDNN_ENUM_dtype, GDNN_F16, "f16"},
    {GDNN_ENUM_dtype, GDNN_BF16, "bf16"},
    {GDNN_ENUM_dtype, GDNN_F32, "f32"},
    {GDNN_ENUM_dtype, GDNN_F64, "f64"},
    {GDNN_ENUM_layout, GDNN_NCHW, "nchw"},
    {GDNN_ENUM_layout, GDNN_NHWC, "nhwc"},
    {GDNN_ENUM_mode, GDNN_XCORR, "xcorr"},
    {GDNN_ENUM_mode, GDNN_CONV, "conv"},
    {GDNN_ENUM_math, GDNN_MATH_F32, "f32"},
    {GDNN_ENUM_math, GDNN_MATH_TF32, "tf32"},
    {GDNN_ENUM_act, GDNN_ACT_NONE, "none"},
    {GDNN_ENUM_act, GDNN_ACT_RELU, "relu"},
};

static void words_and_values_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const char *word = gdnn_enum_word(expected[i].which, expected[i].value);
        assert_non_null(word);
        assert_string_equal(word, expected[i].word);
        int value = -1;
        assert_true(gdnn_enum_value(expected[i].which, word, strlen(word), &value));
        assert_int_equal(value, expected[i].value);
    }
}

static void values_outside_have_no_word(void **state)
{
    (void)state;
    static const int sizes[] = {3, 4, 2, 2, 2, 2};
    for (int which = GDNN_ENUM_dir; which <= GDNN_ENUM_act; which++) {
        assert_null(gdnn_enum_word((gdnn_enum)which, -1));
        assert_non_null(gdnn_enum_word((gdnn_enum)which, sizes[which] - 1));
        assert_null(gdnn_enum_word((gdnn_enum)which, sizes[which]));
    }
}

static void only_whole_words_of_the_right_enumeration(void **state)
{
    (void)state;
    static const struct {
        gdnn_enum which;
        const char *word;
    } wrong[] = {
        {GDNN_ENUM_dtype, ""},     {GDNN_ENUM_dtype, "f"},   {GDNN_ENUM_dtype, "f162"},
        {GDNN_ENUM_dtype, "F16"},  {GDNN_ENUM_dtype, "fwd"}, {GDNN_ENUM_dir, "bwd"},
        {GDNN_ENUM_layout, "nch"}, {GDNN_ENUM_math, "f16"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        int value = 42;
        assert_false(gdnn_enum_value(wrong[i].which, wrong[i].word, strlen(wrong[i].word), &value));
        assert_int_equal(value, 42);
    }
    int value;
    assert_true(gdnn_enum_value(GDNN_ENUM_dtype, "f16 and more", 3, &value));
    assert_int_equal(value, GDNN_F16);
}

static void lists_for_messages(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        assert_string_equal(gdnn_enum_words(GDNN_ENUM_dir), "fwd, bwd_data, bwd_filter");
        assert_string_equal(gdnn_enum_words(GDNN_ENUM_dtype), "f16, bf16, f32, f64");
        assert_string_equal(gdnn_enum_words(GDNN_ENUM_layout), "nchw, nhwc");
        assert_string_equal(gdnn_enum_words(GDNN_ENUM_mode), "xcorr, conv");
        assert_string_equal(gdnn_enum_words(GDNN_ENUM_math), "f32, tf32");
        assert_string_equal(gdnn_enum_words(GDNN_ENUM_act), "none, relu");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_values_match),
        cmocka_unit_test(values_outside_have_no_word),
        cmocka_unit_test(only_whole_words_of_the_right_enumeration),
        cmocka_unit_test(lists_for_messages),
    };
    return cmocka_run_group_tests_name("enums", tests, NULL, NULL);
}
