#include "child.h"
#include "layout.h"
#include "ld_cache.h"
#include "real.h"
#include "search.h"
#include "unit.h"
#include "world.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

/* The library is opened once a process, so every case is a child. It says what is wrong and exits with 1. */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static char shown[65536];

/* Runs the case and returns what it wrote on standard error. */
static const char *run(void (*body)(void))
{
    int status = child_run(body, shown, sizeof shown, NULL);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail_msg("status %x: %s", (unsigned)status, shown);
    return shown;
}

static int begin(void **state)
{
    (void)state;
    layout_begin();
    world_system = strdup(layout_path("system"));
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("GROUPDNN_CUDNN");
    unsetenv("GROUPDNN_LOG");
    return 0;
}

static int end(void **state)
{
    (void)state;
    free((void *)world_system);
    world_system = NULL;
    layout_end();
    return 0;
}

/* Opens, and is right about it. */
static const gdnn_real_library *open_good(void)
{
    errno = 77;
    const gdnn_real_library *library = gdnn_real_open();
    CHECK(errno == 77);
    CHECK(library && library->handle && library->path[0] == '/');
    CHECK(gdnn_real_open() == library);
    CHECK(!*gdnn_real_failure());
    size_t (*version)(void);
    *(void **)&version = dlsym(library->handle, "cudnnGetVersion");
    CHECK(version && version() == library->version);
    return library;
}

/* Does not open, says so once, and keeps to it. */
static void open_bad(void)
{
    errno = 78;
    CHECK(!gdnn_real_open());
    CHECK(errno == 78);
    CHECK(*gdnn_real_failure());
    const char *text = gdnn_real_failure();
    CHECK(!gdnn_real_open());
    CHECK(gdnn_real_failure() == text);
    fprintf(stderr, "kept: %s\n", text);
}

static void named_one(void)
{
    const gdnn_real_library *library = open_good();
    CHECK(!strcmp(library->path, getenv("GROUPDNN_CUDNN")));
    CHECK(!strcmp(library->origin, "GROUPDNN_CUDNN"));
    CHECK(library->version == 91900);
}

static void the_named_one(void **state)
{
    (void)state;
    setenv("GROUPDNN_CUDNN", layout_copy("fake_cudnn.so", "any-name.so"), 1);
    assert_string_equal(run(named_one), "");
    setenv("GROUPDNN_LOG", "info", 1);
    run(named_one);
    assert_contains(shown, "groupdnn: cuDNN 91900 is ");
    assert_contains(shown, "/any-name.so (GROUPDNN_CUDNN)\n");
    assert_int_equal(count_lines(shown), 1);
}

static void only_asks(void)
{
    CHECK(!*gdnn_real_failure());
}

static void nobody_looked(void **state)
{
    (void)state;
    assert_string_equal(run(only_asks), "");
}

/* Each fails with its own words, once, even where a good one could be found. */
static void what_is_named_wrongly(void **state)
{
    (void)state;
    static const struct {
        const char *fake, *piece;
    } cases[] = {
        {NULL, "does not exist"},
        {"fake_cudnn_8.so", "is libcudnn.so.8, version 9 is needed"},
        {"fake_other.so", "SONAME is \"libother.so.1\""},
        {"fake_cudnn_ours.so", "is groupdnn itself"},
        {"fake_cudnn_dispatcher.so", "cannot work without libcudnn_graph.so.9"},
        {"fake_cudnn_wrong_version.so", "says that its version is 8907"},
        {"fake_cudnn_without_version.so", "has no cudnnGetVersion"},
        {"fake_cudnn_unresolved.so", "cannot be opened: undefined symbol: fake_forgotten"},
    };
    layout_copy("fake_cudnn.so", "good/libcudnn.so.9");
    setenv("LD_LIBRARY_PATH", layout_path("good"), 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *path = layout_path("bad/libcudnn.so.9");
        if (cases[i].fake)
            layout_copy(cases[i].fake, "bad/libcudnn.so.9");
        setenv("GROUPDNN_CUDNN", path, 1);
        run(open_bad);
        if (count_lines(shown) != 2)
            fail_msg("not two lines: %s", shown);
        char *line = strchr(shown, '\n');
        *line++ = '\0';
        assert_contains(shown,
                        "groupdnn: cuDNN cannot be used; correct GROUPDNN_CUDNN, or unset it");
        assert_contains(shown, path);
        assert_contains(shown, cases[i].piece);
        /* The text that is kept is the one that was shown. */
        assert_memory_equal(line, "kept: ", 6);
        line[strcspn(line, "\n")] = '\0';
        assert_string_equal(line + 6, shown + strlen("groupdnn: "));
    }
}

static void second_place(void)
{
    const gdnn_real_library *library = open_good();
    CHECK(strstr(library->path, "/good/libcudnn.so.9"));
    CHECK(!strcmp(library->origin, "LD_LIBRARY_PATH"));
}

static void bad_places_are_passed_over(void **state)
{
    (void)state;
    layout_copy("fake_cudnn_8.so", "eight/libcudnn.so.9");
    layout_copy("fake_cudnn_dispatcher.so", "lone/libcudnn.so.9");
    layout_copy("fake_cudnn_wrong_version.so", "wrong/libcudnn.so.9");
    layout_copy("fake_cudnn.so", "good/libcudnn.so.9");
    char list[4 * PATH_MAX];
    snprintf(list, sizeof list, "%s:%s:%s:%s", layout_path("eight"), layout_path("lone"),
             layout_path("wrong"), layout_path("good"));
    setenv("LD_LIBRARY_PATH", list, 1);
    assert_string_equal(run(second_place), "");
    setenv("GROUPDNN_LOG", "info", 1);
    run(second_place);
    assert_contains(shown, "passed over: ");
    assert_contains(shown,
                    "eight/libcudnn.so.9 (LD_LIBRARY_PATH) is libcudnn.so.8, version 9 is needed");
    assert_contains(shown, "lone/libcudnn.so.9 (LD_LIBRARY_PATH) cannot work without");
    assert_contains(shown, "wrong/libcudnn.so.9 (LD_LIBRARY_PATH) says that its version is 8907");
}

static void none_anywhere(void **state)
{
    (void)state;
    run(open_bad);
    assert_contains(shown, "groupdnn: cuDNN was not found; set GROUPDNN_CUDNN to ");
    assert_int_equal(count_lines(shown), 2);
}

/* More than a line can hold: what to do is still in it. */
static void many_bad_places(void **state)
{
    (void)state;
    static char list[64 * 512];
    for (int i = 0; i < 40; i++) {
        char name[256];
        snprintf(name, sizeof name, "a-name-that-is-rather-long-for-a-folder-%02d/libcudnn.so.9",
                 i);
        layout_copy("fake_cudnn_8.so", name);
        *strchr(name, '/') = '\0';
        snprintf(list + strlen(list), sizeof list - strlen(list), ":%s", layout_path(name));
    }
    setenv("LD_LIBRARY_PATH", list, 1);
    run(open_bad);
    assert_int_equal(count_lines(shown), 2);
    assert_contains(shown, "groupdnn: cuDNN cannot be used; set GROUPDNN_CUDNN to ");
    assert_contains(shown, "folder-00/libcudnn.so.9 (LD_LIBRARY_PATH) is libcudnn.so.8");
    assert_true(strchr(shown, '\n') - shown < 2000);
}

static void mapped_one(void)
{
    void *handle = dlopen(getenv("TEST_MAPPED"), RTLD_NOW | RTLD_LOCAL);
    CHECK(handle);
    const gdnn_real_library *library = open_good();
    CHECK(library->handle == handle);
    CHECK(!strcmp(library->path, getenv("TEST_MAPPED")));
    CHECK(!strcmp(library->origin, "already loaded"));
}

static void the_one_that_is_loaded(void **state)
{
    (void)state;
    layout_copy("fake_cudnn.so", "good/libcudnn.so.9");
    setenv("LD_LIBRARY_PATH", layout_path("good"), 1);
    setenv("TEST_MAPPED", layout_copy("fake_cudnn.so", "mapped/libcudnn.so.9"), 1);
    assert_string_equal(run(mapped_one), "");
    setenv("TEST_MAPPED", layout_copy("fake_cudnn_renamed.so", "m/libcudnn-1a2b3c4d.so.9.1.0"), 1);
    assert_string_equal(run(mapped_one), "");
}

static void with_sublibraries(void)
{
    CHECK(open_good()->version == 91900);
}

/* NVIDIA's is an object that opens others by name and ends the process where it cannot. */
static void a_dispatcher(void **state)
{
    (void)state;
    setenv("GROUPDNN_CUDNN", layout_copy("fake_cudnn_dispatcher.so", "d/libcudnn.so.9"), 1);
    layout_copy("fake_graph.so", "d/libcudnn_graph.so.9");
    assert_string_equal(run(with_sublibraries), "");
    layout_copy("fake_graph_unresolved.so", "d/libcudnn_graph.so.9");
    run(open_bad);
    assert_contains(shown, "cannot open ");
    assert_contains(shown, "d/libcudnn_graph.so.9: undefined symbol: fake_forgotten");
}

/* The real library's constructor, from the fake "calls". */
static void (*hook)(void);
static _Atomic int hooked;

void test_constructor_hook(void);
void test_constructor_hook(void)
{
    if (hook)
        hook();
    hooked++;
}

static void come_back(void)
{
    errno = 79;
    CHECK(!gdnn_real_open());
    CHECK(!*gdnn_real_failure());
    CHECK(errno == 79);
}

static void opened_while_opening(void)
{
    hook = come_back;
    open_good();
    CHECK(hooked == 1);
}

static void a_constructor_calls(void **state)
{
    (void)state;
    setenv("GROUPDNN_CUDNN", layout_copy("fake_cudnn_calls.so", "libcudnn.so.9"), 1);
    alarm(60);
    assert_string_equal(run(opened_while_opening), "");
}

enum { THREADS = 16 };
static pthread_barrier_t start;

static void *open_in_thread(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&start);
    return (void *)gdnn_real_open();
}

static void open_in_threads(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, open_in_thread, NULL));
    for (int i = 0; i < THREADS; i++) {
        void *library;
        CHECK(!pthread_join(threads[i], &library));
        CHECK(library == gdnn_real_open());
    }
}

static void nap(void)
{
    usleep(50000);
}

static void good_in_threads(void)
{
    hook = nap;
    open_in_threads();
    CHECK(hooked == 1);
    CHECK(world_mapped == 1);
    open_good();
}

static void bad_in_threads(void)
{
    open_in_threads();
    CHECK(!gdnn_real_open());
}

static void threads_at_once(void **state)
{
    (void)state;
    setenv("GROUPDNN_CUDNN", layout_copy("fake_cudnn_calls.so", "libcudnn.so.9"), 1);
    assert_string_equal(run(good_in_threads), "");
    setenv("GROUPDNN_CUDNN", layout_copy("fake_cudnn_8.so", "8/libcudnn.so.9"), 1);
    run(bad_in_threads);
    assert_int_equal(count_lines(shown), 1);
}

/* A library whose constructor calls cuDNN holds the loader's lock, while another thread opens cuDNN. */
static void *open_from_constructor(void *path)
{
    void *other = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return other;
}

static const gdnn_real_library *from_constructor;

static void wait_and_open(void)
{
    if (hooked++)
        return;
    pthread_barrier_wait(&start);
    usleep(100000); /* the other thread is in dlopen by now, or waits for us */
    from_constructor = gdnn_real_open();
}

static void open_against_a_constructor(void)
{
    pthread_t thread;
    void *result;
    hook = wait_and_open;
    pthread_barrier_init(&start, NULL, 2);
    CHECK(!pthread_create(&thread, NULL, open_from_constructor, getenv("TEST_MAPPED")));
    pthread_barrier_wait(&start);
    const gdnn_real_library *library = gdnn_real_open();
    CHECK(!pthread_join(thread, &result));
    CHECK(library && result && from_constructor == library);
}

static void a_constructor_elsewhere(void **state)
{
    (void)state;
    setenv("GROUPDNN_CUDNN", layout_copy("fake_cudnn.so", "libcudnn.so.9"), 1);
    setenv("TEST_MAPPED", layout_copy("fake_cudnn_calls.so", "libframework.so"), 1);
    alarm(60);
    assert_string_equal(run(open_against_a_constructor), "");
}

static _Atomic int inside, leave;

static void stay_inside(void)
{
    inside = 1;
    while (!leave)
        usleep(1000);
}

static void fork_while_opening(void)
{
    pthread_t thread;
    void *library;
    hook = stay_inside;
    pthread_barrier_init(&start, NULL, 1);
    CHECK(!pthread_create(&thread, NULL, open_in_thread, NULL));
    while (!inside)
        usleep(1000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        leave = 1;
        alarm(20);
        CHECK(gdnn_real_open());
        open_good();
        _exit(0);
    }
    CHECK(!child_wait(child));
    leave = 1;
    CHECK(!pthread_join(thread, &library) && library == gdnn_real_open());
    open_good();
}

static void fork_in_between(void **state)
{
    (void)state;
    setenv("GROUPDNN_CUDNN", layout_copy("fake_cudnn_calls.so", "libcudnn.so.9"), 1);
    alarm(60);
    assert_string_equal(run(fork_while_opening), "");
}

static void open_on_a_small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *library;
    pthread_attr_init(&attributes);
    CHECK(!pthread_attr_setstacksize(&attributes, 64 * 1024));
    pthread_barrier_init(&start, NULL, 1);
    CHECK(!pthread_create(&thread, &attributes, open_in_thread, NULL));
    CHECK(!pthread_join(thread, &library));
    CHECK(library && library == gdnn_real_open());
}

static void a_small_stack(void **state)
{
    (void)state;
    layout_copy("fake_cudnn_dispatcher.so", "lone/libcudnn.so.9");
    layout_ld_cache("system/etc/ld.so.cache", "libcudnn.so.9",
                    layout_copy("fake_cudnn.so", "cached/libcudnn.so.9"));
    setenv("LD_LIBRARY_PATH", layout_path("lone"), 1);
    assert_string_equal(run(open_on_a_small_stack), "");
}

static int open_files(void)
{
    int files = 0;
    for (int fd = 0; fd < 256; fd++)
        files += fcntl(fd, F_GETFD) >= 0;
    return files;
}

/* The call number $TEST_FAULT fails. Afterwards there is a library or a reason, or a later call has one. */
static void open_with_a_fault(void)
{
    int before = open_files();
    world_calls = world_mapped = 0;
    world_fails_at = atoi(getenv("TEST_FAULT"));
    const gdnn_real_library *library = gdnn_real_open();
    int calls = world_calls;
    world_fails_at = 0;
    CHECK(open_files() == before);
    CHECK(world_mapped == (library || *gdnn_real_failure())); /* what is kept */
    CHECK(calls >= atoi(getenv("TEST_FAULT")));
    if (library)
        open_good();
    else if (*gdnn_real_failure())
        CHECK(!gdnn_real_open());
    else
        open_good();
    fprintf(stderr, "calls %d\n", calls);
}

static void faults(void **state)
{
    (void)state;
    layout_copy("fake_cudnn_8.so", "l/libcudnn.so.9");
    layout_copy("fake_graph.so", "d/libcudnn_graph.so.9.19.0");
    layout_ld_cache("system/etc/ld.so.cache", "libcudnn.so.9",
                    layout_copy("fake_cudnn_dispatcher.so", "d/libcudnn.so.9"));
    layout_copy("fake_graph.so", "d/libcudnn_graph.so.9");
    setenv("LD_LIBRARY_PATH", layout_path("l"), 1);
    setenv("TEST_FAULT", "0", 1);
    run(open_with_a_fault);
    int calls = 0;
    assert_int_equal(sscanf(shown, "calls %d", &calls), 1);
    assert_true(calls > 30);
    for (int at = 1; at <= calls; at++) {
        char number[16];
        snprintf(number, sizeof number, "%d", at);
        setenv("TEST_FAULT", number, 1);
        run(open_with_a_fault);
        if (count_lines(shown) > 2)
            fail_msg("call %d fails: %s", at, shown);
    }
}

/* NVIDIA's own, where this system has it. */

static bool take_first(const char *path, void *context)
{
    char why[512];
    return gdnn_search_check(path, why, sizeof why) && snprintf(context, PATH_MAX, "%s", path) > 0;
}

static char nvidia[PATH_MAX];

static void find_nvidia(void)
{
    const char *mine = world_system;
    world_system = NULL;
    *nvidia = '\0';
    if (!gdnn_ld_cache_find_here("libcudnn.so.9", take_first, nvidia))
        print_message("# ld.so.cache has no libcudnn.so.9\n");
    world_system = mine;
}

static void nvidia_one(void)
{
    const gdnn_real_library *library = open_good();
    CHECK(library->version / 10000 == 9);
    CHECK(dlsym(library->handle, "cudnnBackendExecute"));
    CHECK(!strcmp(library->path, nvidia));
}

static void nvidia_with_its_sublibraries(void **state)
{
    (void)state;
    find_nvidia();
    if (!*nvidia)
        skip();
    setenv("GROUPDNN_CUDNN", nvidia, 1);
    assert_string_equal(run(nvidia_one), "");
}

static void nvidia_without(void **state)
{
    (void)state;
    find_nvidia();
    if (!*nvidia)
        skip();
    setenv("GROUPDNN_CUDNN", layout_copy(nvidia, "libcudnn.so.9"), 1);
    run(open_bad);
    assert_contains(shown, "cannot work without libcudnn_graph.so.9");
}

int main(int count, char **arguments)
{
    layout_fakes = count > 1 ? arguments[1] : "fakes";
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        CASE(the_named_one),
        CASE(nobody_looked),
        CASE(what_is_named_wrongly),
        CASE(bad_places_are_passed_over),
        CASE(none_anywhere),
        CASE(many_bad_places),
        CASE(the_one_that_is_loaded),
        CASE(a_dispatcher),
        CASE(a_constructor_calls),
        CASE(threads_at_once),
        CASE(a_constructor_elsewhere),
        CASE(fork_in_between),
        CASE(a_small_stack),
        CASE(faults),
        CASE(nvidia_with_its_sublibraries),
        CASE(nvidia_without),
    };
    return cmocka_run_group_tests_name("real", tests, NULL, NULL);
}
