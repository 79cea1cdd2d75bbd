#include "layout.h"
#include "search.h"
#include "unit.h"
#include "world.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each case of gdnn_search is a process of its own: a probe, copied to where the case wants it. */

static char shown[16384];

/* Runs the probe at `program`, in the case's folder, and returns what it prints. `variables` and `arguments` end with NULL. */
static const char *run(const char *program, const char *const *variables,
                       const char *const *arguments)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *all[16] = {program};
        for (size_t i = 0; arguments[i]; i++)
            all[i + 1] = arguments[i];
        dup2(ends[1], STDOUT_FILENO);
        if (!chdir(layout_path("")))
            execve(program, (char **)all, (char **)variables);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(ends[0], shown + used, sizeof shown - 1 - used)) > 0)
        used += (size_t)got;
    shown[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail_msg("%s ended with %x", program, (unsigned)status);
    return shown;
}

/* An assignment of the environment, as printf makes it. */
__attribute__((format(printf, 1, 2))) static const char *variable(const char *format, ...)
{
    static char texts[8][2 * PATH_MAX];
    static int next;
    char *text = texts[next++ % 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof *texts, format, arguments);
    va_end(arguments);
    return text;
}

static const char *system_variable(void)
{
    return variable("GDNN_TEST_SYSTEM=%s", layout_path("system"));
}

#define RUN(program, arguments, ...)                                                               \
    run(program,                                                                                   \
        (const char *const[]){system_variable(), "ASAN_OPTIONS=verify_asan_link_order=0",          \
                              __VA_ARGS__, NULL},                                                  \
        arguments)
#define SEARCH(...)                                                                                \
    (const char *const[])                                                                          \
    {                                                                                              \
        "search", __VA_ARGS__, NULL                                                                \
    }
#define LOADER(...)                                                                                \
    (const char *const[])                                                                          \
    {                                                                                              \
        "loader", __VA_ARGS__, NULL                                                                \
    }

/* The lines that the probe should have printed. */
static char expected[16384];

__attribute__((format(printf, 2, 3))) static void expect(const char *origin, const char *format,
                                                         ...)
{
    size_t used = strlen(expected);
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)snprintf(expected + used, sizeof expected - used, "%s|", origin);
    used += (size_t)vsnprintf(expected + used, sizeof expected - used, format, arguments);
    va_end(arguments);
    snprintf(expected + used, sizeof expected - used, "\n");
}

static int begin(void **state)
{
    (void)state;
    layout_begin();
    *expected = '\0';
    world_system = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    world_fails_at = 0;
    layout_end();
    return 0;
}

#ifdef __x86_64__
#define TRIPLET "x86_64-linux-gnu"
#else
#define TRIPLET "aarch64-linux-gnu"
#endif

/* A copy of the library in every place there is. */
static void every_place_in_order(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_rpath", "program/bin/probe");
    const char *mapped = layout_copy("fake_cudnn.so", "mapped/libcudnn.so.9");
    const char *rpath = layout_copy("fake_holder_rpath.so", "site/frame/lib/libr.so");
    const char *runpath = layout_copy("fake_holder_runpath.so", "site/frame/lib/libu.so");
    layout_copy("fake_cudnn.so", "program/rpath/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "site/frame/rpath/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "site/frame/runpath/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "first/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "second/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "site/nvidia/cudnn/lib/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "site/nvidia/cudnn_jit/lib/libcudnn.so.9");
    layout_ld_cache("system/etc/ld.so.cache", "libcudnn.so.9",
                    layout_copy("fake_cudnn.so", "cached/libcudnn.so.9"));
    layout_copy("fake_cudnn.so", "system/known-when-built/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "system/usr/lib64/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "system/lib/" TRIPLET "/libcudnn.so.9");

    const char *root = layout_path("");
    expect("already loaded", "%s", mapped);
    expect("RPATH", "%sprogram/bin/../rpath/libcudnn.so.9", root);
    expect("RPATH", "%ssite/frame/lib/../rpath/libcudnn.so.9", root);
    expect("LD_LIBRARY_PATH", "%sfirst/libcudnn.so.9", root);
    expect("LD_LIBRARY_PATH", "%ssecond/libcudnn.so.9", root);
    expect("RUNPATH", "%ssite/frame/lib/../runpath/libcudnn.so.9", root);
    expect("beside a loaded library", "%ssite/nvidia/cudnn/lib/libcudnn.so.9", root);
    expect("beside a loaded library", "%ssite/nvidia/cudnn_jit/lib/libcudnn.so.9", root);
    expect("ld.so.cache", "%scached/libcudnn.so.9", root);
    expect("known when groupdnn was built", "/known-when-built/libcudnn.so.9");
    expect("default folder", "/lib/" TRIPLET "/libcudnn.so.9");
    expect("default folder", "/usr/lib64/libcudnn.so.9");
    RUN(program, SEARCH(mapped, rpath, runpath),
        variable("LD_LIBRARY_PATH=%s:%s", layout_path("first"), layout_path("second")));
    assert_string_equal(shown, expected);
}

/* Asks for nothing else, whether there is a file or not; not with the rights of another user. */
static void groupdnn_cudnn_alone(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_plain", "bin/probe");
    const char *mapped = layout_copy("fake_cudnn.so", "mapped/libcudnn.so.9");
    assert_string_equal(RUN(program, SEARCH(mapped), "GROUPDNN_CUDNN=/nowhere/libcudnn.so.9"),
                        "GROUPDNN_CUDNN|/nowhere/libcudnn.so.9\n");
    expect("already loaded", "%s", mapped);
    assert_string_equal(
        RUN(program, SEARCH(mapped), "GROUPDNN_CUDNN=/nowhere/libcudnn.so.9", "GDNN_TEST_SECURE=1"),
        expected);
}

/* The first place that is searched is where the loader would have found the library. */
#ifndef SANITIZED
static void agrees_with_the_loader(void **state)
{
    (void)state;
    static const struct {
        const char *program, *holder, *places, *library_path;
    } cases[] = {
        {"plain", "plain", "l", "%sl"},
        {"plain", "rpath", "rl", "%sl"},
        {"plain", "runpath", "ul", "%sl"},
        {"plain", "runpath", "u", "%sl"},
        {"plain", "rpath", "r", ""},
        {"rpath", "plain", "Rl", "%sl"},
        {"rpath", "rpath", "R", "%sl"},
        {"rpath", "needs_runpath", "Ru", "%sl"},
        {"rpath", "needs_runpath", "Rul", "%sl"},
        {"rpath", "needs_rpath", "Rr", "%sl"},
        {"rpath", "needs_rpath", "Rl", "%sl"},
        {"runpath", "needs_rpath", "rl", "%sl"},
        {"plain", "plain", "lm", ":%sm;%sl:"},
        {"plain", "plain", "l", "::relative:%sl"},
        {"plain", "plain", "l", "$ORIGIN/../../l"},
        {"plain", "plain", "l", "${ORIGIN}/../../l"},
        {"plain", "plain", "l", "%s${NONE}:%sl"},
        {"plain", "plain", "x", "%sx/$LIB"},
        {"plain", "plain", "x", "%sx/${LIB}:%sl"},
        {"plain", "plain", "p", "%sp/$PLATFORM"},
    };
    static const struct {
        char key;
        const char *folder;
    } places[] = {{'R', "program/rpath"},
                  {'r', "holder/rpath"},
                  {'u', "holder/runpath"},
                  {'l', "l"},
                  {'m', "m"},
                  {'x', "x/lib/" TRIPLET},
                  {'x', "x/lib64"},
                  {'x', "x/lib"},
                  {'p', "p/x86_64"},
                  {'p', "p/haswell"},
                  {'p', "p/aarch64"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char name[64], list[2 * PATH_MAX];
        layout_begin();
        snprintf(name, sizeof name, "probe_%s", cases[i].program);
        const char *program = layout_copy(name, "program/bin/probe");
        snprintf(name, sizeof name, "fake_holder_%s.so", cases[i].holder);
        const char *holder = layout_copy(name, "holder/lib/libholder.so");
        for (size_t p = 0; p < COUNT_OF(places); p++)
            if (strchr(cases[i].places, places[p].key)) {
                snprintf(name, sizeof name, "%s/libcudnn.so.9", places[p].folder);
                layout_copy("fake_cudnn.so", name);
            }
        const char *from = cases[i].library_path, *root = layout_path("");
        size_t used = (size_t)sprintf(list, "LD_LIBRARY_PATH=");
        for (; *from; from++)
            if (from[0] == '%' && from[1] == 's')
                used += (size_t)sprintf(list + used, "%s", root), from++;
            else
                list[used++] = *from;
        list[used] = '\0';

        char taken[PATH_MAX];
        snprintf(taken, sizeof taken, "%s", RUN(program, LOADER(holder), list));
        /* With the drop-in in front, as its users have it. */
        RUN(program, SEARCH(holder), list,
            variable("LD_PRELOAD=%s", layout_copy("fake_cudnn_ours.so", "ours/libcudnn.so.9")));
        assert_contains(shown, "ours/libcudnn.so.9\n");
        memmove(shown, strchr(shown, '\n') + 1, strlen(strchr(shown, '\n')));
        const char *path = strchr(shown, '|');
        shown[strcspn(shown, "\n") + 1] = '\0';
        if (!*taken || !path || strcmp(path + 1, taken))
            fail_msg("case %zu: the loader takes %s, the search begins with %s", i, taken, shown);
    }
}
#endif

/* What is loaded already: under its own name, by its SONAME, or as packages rename it. */
static void already_loaded(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_plain", "bin/probe");
    const char *named = layout_copy("fake_cudnn.so", "a/libcudnn.so.9");
    const char *odd = layout_copy("fake_cudnn.so", "b/some-name.so");
    const char *renamed = layout_copy("fake_cudnn_renamed.so", "c/libcudnn-1a2b3c4d.so.9.1.0");
    const char *other = layout_copy("fake_other.so", "d/libother.so");
    const char *eight = layout_copy("fake_cudnn_8.so", "e/libcudnn.so.8");
    expect("already loaded", "%s", odd);
    expect("already loaded", "%s", named);
    expect("already loaded", "%s", renamed);
    assert_string_equal(RUN(program, SEARCH(other, eight, renamed, odd, named), NULL), expected);
}

/* Opened by a relative name, which only the loader remembers. */
static void loaded_by_a_relative_name(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_plain", "bin/probe");
    const char *named = layout_copy("fake_cudnn.so", "a/libcudnn.so.9");
    RUN(program, SEARCH("bin/../a/libcudnn.so.9"), NULL);
    const char *path = strchr(shown, '|');
    assert_non_null(path);
    shown[strcspn(shown, "\n")] = '\0';
    char *found = realpath(path + 1, NULL), *wanted = realpath(named, NULL);
    assert_int_equal(path[1], '/');
    assert_non_null(found);
    assert_string_equal(found, wanted);
    free(found);
    free(wanted);
}

/* A copy of the drop-in that is preloaded stands for what its users needed. */
static void those_that_need_it_first(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_plain", "bin/probe");
    const char *ours = layout_copy("fake_cudnn_ours.so", "ours/libcudnn.so.9");
    const char *plain = layout_copy("fake_holder_rpath.so", "one/lib/libr.so");
    const char *needs = layout_copy("fake_holder_needs_rpath.so", "two/lib/libn.so");
    layout_copy("fake_cudnn.so", "one/rpath/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "two/rpath/libcudnn.so.9");
    const char *root = layout_path("");
    expect("already loaded", "%s", ours);
    expect("RPATH", "%stwo/lib/../rpath/libcudnn.so.9", root);
    expect("RPATH", "%sone/lib/../rpath/libcudnn.so.9", root);
    assert_string_equal(RUN(program, SEARCH(plain, needs), variable("LD_PRELOAD=%s", ours)),
                        expected);
}

static void a_file_once(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_plain", "bin/probe");
    const char *file = layout_copy("fake_cudnn.so", "a/libcudnn.so.9");
    layout_link(file, "b/libcudnn.so.9");
    layout_link("a", "c");
    layout_link("nothing", "d/libcudnn.so.9");
    layout_link("libcudnn.so.9", "e/libcudnn.so.9"); /* to itself */
    const char *root = layout_path("");
    /* By the name it was found under: $ORIGIN depends on it. */
    expect("LD_LIBRARY_PATH", "%sb/libcudnn.so.9", root);
    expect("LD_LIBRARY_PATH", "%se/libcudnn.so.9", root);
    assert_string_equal(
        RUN(program, SEARCH(NULL),
            variable("LD_LIBRARY_PATH=%sb:%sa:%sc:%sd:%se", root, root, root, root, root)),
        expected);
}

/* Relative folders depend on where the program is now; $LIB is any of what it is somewhere. */
static void odd_folders(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_plain", "bin/probe");
    layout_copy("fake_cudnn.so", "relative/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "x/lib/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "x/lib64/libcudnn.so.9");
    const char *root = layout_path("");
    expect("LD_LIBRARY_PATH", "%sx/lib64/libcudnn.so.9", root);
    expect("LD_LIBRARY_PATH", "%sx/lib/libcudnn.so.9", root);
    assert_string_equal(
        RUN(program, SEARCH(NULL), variable("LD_LIBRARY_PATH=:relative:./relative:%sx/$LIB", root)),
        expected);
}

static void elevated_rights(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_rpath", "program/bin/probe");
    const char *holder = layout_copy("fake_holder_runpath.so", "site/frame/lib/libu.so");
    layout_copy("fake_cudnn.so", "program/rpath/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "site/frame/runpath/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "site/nvidia/cudnn/lib/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "l/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "system/usr/lib/libcudnn.so.9");
    assert_string_equal(RUN(program, SEARCH(holder), "GDNN_TEST_SECURE=1",
                            variable("LD_LIBRARY_PATH=%s", layout_path("l"))),
                        "default folder|/usr/lib/libcudnn.so.9\n");
}

/* Folders that anyone may write into do not belong to what lies in them. */
static void beside_what_is_loaded(void **state)
{
    (void)state;
    const char *program = layout_copy("probe_plain", "bin/probe");
    const char *deep = layout_copy("fake_holder_plain.so", "s/a/b/c/d/e/libdeep.so");
    const char *deeper = layout_copy("fake_holder_rpath.so", "t/a/b/c/d/e/f/g/libdeeper.so");
    layout_copy("fake_cudnn.so", "s/nvidia/cudnn/lib/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "t/nvidia/cudnn/lib/libcudnn.so.9");
    expect("beside a loaded library", "%ss/nvidia/cudnn/lib/libcudnn.so.9", layout_path(""));
    assert_string_equal(RUN(program, SEARCH(deep, deeper), NULL), expected);
    assert_int_equal(chmod(layout_path("s"), 01777), 0);
    assert_string_equal(RUN(program, SEARCH(deep, deeper), NULL), "");
}

static int open_files(void)
{
    int files = 0;
    for (int fd = 0; fd < 256; fd++)
        files += fcntl(fd, F_GETFD) >= 0;
    return files;
}

static bool gather(const char *path, const char *origin, void *context)
{
    (void)origin;
    char reason[256];
    assert_int_equal(*path, '/');
    *(int *)context += gdnn_search_check(path, reason, sizeof reason);
    return false;
}

/* Any call into the system fails: nothing leaks, and nothing is accepted that was not before. */
static void faults(void **state)
{
    (void)state;
    world_system = strdup(layout_path("system"));
    char list[2 * PATH_MAX];
    snprintf(list, sizeof list, "%s:%s", layout_path("lone"), layout_path("with"));
    setenv("LD_LIBRARY_PATH", list, 1);
    layout_copy("fake_cudnn_dispatcher.so", "lone/libcudnn.so.9");
    layout_copy("fake_graph.so", "with/libcudnn_graph.so.9.19.0");
    layout_copy("fake_cudnn_ours.so", "with/libcudnn.so.9");
    layout_ld_cache("system/etc/ld.so.cache", "libcudnn.so.9",
                    layout_copy("fake_cudnn.so", "cached/libcudnn.so.9"));
    int good = 0, before = open_files(), mapped = world_mapped;
    world_calls = 0;
    gdnn_search(gather, &good);
    int calls = world_calls;
    assert_int_equal(good, 2);
    for (int at = 1; at <= calls; at++) {
        int found = 0;
        world_calls = 0;
        world_fails_at = at;
        gdnn_search(gather, &found);
        world_fails_at = 0;
        if (found > good || open_files() != before || world_mapped != mapped)
            fail_msg("call %d fails: %d found, %d files open, %d mapped", at, found,
                     open_files() - before, world_mapped - mapped);
        /* One failure hides one place at most, but the list of what is loaded holds none here. */
        assert_true(found >= good - 1);
    }
    unsetenv("LD_LIBRARY_PATH");
    free((void *)world_system);
    world_system = NULL;
}

int main(int count, char **arguments)
{
    layout_fakes = count > 1 ? arguments[1] : "fakes";
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(every_place_in_order),
        CASE(groupdnn_cudnn_alone),
#ifndef SANITIZED /* a sanitizer's own dlopen comes in between, and the loader looks where that library says */
        CASE(agrees_with_the_loader),
#endif
        CASE(already_loaded),
        CASE(loaded_by_a_relative_name),
        CASE(those_that_need_it_first),
        CASE(a_file_once),
        CASE(odd_folders),
        CASE(elevated_rights),
        CASE(beside_what_is_loaded),
        CASE(faults),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
