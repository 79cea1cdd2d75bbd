/* From the command line to problems: jobs.h and given.h. */
#include "given.h"
#include "jobs.h"
#include "problem.h"
#include "unit.h"
#include <unistd.h>

static char path[] = "/tmp/groupdnn_jobs_XXXXXX";

static void write_file(const char *bytes, size_t size)
{
    strcpy(path, "/tmp/groupdnn_jobs_XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

static void what_a_line_leaves_open_is_run_in_all_ways(void **state)
{
    static const struct {
        const char *line;
        unsigned dirs, dtypes, layouts;
        int rows;
    } cases[] = {
        {"n=1 c=2 in=3 k=2 filter=1 groups=2", 7, 7, 1, 9},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2", 7, 15, 3, 24},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2", 2, 8, 2, 1},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2 dir=bwd_data", 5, 7, 1, 3},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2 dtype=f64", 7, 7, 3, 6},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2 layout=nhwc", 1, 1, 3, 1},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2 bias=1", 7, 7, 1, 3},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2 act=relu", 7, 1, 1, 1},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2 xstrides=6x3x1 wstrides=1x1x1 ystrides=6x3x1", 7, 1, 3,
         3},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const jobs_choice choice = {cases[i].dirs, cases[i].dtypes, cases[i].layouts};
        jobs j = {.count = 0};
        if (jobs_add(&j, cases[i].line, &choice) != GDNN_OK)
            fail_msg("%s: %s", cases[i].line, gdnn_last_error());
        assert_int_equal(j.count, cases[i].rows);
        for (int a = 0; a < j.count; a++)
            for (int b = 0; b < a; b++)
                assert_false(gdnn_conv_equal(&j.list[a].conv, &j.list[b].conv));
        jobs_free(&j);
    }
}

static void files_are_read_line_by_line(void **state)
{
    static const char text[] =
        "# a network\n\nname=a n=1 c=2 in=3 k=2 filter=1 groups=2 dtype=f32\r\n"
        "name=b n=1 c=4 in=3 k=2 filter=1 groups=2 dir=fwd # two rows\n"
        "name=c n=1 c=6 in=3 k=2 filter=1 groups=2 dir=fwd dtype=f16";
    const jobs_choice choice = {7, 3, 1};
    jobs j = {.count = 0};
    (void)state;
    write_file(text, sizeof text - 1);
    assert_int_equal(jobs_add(&j, path, &choice), GDNN_OK);
    assert_int_equal(j.count, 3 + 2 + 1);
    assert_string_equal(j.list[0].name, "a");
    assert_string_equal(j.list[4].name, "b");
    assert_int_equal(j.list[5].conv.c, 6);
    for (int i = 0; i < j.count; i++)
        assert_string_equal(j.list[i].source, path);
    unlink(path);
    jobs_free(&j);
}

static void errors_name_file_and_line(void **state)
{
    static const struct {
        const char *text;
        size_t size; /* 0: up to the zero */
        const char *says[3];
    } cases[] = {
        {"n=1\n", 0, {":1: ", "c"}},
        {"\n# x\nn=1 c=2 in=3 k=2 filter=1 groups=2 pad=q\n", 0, {":3: ", "pad", "q"}},
        {"n=1 c=3 in=3 k=2 filter=1 groups=2", 0, {":1: ", "3", "groups=2"}},
        {"n=1 c=2 in=3 k=2 filter=1 groups=2\nnm=1\n", 0, {":2: ", "nm"}},
        {"# nothing\n", 0, {"no problem"}},
        {"", 0, {"no problem"}},
        {"n=1 c\0=2", 8, {":1: ", "zero byte"}},
    };
    const jobs_choice choice = jobs_default();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        jobs j = {.count = 0};
        write_file(cases[i].text, cases[i].size ? cases[i].size : strlen(cases[i].text));
        assert_int_equal(jobs_add(&j, path, &choice), GDNN_INVALID);
        assert_contains(gdnn_last_error(), path);
        for (int k = 0; k < 3 && cases[i].says[k]; k++)
            assert_contains(gdnn_last_error(), cases[i].says[k]);
        unlink(path);
        jobs_free(&j);
    }
    jobs j = {.count = 0};
    assert_int_equal(jobs_add(&j, "no_such_file.txt", &choice), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "no_such_file.txt: no such file");
    assert_int_equal(jobs_add(&j, "", &choice), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "empty");
    assert_int_equal(jobs_add(&j, "/tmp", &choice), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "directory");
    const jobs_choice backward = {2, 1, 1};
    assert_int_equal(jobs_add(&j, "n=1 c=2 in=3 k=2 filter=1 groups=2 bias=1", &backward),
                     GDNN_INVALID);
    assert_contains(gdnn_last_error(), "dir=fwd");
    jobs_free(&j);
}

static void lists_of_words(void **state)
{
    unsigned bits;
    (void)state;
    assert_int_equal(jobs_words(GDNN_ENUM_dtype, "f32,f16", &bits), GDNN_OK);
    assert_int_equal(bits, 1 << GDNN_F32 | 1 << GDNN_F16);
    assert_int_equal(jobs_words(GDNN_ENUM_dir, "bwd_filter", &bits), GDNN_OK);
    assert_int_equal(bits, 1 << GDNN_BWD_FILTER);
    assert_int_equal(jobs_words(GDNN_ENUM_dtype, "f32,f61", &bits), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "f61");
    assert_int_equal(jobs_words(GDNN_ENUM_dtype, "", &bits), GDNN_INVALID);
    assert_int_equal(jobs_words(GDNN_ENUM_dtype, "f32,", &bits), GDNN_INVALID);
}

/* Tensors without contents: shapes are what counts here. */
static given shapes(const gdnn_npy *x, const gdnn_npy *w, const gdnn_npy *dy)
{
    given g = {.path = {NULL}};
    const gdnn_npy *files[] = {x, w, dy};
    static const char *const names[] = {"x.npy", "w.npy", "dy.npy"};
    for (int i = 0; i < 3; i++)
        if (files[i]) {
            g.path[i] = names[i];
            g.file[i] = *files[i];
        }
    return g;
}

static const gdnn_npy x = {.dims = 4, .size = {2, 6, 9, 7}, .type = GDNN_F32};
static const gdnn_npy w = {.dims = 4, .size = {4, 3, 3, 2}, .type = GDNN_F32};
static const gdnn_npy dy = {.dims = 4, .size = {2, 4, 4, 6}, .type = GDNN_F32};

static void shapes_complete_a_problem(void **state)
{
    gdnn_text text;
    gdnn_conv conv, wanted;
    bool empty;
    given g = shapes(&x, &w, NULL);
    (void)state;
    assert_int_equal(gdnn_text_parse("stride=2x1", &text, &empty), GDNN_OK);
    assert_int_equal(given_sizes(&g, &text), GDNN_OK);
    assert_int_equal(gdnn_text_finish(&text, &conv), GDNN_OK);
    assert_int_equal(gdnn_conv_parse("n=2 c=6 in=9x7 k=4 filter=3x2 stride=2x1 groups=2", &wanted),
                     GDNN_OK);
    assert_true(gdnn_conv_equal(&conv, &wanted));
    g = shapes(&x, &w, &dy);
    assert_int_equal(given_check(&g, &conv), GDNN_OK);
    assert_true(given_suffices(&g, GDNN_FWD) && given_suffices(&g, GDNN_BWD_DATA));
    g = shapes(&x, NULL, &dy);
    assert_true(given_suffices(&g, GDNN_BWD_FILTER));
    assert_false(given_suffices(&g, GDNN_FWD));
    /* x is not there in backward-data: the problem says its sizes. */
    g = shapes(NULL, &w, &dy);
    assert_int_equal(gdnn_text_parse("groups=2 in=9x7 stride=2x1", &text, &empty), GDNN_OK);
    assert_int_equal(given_sizes(&g, &text), GDNN_OK);
    assert_int_equal(gdnn_text_finish(&text, &conv), GDNN_OK);
    assert_true(gdnn_conv_equal(&conv, &wanted));
}

static void contradictions_are_named(void **state)
{
    static const struct {
        const char *line;
        const char *says[3];
    } cases[] = {
        {"n=3", {"n is 3 in the problem", "2 in x.npy"}},
        {"c=5", {"c is 5", "6 in x.npy"}},
        {"groups=3", {"w.npy has C/groups=3", "x.npy has C=6", "groups would be 2"}},
        {"in=9x8", {"9x8", "9x7 in x.npy"}},
        {"in=9", {"in is 9", "9x7"}},
        {"filter=2x2", {"2x2", "3x2 in w.npy"}},
        {"k=8", {"k is 8", "4 in w.npy"}},
    };
    gdnn_text text;
    bool empty;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        given g = shapes(&x, &w, &dy);
        assert_int_equal(gdnn_text_parse(cases[i].line, &text, &empty), GDNN_OK);
        assert_int_equal(given_sizes(&g, &text), GDNN_INVALID);
        for (int k = 0; k < 3 && cases[i].says[k]; k++)
            assert_contains(gdnn_last_error(), cases[i].says[k]);
    }
    /* files against each other */
    gdnn_npy other = dy;
    other.size[0] = 5;
    given g = shapes(&x, &w, &other);
    assert_int_equal(gdnn_text_parse("", &text, &empty), GDNN_OK);
    assert_int_equal(given_sizes(&g, &text), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "n is 2 in x.npy and 5 in dy.npy");
    /* an output that the problem does not have */
    g = shapes(&x, &w, &dy);
    gdnn_conv conv;
    assert_int_equal(gdnn_text_parse("", &text, &empty), GDNN_OK);
    assert_int_equal(given_sizes(&g, &text), GDNN_OK);
    assert_int_equal(gdnn_text_finish(&text, &conv), GDNN_OK);
    assert_int_equal(given_check(&g, &conv), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "(2, 4, 4, 6)");
    assert_contains(gdnn_last_error(), "(2, 4, 7, 6)");
    /* types */
    gdnn_dtype type;
    g.file[1].type = GDNN_F16;
    assert_int_equal(given_dtype(&g, &type), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "w.npy holds f16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_line_leaves_open_is_run_in_all_ways),
        cmocka_unit_test(files_are_read_line_by_line),
        cmocka_unit_test(errors_name_file_and_line),
        cmocka_unit_test(lists_of_words),
        cmocka_unit_test(shapes_complete_a_problem),
        cmocka_unit_test(contradictions_are_named),
    };
    return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
