/* json_text: the syntax of JSON. */
#include "json_text.h"
#include "unit.h"
#include <locale.h>
#include <math.h>
#include <unistd.h>

/* Reads a copy of exactly that length, so that a sanitizer sees what is read beyond it. */
static bool is_json(const char *text)
{
    const size_t length = strlen(text);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    gdnn_json value;
    const bool read = gdnn_json_read(copy, length, &value);
    free(copy);
    return read;
}

static void well_formed_is_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "12",
                                        "-1.5e+10",
                                        "1E2",
                                        "0.5",
                                        "true",
                                        "false",
                                        "null",
                                        "NaN",
                                        "Infinity",
                                        "-Infinity",
                                        "\"\"",
                                        "\"a\\\"b\"",
                                        "\"\\\\\"",
                                        "\"\xff\"",
                                        " [ ] ",
                                        "{}",
                                        "[1,2]",
                                        "[[],{}]",
                                        "\t\r\n{ \"a\" : 1 , \"b\" : [ ] }\n",
                                        "{\"a\":{\"a\":{}},\"\":0}"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (!is_json(texts[i]))
            fail_msg("not read: %s", texts[i]);
}

static void malformed_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        " ",
                                        "-",
                                        "+1",
                                        "01",
                                        "-01",
                                        ".5",
                                        "1.",
                                        "1e",
                                        "1e+",
                                        "0x1",
                                        "1_0",
                                        "inf",
                                        "nan",
                                        "-NaN",
                                        "tru",
                                        "True",
                                        "truefalse",
                                        "1 2",
                                        "\"",
                                        "\"a",
                                        "\"\\\"",
                                        "\"\\",
                                        "\"a\nb\"",
                                        "'a'",
                                        "[",
                                        "]",
                                        "[1",
                                        "[1,",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "[}",
                                        "{",
                                        "}",
                                        "{]",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{\"a\":1,}",
                                        "{a:1}",
                                        "{1:1}",
                                        "{\"a\" 1}",
                                        "{\"a\":1 \"b\":2}",
                                        "{}{}",
                                        "[],",
                                        "// a\n1",
                                        "[1]\x01",
                                        "\"\x01true",
                                        "\"a\x01\"a\""};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (is_json(texts[i]))
            fail_msg("read: %s", texts[i]);
    gdnn_json value;
    assert_false(gdnn_json_read("1\0", 2, &value));
}

/* `count` times `open` and as many `close`. */
static bool nested(size_t count, char open, char close)
{
    char *text = malloc(2 * count + 1);
    memset(text, open, count);
    memset(text + count, close, count);
    text[2 * count] = '\0';
    const bool read = is_json(text);
    free(text);
    return read;
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    assert_true(nested(GDNN_JSON_DEPTH, '[', ']'));
    assert_false(nested(GDNN_JSON_DEPTH + 1, '[', ']'));
    assert_false(nested(1 << 22, '[', ']'));
    assert_false(nested(1 << 22, '[', '['));
}

static gdnn_json read_text(const char *text)
{
    gdnn_json value = {0};
    if (!gdnn_json_read(text, strlen(text), &value))
        fail_msg("not read: %s", text);
    return value;
}

static void items_come_in_order(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "a"}, *const values[] = {"[1,{}]", "-2", "\"x\""};
    gdnn_json_items items = gdnn_json_open(read_text(" {\"a\" : [1,{}] ,\"b\":-2,\"a\": \"x\" } "));
    gdnn_json name, value;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(gdnn_json_next(&items, &name, &value));
        assert_true(gdnn_json_is(name, names[i]));
        assert_int_equal(value.end - value.at, strlen(values[i]));
        assert_memory_equal(value.at, values[i], strlen(values[i]));
    }
    assert_false(gdnn_json_next(&items, &name, &value));
    assert_false(gdnn_json_next(&items, &name, &value));
    static const char *const none[] = {"[]", "[ ]", "{}", "{\n}", "7", "\"[1]\"", "null"};
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        items = gdnn_json_open(read_text(none[i]));
        assert_false(gdnn_json_next(&items, &name, &value));
    }
}

static void the_first_of_equals_is_found(void **state)
{
    (void)state;
    const gdnn_json object = read_text("{\"b\":{\"a\":0},\"a\":1,\"a\":2}");
    gdnn_json value;
    assert_true(gdnn_json_find(object, "a", &value) && *value.at == '1');
    assert_false(gdnn_json_find(object, "c", &value));
    assert_false(gdnn_json_find(object, "", &value));
    assert_false(gdnn_json_find(read_text("[\"a\",1]"), "a", &value));
    assert_false(gdnn_json_find(read_text("\"a\""), "a", &value));
}

static void strings_are_equal_byte_by_byte(void **state)
{
    (void)state;
    assert_true(gdnn_json_is(read_text("\"ab\""), "ab"));
    assert_true(gdnn_json_equal(read_text("\"ab\""), read_text(" \"ab\" ")));
    assert_true(gdnn_json_equal(read_text("\"\""), read_text("\"\"")));
    static const char *const others[] = {"\"a\"", "\"abc\"", "\"aB\"", "\"a\\u0062\"",
                                         "\"\"",  "7",       "[]"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        assert_false(gdnn_json_is(read_text(others[i]), "ab"));
        assert_false(gdnn_json_equal(read_text(others[i]), read_text("\"ab\"")));
    }
    /* What is resolved nowhere is equal to nothing, not even to itself. */
    assert_false(gdnn_json_equal(read_text("\"\\n\""), read_text("\"\\n\"")));
}

static void flags_are_two_words(void **state)
{
    (void)state;
    bool flag = false;
    assert_true(gdnn_json_flag(read_text("true"), &flag) && flag);
    assert_true(gdnn_json_flag(read_text("false"), &flag) && !flag);
    static const char *const others[] = {"0", "1", "null", "\"true\"", "[true]", "NaN"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_false(gdnn_json_flag(read_text(others[i]), &flag));
}

static void whole_numbers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } rows[] = {{"0", 0},
                {"-0", 0},
                {"7", 7},
                {"-17", -17},
                {"9007199254740993", INT64_C(9007199254740993)},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    int64_t number;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(gdnn_json_whole(read_text(rows[i].text), &number));
        assert_true(number == rows[i].number);
    }
    static const char *const others[] = {"9223372036854775808",
                                         "-9223372036854775809",
                                         "1.0",
                                         "1e3",
                                         "NaN",
                                         "Infinity",
                                         "\"1\"",
                                         "[1]",
                                         "true",
                                         "18446744073709551616",
                                         "100000000000000000000000000000"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (gdnn_json_whole(read_text(others[i]), &number))
            fail_msg("%s is read as %lld", others[i], (long long)number);
}

static void check_reals(void)
{
    static const struct {
        const char *text;
        double number;
    } rows[] = {{"0", 0},
                {"0.1", 0.1},
                {"-2.5E-3", -2.5e-3},
                {"1.7976931348623157e308", 1.7976931348623157e308},
                {"Infinity", INFINITY},
                {"-Infinity", -INFINITY}};
    double number;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(gdnn_json_real(read_text(rows[i].text), &number));
        assert_true(number == rows[i].number);
    }
    assert_true(gdnn_json_real(read_text("NaN"), &number) && isnan(number));
}

static void reals_are_read(void **state)
{
    (void)state;
    check_reals();
    double number;
    static const char *const others[] = {
        "1e309",
        "-1e309",
        "\"1\"",
        "\"Infinity\"",
        "true",
        "null",
        "[1]",
        "{}",
        "1.000000000000000000000000000000000000000000000000000000000000000"};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (gdnn_json_real(read_text(others[i]), &number))
            fail_msg("%s is read as %g", others[i], number);
}

/* The locale is made here: few machines have one with a comma. */
static void a_comma_in_the_locale_changes_nothing(void **state)
{
    (void)state;
    char folder[] = "/tmp/groupdnn_locale_XXXXXX", command[256];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    const bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    const bool set =
        made && setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',';
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!set) {
        print_message("# needs localedef and the source of de_DE\n");
        skip();
    }
    char shown[8];
    snprintf(shown, sizeof shown, "%.1f", 0.5);
    assert_string_equal(shown, "0,5");
    check_reals();
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_is_read),
        cmocka_unit_test(malformed_is_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(items_come_in_order),
        cmocka_unit_test(the_first_of_equals_is_found),
        cmocka_unit_test(strings_are_equal_byte_by_byte),
        cmocka_unit_test(flags_are_two_words),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(reals_are_read),
        cmocka_unit_test(a_comma_in_the_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
