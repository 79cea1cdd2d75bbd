#include "error.h"
#include "unit.h"
#include <pthread.h>

static void names_are_words(void **state)
{
    (void)state;
    assert_string_equal(gdnn_status_name(GDNN_OK), "ok");
    assert_string_equal(gdnn_status_name(GDNN_INVALID), "invalid");
    assert_string_equal(gdnn_status_name(GDNN_UNSUPPORTED), "unsupported");
    assert_string_equal(gdnn_status_name(GDNN_FAILED), "failed");
    assert_string_equal(gdnn_status_name((gdnn_status)77), "unknown");
    assert_string_equal(gdnn_version(), "0.1.0");
}

static void starts_empty(void **state)
{
    (void)state;
    assert_string_equal(gdnn_last_error(), "");
}

static void fail_returns_its_status_and_keeps_the_sentence(void **state)
{
    (void)state;
    assert_int_equal(gdnn_fail(GDNN_UNSUPPORTED, "c=%d of %s", 30, "x"), GDNN_UNSUPPORTED);
    assert_string_equal(gdnn_last_error(), "c=30 of x");
    assert_int_equal(gdnn_fail(GDNN_FAILED, "next"), GDNN_FAILED);
    assert_string_equal(gdnn_last_error(), "next");
}

static void an_error_can_quote_the_last_one(void **state)
{
    (void)state;
    gdnn_fail(GDNN_INVALID, "n=0: must be at least 1");
    gdnn_fail(GDNN_INVALID, "line %d: %s", 7, gdnn_last_error());
    assert_string_equal(gdnn_last_error(), "line 7: n=0: must be at least 1");
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    gdnn_fail(GDNN_INVALID, "%s", text);
    size_t length = strlen(gdnn_last_error());
    assert_in_range(length, 500, 4000);
    assert_string_equal(gdnn_last_error() + length - 4, "a...");
}

static void a_message_is_one_line(void **state)
{
    (void)state;
    gdnn_fail(GDNN_INVALID, "name=%s", "a\nb\x1b[31mc\td\x7f \xc3\xa9");
    assert_string_equal(gdnn_last_error(), "name=a?b?[31mc?d? \xc3\xa9");
}

static void *other_thread(void *seen)
{
    snprintf(seen, 64, "<%s>", gdnn_last_error());
    gdnn_fail(GDNN_INVALID, "theirs");
    return NULL;
}

static void threads_have_their_own(void **state)
{
    (void)state;
    char seen[64];
    pthread_t thread;
    gdnn_fail(GDNN_INVALID, "ours");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(seen, "<>");
    assert_string_equal(gdnn_last_error(), "ours");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_words),
        cmocka_unit_test(starts_empty),
        cmocka_unit_test(fail_returns_its_status_and_keeps_the_sentence),
        cmocka_unit_test(an_error_can_quote_the_last_one),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(threads_have_their_own),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
