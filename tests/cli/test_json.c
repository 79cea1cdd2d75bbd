#include "json.h"
#include "unit.h"
#include <math.h>
#include <unistd.h>

/* What `write` makes of the members, without the newline. */
static const char *written(void (*write)(json *j))
{
    static char text[4096];
    char path[] = "/tmp/groupdnn_json_XXXXXX";
    json j;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(json_open(&j, path), GDNN_OK);
    json_begin(&j);
    write(&j);
    json_end(&j);
    assert_int_equal(json_close(&j), GDNN_OK);
    ssize_t length = read(file, text, sizeof text - 1);
    assert_true(length > 0 && text[length - 1] == '\n');
    text[length - 1] = 0;
    close(file);
    unlink(path);
    return text;
}

static void members(json *j)
{
    json_text(j, "a", "b");
    json_text(j, "none", NULL);
    json_integer(j, "i", -9007199254740993);
    json_flag(j, "yes", true);
    json_flag(j, "no", false);
    json_null(j, "null");
}

static void nothing(json *j)
{
    (void)j;
}

static void numbers(json *j)
{
    json_number(j, "a", 0.5);
    json_number(j, "b", 2.25e-7);
    json_number(j, "c", NAN);
    json_number(j, "d", -INFINITY);
    json_number(j, "e", 0);
}

static void texts(json *j)
{
    json_text(j, "quoted \"key\"", "back\\slash, \"quote\", tab\t, newline\n, \x01");
    json_text(j, "utf8", "\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80");
    json_text(j, "not utf8", "\xff \xc2 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82");
}

static void objects_are_json(void **state)
{
    (void)state;
    assert_string_equal(written(members),
                        "{\"a\": \"b\", \"none\": null, \"i\": -9007199254740993, "
                        "\"yes\": true, \"no\": false, \"null\": null}");
    assert_string_equal(written(nothing), "{}");
}

static void what_json_lacks_is_null(void **state)
{
    (void)state;
    assert_string_equal(written(numbers),
                        "{\"a\": 0.5, \"b\": 2.25e-07, \"c\": null, \"d\": null, \"e\": 0}");
}

static void texts_are_escaped(void **state)
{
    (void)state;
    const char *text = written(texts);
    assert_contains(text, "\"quoted \\\"key\\\"\": \"back\\\\slash, \\\"quote\\\", tab\\u0009, "
                          "newline\\u000a, \\u0001\"");
    assert_contains(text, "\"\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80\"");
    assert_contains(text, "\"\\ufffd \\ufffd \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd "
                          "\\ufffd\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\"");
}

static void files_that_cannot_be_written(void **state)
{
    json j;
    (void)state;
    assert_int_equal(json_open(&j, "/no/such/folder/x"), GDNN_INVALID);
    assert_contains(gdnn_last_error(), "/no/such/folder/x");
    assert_int_equal(json_open(&j, "/dev/full"), GDNN_OK);
    json_begin(&j);
    json_text(&j, "a", "b");
    json_end(&j);
    assert_int_equal(json_close(&j), GDNN_FAILED);
    /* no file is fine, and nothing happens */
    assert_int_equal(json_open(&j, NULL), GDNN_OK);
    json_begin(&j);
    members(&j);
    json_end(&j);
    assert_int_equal(json_close(&j), GDNN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_json),
        cmocka_unit_test(what_json_lacks_is_null),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(files_that_cannot_be_written),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
