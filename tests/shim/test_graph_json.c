/* graph_json: texts of plans as graphs. What a text means is said as a problem, which the plan was made for. */
#include "graphs.h"
#include "plan_texts.h"
#include "unit.h"

static const char *name_of(int fate)
{
    return fate == NO_PLAN ? "no plan" : gdnn_reason_name((gdnn_reason)fate);
}

static void assert_fate(const char *text, int wanted, const char *why)
{
    gdnn_graph_problem problem;
    const int fate = plan_text_read(text, strlen(text), &problem);
    if (fate != wanted)
        fail_msg("%s: %s, expected was %s", why, name_of(fate), name_of(wanted));
}

static void assert_read_as(const char *text, const gdnn_graph_problem *wanted)
{
    gdnn_graph_problem problem;
    assert_fate(text, GDNN_REASON_TAKEN, text);
    plan_text_read(text, strlen(text), &problem);
    assert_same_problem(&problem.conv, &wanted->conv);
    assert_int_equal(problem.x, wanted->x);
    assert_int_equal(problem.w, wanted->w);
    assert_int_equal(problem.y, wanted->y);
    assert_int_equal(problem.z, wanted->z);
    assert_int_equal(problem.bias, wanted->bias);
}

static void reads_what_cudnn_writes(void **state)
{
    (void)state;
    for (int i = 0; i < PLAN_TEXTS; i++) {
        print_message("# %s\n", plan_texts[i].what);
        assert_read_as(plan_texts[i].text, &plan_texts[i].problem);
    }
}

static void a_part_is_no_plan(void **state)
{
    (void)state;
    for (int i = 0; i < PLAN_TEXTS; i++) {
        const char *text = plan_texts[i].text;
        gdnn_graph_problem problem;
        for (size_t length = 0; length < strlen(text); length++)
            if (plan_text_read(text, length, &problem) != NO_PLAN)
                fail_msg("%s: the first %zu bytes are a plan", plan_texts[i].what, length);
    }
}

/* With a sanitizer this sees what is read beyond the text. */
static void wrong_bytes_do_no_harm(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int i = 0; i < 20000; i++) {
        const char *text = plan_texts[test_pick(&random, 0, PLAN_TEXTS - 1)].text;
        const size_t length = strlen(text);
        gdnn_graph_problem problem;
        char *changed = strdup(text);
        for (int64_t left = test_pick(&random, 1, 3); left; left--)
            changed[test_pick(&random, 0, (int64_t)length - 1)] =
                (char)(test_pick(&random, 0, 1) ? test_pick(&random, 0, 255)
                                                : text[test_pick(&random, 0, (int64_t)length - 1)]);
        plan_text_read(changed, length, &problem);
        free(changed);
    }
}

/* One of another name is a member that is not known, and one that is missing. */
static void every_member_counts(void **state)
{
    (void)state;
    int members = 0, harmless = 0;
    for (int i = 0; i < PLAN_TEXTS - 1; i++) { /* in the last one the profile comes first */
        char *text = strdup(plan_texts[i].text);
        const char *profile = strstr(text, "\"GPUProfile\""), *engine = strstr(text, "\"engine\"");
        for (char *at = text; (at = strstr(at, "\":")); at += 2) {
            char *name = at;
            while (name[-1] != '"')
                name--;
            const bool inside = name > profile + 1 && name != engine + 1;
            const char before = *name;
            *name = '~';
            assert_fate(text,
                        !strncmp(name, "~perationGraph", 14) || !strncmp(name, "~ensors", 7) ||
                                !strncmp(name, "~odes", 5)
                            ? NO_PLAN
                        : inside ? GDNN_REASON_TAKEN
                                 : GDNN_REASON_GRAPH,
                        name);
            *name = before;
            members++;
            harmless += inside;
        }
        free(text);
    }
    assert_true(members > 800 && harmless > 300);
}

/* --- one thing changed --- */

static const char *const group_axis = "pytorch, an axis of groups: groupCount is 8, then 2";
static const char *const fused = "ort on cuDNN 9.26";
static const char *const sided = "ort, pads that differ by side";

static void another_text_another_fate(void **state)
{
    (void)state;
    enum { TAKEN = GDNN_REASON_TAKEN, GRAPH = GDNN_REASON_GRAPH, INVALID = GDNN_REASON_INVALID };
    static const struct {
        const char *from, *to;
        int fate;
    } rows[] = {
        {"\"schemaVersion\":4", "\"schemaVersion\":5", GRAPH},
        {"\"schemaVersion\":4", "\"schemaVersion\":\"4\"", GRAPH},
        {"\"tensors\":", "\"isDynamicShapeEnabled\":true,\"tensors\":", GRAPH},
        {"\"tensors\":", "\"tensors\":7,\"tensors\":", NO_PLAN},
        {"\"nodes\":", "\"nodes\":[],\"nodes\":", GRAPH},
        {"{\"cudnnVersion\"", "{\"kernelCache\":{},\"cudnnVersion\"", GRAPH},
        /* a member less */
        {"\"schemaVersion\":4,", "", GRAPH},
        {"\"finalizeMode\":\"CONV_FORWARD\",", "", GRAPH},
        {"\"isByValue\":false,", "", GRAPH},
        {"\"vectCount\":1,", "", GRAPH},
        {"\"beta\":0.0,", "", GRAPH},
        {"\"mode\":\"CUDNN_CROSS_CORRELATION\",", "", GRAPH},
        {"\"W\":\"119\",", "", GRAPH},
        /* tensors */
        {"\"tensors\":[",
         "\"tensors\":[{\"name\":\"120\",\"dataType\":\"CUDNN_DATA_HALF\",\"dim\":[4,8,8,14,14],"
         "\"stride\":[12544,8,1,896,64],\"isVirtual\":false,\"isByValue\":false,\"vectCount\":1,"
         "\"vectDim\":-1,\"ptrAlignment\":16,\"reordering\":\"CUDNN_TENSOR_REORDERING_NONE\"},",
         GRAPH},
        {"{\"name\"", "{\"isRagged\":true,\"name\"", GRAPH},
        {"{\"name\":\"120\"", "{\"name\":\"0120\"", GRAPH},
        {"\"120\"", "\"0120\"", GRAPH},
        {"\"120\"", "\"120a\"", GRAPH},
        {"\"120\"", "\"\"", GRAPH},
        {"\"120\"", "120", GRAPH},
        {"\"120\"", "\"\\u0031\\u0032\\u0030\"", GRAPH},
        {"\"120\"", "\"121\"", GRAPH},
        {"\"120\"", "\"9223372036854775808\"", GRAPH},
        {"\"X\":\"120\"", "\"X\":\"999\"", GRAPH},
        {"\"X\":\"120\"", "\"X\":{\"name\":\"120\"}", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,14.0]", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,\"14\"]", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,014]", NO_PLAN},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,-14]", INVALID},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,1e1]", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,9223372036854775808]", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,9223372036854775807]", INVALID},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,9223372036854775807,14,14]", INVALID},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,14,1,1,1,1]", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14]", INVALID},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[]", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[[4,8,8,14,14]]", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":{\"a\":4}", GRAPH},
        {"\"dim\":[4,8,8,14,14]", "\"dim\":[4,8,8,14,14],\"dim\":[4,8,8,14,14]", GRAPH},
        {"\"stride\":[12544,8,1,896,64]", "\"stride\":[12544,9,1,896,64]", GDNN_REASON_FORMAT},
        {"\"CUDNN_DATA_HALF\"", "\"CUDNN_DATA_INT8\"", GDNN_REASON_TYPE},
        {"\"CUDNN_DATA_HALF\"", "2", GRAPH},
        {"\"isByValue\":false", "\"isByValue\":true", GDNN_REASON_FORMAT},
        {"\"isByValue\":false", "\"isByValue\":0", GRAPH},
        {"\"isVirtual\":false", "\"isVirtual\":true", GRAPH},
        {"\"isVirtual\":false", "\"isVirtual\":null", GRAPH},
        {"\"vectCount\":1", "\"vectCount\":4", GDNN_REASON_FORMAT},
        {"_REORDERING_NONE", "_REORDERING_INT8x32", GDNN_REASON_FORMAT},
        /* the operation */
        {"OPERATION_CONVOLUTION_FORWARD", "OPERATION_MATMUL", GRAPH},
        {"OPERATION_CONVOLUTION_FORWARD", "OPERATION_CONVOLUTION_BACKWARD_DATA", GRAPH},
        {"\"operation\":", "\"operation\":0,\"operation\":", GRAPH},
        {"\"X\":\"120\"", "\"dX\":\"120\"", GRAPH},
        {"CUDNN_CROSS_CORRELATION", "CUDNN_CORRELATION", INVALID},
        {"\"CUDNN_CROSS_CORRELATION\"", "1", GRAPH},
        {"\"mathPrec\":\"CUDNN_DATA_FLOAT\"", "\"mathPrec\":\"CUDNN_DATA_INT32\"",
         GDNN_REASON_TYPE},
        {"\"alpha\":1.0", "\"alpha\":1", TAKEN},
        {"\"alpha\":1.0", "\"alpha\":\"1\"", GRAPH},
        {"\"alpha\":1.0", "\"alpha\":true", GRAPH},
        {"\"alpha\":1.0", "\"alpha\":1e999", GRAPH},
        {"\"alpha\":1.0", "\"alpha\":0x1", NO_PLAN},
        {"\"alpha\":1.0", "\"alpha\":1.0,\"alpha\":1.0", GRAPH},
        {"\"alpha\":1.0", "\"alph\\u0061\":1.0", GRAPH},
        {"\"alpha\":1.0",
         "\"alpha\":10000000000000000000000000000000000000000000000000000000000.00000", GRAPH},
        {"\"pad\":[1,1]", "\"pad_lower\":[1,1],\"pad_upper\":[1,1]", TAKEN},
        {"\"pad\":[1,1]", "\"pad_lower\":[1,1]", INVALID},
        {"\"pad\":[1,1]", "\"pad\":[1,1],\"pad_upper\":[1,1]", GRAPH},
        {"\"pad\":[1,1]", "\"pad_lower\":[1,1],\"pad\":[1,1]", GRAPH},
        {"\"pad\":[1,1]", "\"pad\":[1,1,1]", INVALID},
        {"\"pad\":[1,1]", "\"pad\":[1,1,1,1,1,1,1]", GRAPH},
        {"\"dilation\":[1,1]", "\"dilation\":[1]", INVALID},
        {"\"groupCount\":2", "\"groupCount\":5", TAKEN},
        {",\"groupCount\":2", "", TAKEN}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *text = plan_text_replace(plan_text_of(group_axis), rows[i].from, rows[i].to);
        assert_fate(text, rows[i].fate, rows[i].to);
        free(text);
    }
}

static void another_follower_another_fate(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        int fate;
    } rows[] = {
        {"CUDNN_POINTWISE_RELU_FWD", "CUDNN_POINTWISE_TANH_FWD", GDNN_REASON_ACTIVATION},
        {"CUDNN_POINTWISE_ADD", "CUDNN_POINTWISE_MUL", GDNN_REASON_ACTIVATION},
        {"\"lowerClip\":0.0", "\"lowerClip\":-1.0", GDNN_REASON_ACTIVATION},
        {"\"lowerClipSlope\":0.0", "\"lowerClipSlope\":0.1", GDNN_REASON_ACTIVATION},
        {"\"upperClip\":1.7976931348623157e308", "\"upperClip\":6", GDNN_REASON_ACTIVATION},
        {"\"upperClip\":1.7976931348623157e308", "\"upperClip\":Infinity", GDNN_REASON_TAKEN},
        {"\"upperClip\":", "\"upperclip\":", GDNN_REASON_GRAPH},
        {"\"alpha1\":1.0", "\"axis\":0,\"alpha1\":1.0", GDNN_REASON_GRAPH},
        {"\"mathPrec\":\"CUDNN_DATA_FLOAT\"", "\"mathPrec\":\"CUDNN_DATA_HALF\"", GDNN_REASON_TYPE},
        {",\"B\":\"5\"", "", GDNN_REASON_GRAPH},
        {"\"B\":\"5\"", "\"B\":\"4\"", GDNN_REASON_GRAPH},
        {"\"nodes\":[{", "\"nodes\":[{\"operation\":\"X\"},{", GDNN_REASON_GRAPH},
        {"\"nodes\":[{", "\"nodes\":[7,{", GDNN_REASON_GRAPH}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *text = plan_text_replace(plan_text_of(fused), rows[i].from, rows[i].to);
        assert_fate(text, rows[i].fate, rows[i].to);
        free(text);
    }
}

static void one_of_two_pads_is_none(void **state)
{
    (void)state;
    char *text = plan_text_replace(plan_text_of(sided), "\"pad_lower\":[1,2],", "");
    assert_fate(text, GDNN_REASON_INVALID, "only after");
    free(text);
}

/* A real of the text, and none of its digits is lost. */
static void numbers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } ids[] = {{"\"0\"", 0},
               {"\"-5\"", -5},
               {"\"9007199254740993\"", INT64_C(9007199254740993)},
               {"\"9223372036854775807\"", INT64_MAX},
               {"\"-9223372036854775808\"", INT64_MIN}};
    static const struct {
        const char *text;
        double number;
    } scales[] = {{"\"alpha\":0.10000000149011612", (double)0.1f},
                  {"\"alpha\":-1.0000000031710769e-30", -1.0000000031710769e-30},
                  {"\"alpha\":1E+2", 100},
                  {"\"alpha\":4.9406564584124654e-324", 4.9406564584124654e-324},
                  {"\"alpha\":1.7976931348623157e308", 1.7976931348623157e+308}};
    gdnn_graph_problem problem;
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        char *text = plan_text_replace(plan_text_of(group_axis), "\"120\"", ids[i].text);
        assert_int_equal(plan_text_read(text, strlen(text), &problem), GDNN_REASON_TAKEN);
        assert_true(problem.x == ids[i].number);
        free(text);
    }
    for (size_t i = 0; i < COUNT_OF(scales); i++) {
        char *text = plan_text_replace(plan_text_of(group_axis), "\"alpha\":1.0", scales[i].text);
        assert_int_equal(plan_text_read(text, strlen(text), &problem), GDNN_REASON_TAKEN);
        assert_true(problem.conv.alpha == scales[i].number);
        free(text);
    }
}

/* --- sizes of the text --- */

/* A plan of so many operations that are not known. */
static int fate_of_nodes(int count)
{
    gdnn_graph_problem problem;
    char text[1024] = "{\"operationGraph\":{\"tensors\":[],\"nodes\":[";
    for (int i = 0; i < count; i++)
        strcat(text, i ? ",{\"operation\":\"?\"}" : "{\"operation\":\"?\"}");
    strcat(text, "]}}");
    return plan_text_read(text, strlen(text), &problem);
}

static void too_many_operations_are_no_plan(void **state)
{
    (void)state;
    assert_int_equal(fate_of_nodes(0), GDNN_REASON_GRAPH);
    assert_int_equal(fate_of_nodes(GDNN_GRAPH_NODES), GDNN_REASON_GRAPH);
    assert_int_equal(fate_of_nodes(GDNN_GRAPH_NODES + 1), NO_PLAN);
}

static void another_text_is_no_plan(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        " ",
                                        "{}",
                                        "[]",
                                        "7",
                                        "null",
                                        "\"operationGraph\"",
                                        "{\"operationGraph\":{}}",
                                        "{\"operationGraph\":[]}",
                                        "{\"operationGraph\":{\"tensors\":[]}}",
                                        "{\"operationGraph\":{\"tensors\":[],\"nodes\":{}}}"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_fate(texts[i], NO_PLAN, texts[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_cudnn_writes),
        cmocka_unit_test(a_part_is_no_plan),
        cmocka_unit_test(wrong_bytes_do_no_harm),
        cmocka_unit_test(every_member_counts),
        cmocka_unit_test(another_text_another_fate),
        cmocka_unit_test(another_follower_another_fate),
        cmocka_unit_test(one_of_two_pads_is_none),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(too_many_operations_are_no_plan),
        cmocka_unit_test(another_text_is_no_plan),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE OF TEXTS\n", argv[0]);
        return 2;
    }
    plan_texts_load(argv[1]);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    plan_texts_free();
    return failed;
}
