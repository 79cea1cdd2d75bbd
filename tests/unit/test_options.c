#include "options.h"
#include "unit.h"
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linked with --wrap=getauxval: tests say whether the process has elevated rights. */
static unsigned long secure;

unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type)
{
    return type == AT_SECURE ? secure : 0;
}

/* An environment of one variable, and what was said about it. */
typedef struct environment {
    const char *variable, *value;
    int reports;
    char sentence[1024];
} environment;

static const char *get(const char *variable, void *context)
{
    const environment *e = context;
    return e->variable && !strcmp(variable, e->variable) ? e->value : NULL;
}

static void report(const gdnn_option_fault *fault, void *context)
{
    environment *e = context;
    e->reports++;
    snprintf(e->sentence, sizeof e->sentence, "%s=%s: %s; %s", fault->variable, fault->value,
             fault->wrong, fault->instead ? fault->instead : "kept");
}

static gdnn_options read_one(environment *e, const char *variable, const char *value)
{
    gdnn_options options;
    memset(&options, 0xff, sizeof options);
    *e = (environment){.variable = variable, .value = value};
    gdnn_options_read(&options, get, report, e);
    return options;
}

static void assert_defaults(const gdnn_options *options)
{
    assert_int_equal(options->mode, GDNN_MODE_ON);
    assert_int_equal(options->log, GDNN_LOG_OFF);
    assert_string_equal(options->log_file, "");
    assert_string_equal(options->cudnn, "");
    assert_string_equal(options->disable, "");
    assert_string_equal(options->kernel, "");
    assert_int_equal(options->stats, 0);
    assert_string_equal(options->trace, "");
}

static void defaults(void **state)
{
    (void)state;
    gdnn_options options;
    environment e;
    memset(&options, 0xff, sizeof options);
    gdnn_options_init(&options);
    assert_defaults(&options);
    options = read_one(&e, NULL, NULL);
    assert_defaults(&options);
    assert_int_equal(e.reports, 0);
}

static void empty_is_unset(void **state)
{
    (void)state;
    static const char *const variables[] = {"GROUPDNN_MODE",    "GROUPDNN_LOG",    "GROUPDNN_CUDNN",
                                            "GROUPDNN_DISABLE", "GROUPDNN_KERNEL", "GROUPDNN_STATS",
                                            "GROUPDNN_TRACE"};
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        environment e;
        gdnn_options options = read_one(&e, variables[i], "");
        assert_defaults(&options);
        assert_int_equal(e.reports, 0);
    }
}

static void modes(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        gdnn_run_mode mode;
    } cases[] = {{"off", GDNN_MODE_OFF},
                 {"observe", GDNN_MODE_OBSERVE},
                 {"on", GDNN_MODE_ON},
                 {"force", GDNN_MODE_FORCE},
                 {"verify", GDNN_MODE_VERIFY}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        environment e;
        gdnn_options options = read_one(&e, "GROUPDNN_MODE", cases[i].word);
        assert_int_equal(options.mode, cases[i].mode);
        assert_string_equal(gdnn_mode_word(options.mode), cases[i].word);
        assert_int_equal(e.reports, 0);
    }
}

static void flags(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int stats, reports;
    } cases[] = {{"0", 0, 0},   {"1", 1, 0},    {"off", 0, 0}, {"on", 1, 0},
                 {"yes", 0, 1}, {"0|1", 0, 1},  {"2", 0, 1},   {"o", 0, 1},
                 {" 1", 0, 1},  {"true", 0, 1}, {"10", 0, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        environment e;
        gdnn_options options = read_one(&e, "GROUPDNN_STATS", cases[i].value);
        assert_int_equal(options.stats, cases[i].stats);
        assert_int_equal(e.reports, cases[i].reports);
        if (e.reports)
            assert_contains(e.sentence, "accepted: 0|1; using 0");
    }
}

static void logs(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        gdnn_log_level level;
        const char *file;
    } cases[] = {{"off", GDNN_LOG_OFF, ""},
                 {"error", GDNN_LOG_ERROR, ""},
                 {"info", GDNN_LOG_INFO, ""},
                 {"calls", GDNN_LOG_CALLS, ""},
                 {"calls:/tmp/a b:%p.log", GDNN_LOG_CALLS, "/tmp/a b:%p.log"},
                 {"info:relative", GDNN_LOG_INFO, "relative"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        environment e;
        gdnn_options options = read_one(&e, "GROUPDNN_LOG", cases[i].value);
        assert_int_equal(options.log, cases[i].level);
        assert_string_equal(options.log_file, cases[i].file);
        assert_int_equal(e.reports, 0);
    }
}

static void texts(void **state)
{
    (void)state;
    environment e;
    gdnn_options options = read_one(&e, "GROUPDNN_CUDNN", "/opt/a b/libcudnn.so.9");
    assert_string_equal(options.cudnn, "/opt/a b/libcudnn.so.9");
    options = read_one(&e, "GROUPDNN_TRACE", "a folder/%p.txt");
    assert_string_equal(options.trace, "a folder/%p.txt");
    options = read_one(&e, "GROUPDNN_KERNEL", "direct_fwd");
    assert_string_equal(options.kernel, "direct_fwd");
    options = read_one(&e, "GROUPDNN_DISABLE", " bwd_data , direct_fwd,fwd\t");
    assert_string_equal(options.disable, "bwd_data,direct_fwd,fwd");
    assert_int_equal(e.reports, 0);
}

/* Longest values that fit, and one byte more. */
static void lengths(void **state)
{
    (void)state;
    static const struct {
        const char *variable;
        size_t room;
    } cases[] = {{"GROUPDNN_CUDNN", sizeof((gdnn_options *)0)->cudnn},
                 {"GROUPDNN_TRACE", sizeof((gdnn_options *)0)->trace},
                 {"GROUPDNN_DISABLE", sizeof((gdnn_options *)0)->disable},
                 {"GROUPDNN_KERNEL", sizeof((gdnn_options *)0)->kernel}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char value[600] = "/";
        environment e;
        memset(value + 1, 'a', cases[i].room - 2);
        gdnn_options options = read_one(&e, cases[i].variable, value);
        assert_int_equal(e.reports, i >= 2); /* it fits, but there is no such name */
        assert_int_equal(strlen(options.cudnn) + strlen(options.disable) + strlen(options.kernel) +
                             strlen(options.trace),
                         cases[i].room - 1);
        value[cases[i].room - 1] = 'a';
        options = read_one(&e, cases[i].variable, value);
        assert_defaults(&options);
        assert_int_equal(e.reports, 1);
        assert_contains(e.sentence, ": too long");
        /* Very long values are not shown whole. */
        if (cases[i].room > 100)
            assert_contains(e.sentence, "aaa...: too long");
        assert_contains(e.sentence, cases[i].variable);
    }
    /* Words and their comma together. */
    char value[600] = "fwd,";
    environment e;
    memset(value + 4, 'a', 251);
    gdnn_options options = read_one(&e, "GROUPDNN_DISABLE", value);
    assert_string_equal(options.disable, value);
    value[255] = 'a';
    options = read_one(&e, "GROUPDNN_DISABLE", value);
    assert_defaults(&options);
    assert_contains(e.sentence, "too long");

    memset(value, 0, sizeof value);
    memcpy(value, "info:/", 6);
    memset(value + 6, 'a', 510);
    options = read_one(&e, "GROUPDNN_LOG", value);
    assert_int_equal(e.reports, 0);
    assert_int_equal(strlen(options.log_file), 511);
    value[516] = 'a';
    options = read_one(&e, "GROUPDNN_LOG", value);
    assert_defaults(&options);
    assert_contains(e.sentence, "too long");
}

static void bad_values_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *value, *why, *accepted;
    } cases[] = {
        {"GROUPDNN_MODE", "fast", "not one of", "off|observe|on|force|verify; using on"},
        {"GROUPDNN_MODE", "ON", "not one of", "off|observe|on|force|verify; using on"},
        {"GROUPDNN_MODE", "o", "not one of", "off|observe|on|force|verify"},
        {"GROUPDNN_MODE", "on|force", "not one of", "off|observe|on|force|verify"},
        {"GROUPDNN_MODE", "|", "not one of", "off|observe|on|force|verify"},
        {"GROUPDNN_LOG", "debug", "not one of", "off|error|info|calls; using off"},
        {"GROUPDNN_LOG", "debug:/tmp/x", "not one of", "off|error|info|calls"},
        {"GROUPDNN_LOG", "/tmp/x", "not one of", "off|error|info|calls"},
        {"GROUPDNN_LOG", "info:", "no file after the colon", "off|error|info|calls"},
        {"GROUPDNN_LOG", ":", "not one of", "off|error|info|calls"},
        {"GROUPDNN_CUDNN", "libcudnn.so.9", "not absolute", "absolute path; ignored"},
        {"GROUPDNN_DISABLE", "fwd,,bwd_data", "empty word", "all|fwd|bwd_data|bwd_filter|<kernel>"},
        {"GROUPDNN_DISABLE", ",", "empty word", "all|fwd|bwd_data|bwd_filter|<kernel>"},
        {"GROUPDNN_DISABLE", "fwd,", "empty word", "; ignored"},
        {"GROUPDNN_DISABLE", " ", "empty word", "; ignored"},
        {"GROUPDNN_DISABLE", "fwd bwd_data", "joined by commas", "; ignored"},
        {"GROUPDNN_KERNEL", "a,b", "not a single word", "<kernel>; ignored"},
        {"GROUPDNN_KERNEL", "a b", "not a single word", "<kernel>; ignored"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        environment e;
        char named[200];
        gdnn_options options = read_one(&e, cases[i].variable, cases[i].value);
        assert_defaults(&options);
        if (e.reports != 1)
            fail_msg("%s=%s: reported %d times", cases[i].variable, cases[i].value, e.reports);
        snprintf(named, sizeof named, "%s=%s: ", cases[i].variable, cases[i].value);
        assert_ptr_equal(strstr(e.sentence, named), e.sentence);
        assert_contains(e.sentence, cases[i].why);
        assert_contains(e.sentence, cases[i].accepted);
        /* Without a listener, too. */
        gdnn_options_read(&options, get, NULL, &e);
        assert_defaults(&options);
    }
}

/* A name that means nothing is reported, and what stands beside it still counts. */
static void names_that_mean_nothing(void **state)
{
    (void)state;
    environment e;
    gdnn_options options = read_one(&e, "GROUPDNN_DISABLE", "fwd,fdw,direct_bwd_data");
    assert_int_equal(e.reports, 1);
    assert_contains(
        e.sentence,
        "GROUPDNN_DISABLE=fwd,fdw,direct_bwd_data: there is no \"fdw\"; the "
        "names are all,fwd,bwd_data,bwd_filter and those that `groupdnn kernels` lists");
    assert_contains(e.sentence, "; kept");
    assert_true(gdnn_options_disables(&options, "fwd"));
    assert_true(gdnn_options_disables(&options, "direct_bwd_data"));
    options = read_one(&e, "GROUPDNN_KERNEL", "direct");
    assert_int_equal(e.reports, 1);
    assert_contains(e.sentence,
                    "GROUPDNN_KERNEL=direct: there is no \"direct\"; the names are those that "
                    "`groupdnn kernels` lists");
    assert_string_equal(options.kernel, "direct");
    /* What groups of kernels are called is no kernel. */
    static const char *const parts[] = {"all", "fwd", "bwd_data", "bwd_filter"};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        read_one(&e, "GROUPDNN_KERNEL", parts[i]);
        assert_int_equal(e.reports, 1);
        assert_contains(e.sentence, "the names are those that ");
        read_one(&e, "GROUPDNN_DISABLE", parts[i]);
        assert_int_equal(e.reports, 0);
    }
}

static void disables_whole_words(void **state)
{
    (void)state;
    gdnn_options options;
    gdnn_options_init(&options);
    assert_false(gdnn_options_disables(&options, "fwd"));
    strcpy(options.disable, "bwd_data,direct_fwd");
    assert_true(gdnn_options_disables(&options, "bwd_data"));
    assert_true(gdnn_options_disables(&options, "direct_fwd"));
    assert_false(gdnn_options_disables(&options, "bwd"));
    assert_false(gdnn_options_disables(&options, "fwd"));
    assert_false(gdnn_options_disables(&options, "bwd_data,direct_fwd"));
    assert_false(gdnn_options_disables(&options, ""));
}

/* Runs `check` in a child with its standard error in `shown`; the child's verdict is its exit status. */
static void in_child(int (*check)(void), char *shown, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(check());
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(ends[0], shown + used, size - used - 1)) > 0)
        used += (size_t)got;
    shown[used] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int process_reads_once(void)
{
    setenv("GROUPDNN_MODE", "force", 1);
    setenv("GROUPDNN_DISABLE", "fwd", 1);
    const gdnn_options *options = gdnn_options_get();
    setenv("GROUPDNN_MODE", "off", 1);
    return gdnn_options_get() != options || options->mode != GDNN_MODE_FORCE ||
           strcmp(options->disable, "fwd") != 0;
}

static int process_reports_bad_values(void)
{
    setenv("GROUPDNN_MODE", "a\nb", 1);
    setenv("GROUPDNN_CUDNN", "x", 1);
    setenv("GROUPDNN_LOG", "off", 1);
    setenv("GROUPDNN_NO_SUCH", "x", 1);
    gdnn_options_get();
    return gdnn_options_get()->mode != GDNN_MODE_ON;
}

static int process_is_quiet(void)
{
    gdnn_options_be_quiet();
    return process_reports_bad_values();
}

static int process_reports_names(void)
{
    setenv("GROUPDNN_KERNEL", "fwd", 1);
    return strcmp(gdnn_options_get()->kernel, "fwd") != 0;
}

static int secure_process_ignores_all(void)
{
    secure = 1;
    setenv("GROUPDNN_MODE", "force", 1);
    setenv("GROUPDNN_LOG", "nonsense", 1);
    setenv("GROUPDNN_CUDNN", "/tmp/evil.so", 1);
    setenv("GROUPDNN_TRACE", "/tmp/evil.txt", 1);
    const gdnn_options *options = gdnn_options_get();
    return options->mode != GDNN_MODE_ON || options->cudnn[0] != '\0' || options->trace[0] != '\0';
}

static void the_process(void **state)
{
    (void)state;
    char shown[2048];
    in_child(process_reads_once, shown, sizeof shown);
    assert_string_equal(shown, "");
    in_child(process_reports_bad_values, shown, sizeof shown);
    assert_string_equal(shown, "groupdnn: GROUPDNN_MODE=a?b: not one of the accepted values; "
                               "accepted: off|observe|on|force|verify; using on\n"
                               "groupdnn: GROUPDNN_CUDNN=x: not absolute; accepted: absolute path; "
                               "ignored\n");
    in_child(process_is_quiet, shown, sizeof shown);
    assert_string_equal(shown, "");
    in_child(process_reports_names, shown, sizeof shown);
    assert_contains(
        shown, "groupdnn: GROUPDNN_KERNEL=fwd: there is no \"fwd\"; the names are those that ");
    assert_null(strstr(shown, "using"));
    assert_null(strstr(shown, "(null)"));
}

static void elevated_rights(void **state)
{
    (void)state;
    char shown[2048];
    in_child(secure_process_ignores_all, shown, sizeof shown);
    assert_string_equal(shown, "");
}

static int clean_environment(void **state)
{
    (void)state;
    unsetenv("GROUPDNN_MODE");
    unsetenv("GROUPDNN_LOG");
    unsetenv("GROUPDNN_CUDNN");
    unsetenv("GROUPDNN_DISABLE");
    unsetenv("GROUPDNN_KERNEL");
    unsetenv("GROUPDNN_STATS");
    unsetenv("GROUPDNN_TRACE");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(empty_is_unset),
        cmocka_unit_test(modes),
        cmocka_unit_test(flags),
        cmocka_unit_test(logs),
        cmocka_unit_test(texts),
        cmocka_unit_test(lengths),
        cmocka_unit_test(bad_values_are_named),
        cmocka_unit_test(names_that_mean_nothing),
        cmocka_unit_test(disables_whole_words),
        cmocka_unit_test(the_process),
        cmocka_unit_test(elevated_rights),
    };
    return cmocka_run_group_tests_name("options", tests, clean_environment, NULL);
}
