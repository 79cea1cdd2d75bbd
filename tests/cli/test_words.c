/* What the tool reads besides problems: suggestions, facts of GPUs, compiled kernels. */
#include "columns.h"
#include "cubin.h"
#include "facts.h"
#include "images.h"
#include "suggest.h"
#include "unit.h"
#include <unistd.h>

static void near_words_are_suggested(void **state)
{
    static const char *const words[] = {"compare", "explain", "kernels", "info"};
    (void)state;
    assert_string_equal(suggest("comapre", words, 4), "compare");
    assert_string_equal(suggest("kernel", words, 4), "kernels");
    assert_string_equal(suggest("inof", words, 4), "info");
    assert_null(suggest("bench", words, 4));
    assert_string_equal(suggest("comp", words, 4), "compare");
    assert_null(suggest("", words, 4));
    assert_null(suggest("in", words + 1, 2));
    assert_null(
        suggest("a very long word that no command has, of more than forty letters", words, 4));
}

static void read_facts(const char *text, gdnn_status wanted, const char *says, gdnn_device *device)
{
    char path[] = "/tmp/groupdnn_facts_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    gdnn_status status = facts_read(path, device);
    unlink(path);
    if (status != wanted)
        fail_msg("%s: %s", text, gdnn_last_error());
    if (says)
        assert_contains(gdnn_last_error(), says);
}

static void facts_of_a_gpu(void **state)
{
    gdnn_device d;
    (void)state;
    assert_int_equal(facts_read("a100", &d), GDNN_OK);
    assert_int_equal(d.sm, 80);
    read_facts("# mine\nname=My GPU\n sm=86 \nmultiprocessors=46\nshared_bytes=101376 # 99 KiB\n"
               "bandwidth_gbs=448.5\n",
               GDNN_OK, NULL, &d);
    assert_string_equal(d.name, "My GPU");
    assert_int_equal(d.sm, 86);
    assert_int_equal(d.multiprocessors, 46);
    assert_int_equal(d.shared_bytes, 101376);
    assert_true(d.bandwidth_gbs == 448.5 && d.fp32_tflops == 0);
    read_facts("sm=86\nshared_bytes=1\n", GDNN_INVALID, "multiprocessors is missing", &d);
    read_facts("name=a\nsm=86\n", GDNN_INVALID, "multiprocessors, shared_bytes are missing", &d);
    read_facts("# all\n", GDNN_INVALID, "sm, multiprocessors, shared_bytes are missing", &d);
    read_facts("sm=86\nsms=4\n", GDNN_INVALID, ":2: unknown key 'sms', did you mean sm?", &d);
    read_facts("share_bytes=4\n", GDNN_INVALID, "did you mean shared_bytes?", &d);
    read_facts("clock=4\n", GDNN_INVALID, "the keys are name, sm,", &d);
    read_facts("sm=eight\n", GDNN_INVALID, ":1: sm=eight", &d);
    read_facts("sm=86\n\n sm=86\n", GDNN_INVALID, ":3: sm=86: sm was given before", &d);
    read_facts("sm=8.5\n", GDNN_INVALID, "whole number", &d);
    read_facts("multiprocessors=4294967297\n", GDNN_INVALID, "whole number", &d);
    read_facts("sm=-80\n", GDNN_INVALID, "above 0", &d);
    read_facts("sm\n", GDNN_INVALID, "key=value", &d);
    assert_int_equal(facts_read("z9000", &d), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "h200");
    assert_int_equal(facts_read("./none.txt", &d), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "./none.txt");
}

/* The images of this build, cut and damaged: whatever is in them, reading ends within them
 * (sanitizers watch). */
static void images_are_read_with_care(void **state)
{
    uint64_t random = test_seed();
    (void)state;
    for (int image = 0; image < GDNN_IMAGES; image++) {
        size_t size;
        const char *file;
        char archs[256];
        cubin_use use;
        const unsigned char *bytes = gdnn_image(image, &size, &file);
        cubin_archs(bytes, size, archs, sizeof archs);
        bool known = cubin_read(bytes, size, "gdnn_", &use);
        assert_int_equal(known, strstr(archs, "sm_") != NULL); /* without nvcc there is neither */
        if (known)
            assert_true(use.regs >= 16 && use.regs <= 255 && use.shared <= 232448);
        assert_false(cubin_read(bytes, size, "no_such_kernel", &use));
        unsigned char *copy = malloc(size);
        for (int i = 0; i < 300; i++) {
            size_t cut = i % 3 ? size : (size_t)test_pick(&random, 0, (int64_t)size);
            memcpy(copy, bytes, size);
            for (int64_t n = test_pick(&random, 1, 8); n > 0; n--)
                copy[test_pick(&random, 0, (int64_t)size - 1)] =
                    (unsigned char)test_random(&random);
            cubin_archs(copy, cut, archs, sizeof archs);
            cubin_read(copy, cut, "gdnn_", &use);
        }
        free(copy);
    }
}

static void printed(const char *text, int at, int indent, int width, const char *wanted)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    assert_non_null(out);
    if (width)
        columns_wrapped(out, text, at, indent, width);
    else
        columns_cell(out, text, at);
    fclose(out);
    assert_string_equal(bytes, wanted);
    free(bytes);
}

static void text_in_columns(void **state)
{
    (void)state;
    assert_int_equal(columns_of("aéö…"), 4);
    printed("ab", 4, 0, 0, "ab  ");
    printed("abcd", 4, 0, 0, "abcd");
    printed("abcde", 4, 0, 0, "abc…");
    printed("éöüäß", 4, 0, 0, "éöü…");
    printed("éö", 4, 0, 0, "éö  ");
    printed("one two three", 0, 0, 7, "one two\nthree\n");
    printed("one two three", 2, 2, 9, "one two\n  three\n");
    printed("one two three", 0, 2, 6, "one\n  two\n  three\n");
    printed("unbreakable one", 0, 0, 5, "unbreakable\none\n");
    printed("a\n  b c", 0, 0, 5, "a\n  b c\n");
    printed("éé éé", 0, 0, 5, "éé éé\n");
    printed("", 0, 0, 5, "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_in_columns),
        cmocka_unit_test(near_words_are_suggested),
        cmocka_unit_test(facts_of_a_gpu),
        cmocka_unit_test(images_are_read_with_care),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
