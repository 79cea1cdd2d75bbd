/* Every function of the list, called through the drop-in in front of a library that records its arguments. Each test
 * runs in a process of its own, so that the first call is the first.
 *
 * Arguments: the drop-in, a recorder, one that lacks a third of the functions and needs a libcudnn.so.9 itself (so that
 * a search in it comes back to the drop-in), and one that calls cuDNN while it loads. */
#include "api.h"
#include "cudnn_types.h"
#include "forward.h"
#include "unit.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed;
static const char *shim_path, *recorder_path, *lacking_path, *calls_back_path;

#define NO_SUCH_LIBRARY "/nonexistent/libcudnn.so.9"

enum { THREADS = 16, CALLS = 3 };

typedef struct entry {
    const char *name;
    enum { STATUS, SIZE, TEXT, NONE } returns;
    enum { FORWARD, OURS } way;
} entry;

static const entry entries[GDNN_APIS] = {
#define GDNN_CUDNN(name, returns, way) {#name, returns, way},
#include "cudnn_api.def"
#undef GDNN_CUDNN
};

/* Opens the drop-in in front of `real`. */
static void *open_shim(const char *mode, const char *real)
{
    setenv("GROUPDNN_MODE", mode, 1);
    setenv("GROUPDNN_CUDNN", real, 1);
    void *shim = dlopen(shim_path, RTLD_NOW | RTLD_GLOBAL);
    if (!shim) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(2);
    }
    return shim;
}

/* Runs `body` in a child and returns its exit status, 128 + signal if it died of one. */
static int in_child(int (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        alarm(120);
        int failures = body();
        _exit(failures > 100 ? 100 : failures);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Calls function `i` CALLS times with random arguments and returns how many calls did not reach the recorder as they
 * were made. */
static int call(void *shim, int i, uint64_t *random)
{
    static const char *const ordinals[CALLS] = {"first", "second", "third"};
    int failures = 0;
    void *function = dlsym(shim, entries[i].name);
    for (int n = 0; n < CALLS; n++) {
        char what[160] = "the drop-in does not export it";
        if (function && forward_arrives(function, i, random, what, sizeof what))
            continue;
        fprintf(stderr, "%s, %s call: %s\n", entries[i].name, ordinals[n], what);
        failures++;
    }
    return failures;
}

static int every_function(void)
{
    void *shim = open_shim("off", recorder_path);
    uint64_t random = seed;
    int failures = 0;
    for (int i = 0; i < GDNN_APIS; i++)
        failures += call(shim, i, &random);
    return failures;
}

static int every_forwarded_function(void)
{
    void *shim = open_shim("on", recorder_path);
    uint64_t random = seed;
    int failures = 0;
    for (int i = 0; i < GDNN_APIS; i++)
        if (entries[i].way != OURS)
            failures += call(shim, i, &random);
    return failures;
}

/* Each runs code of the drop-in; with no descriptors there is nothing to take over, and the answer is the recorder's. */
static int our_functions(void)
{
    void *shim = open_shim("on", recorder_path);
    int failures = 0, ours = 0;
    for (int i = 0; i < GDNN_APIS; i++) {
        if (entries[i].way != OURS)
            continue;
        uint64_t returned = 0;
        int steps = 0;
        ours++;
        for (int n = 0; n < CALLS; n++)
            steps = forward_steps(dlsym(shim, entries[i].name), &returned);
        if (steps > 2 && (uint32_t)returned == FRAME_RETURNS + (uint32_t)i)
            continue;
        fprintf(stderr, "%s: %d instructions, returns %llu\n", entries[i].name, steps,
                (unsigned long long)returned);
        failures++;
    }
    return failures + (ours == 0);
}

typedef struct together {
    void *shim;
    pthread_barrier_t barrier;
    _Atomic int threads, failures;
} together;

static void *call_together(void *context)
{
    together *all = context;
    uint64_t random = seed + 1000 * (uint64_t)atomic_fetch_add(&all->threads, 1);
    for (int i = 0; i < GDNN_APIS; i++) {
        pthread_barrier_wait(&all->barrier);
        atomic_fetch_add(&all->failures, call(all->shim, i, &random));
    }
    return NULL;
}

static int threads_at_once(void)
{
    together all = {.shim = open_shim("off", recorder_path)};
    pthread_t threads[THREADS];
    pthread_barrier_init(&all.barrier, NULL, THREADS);
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, call_together, &all))
            return 1;
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    return all.failures;
}

/* A child finds what its parent had resolved, and resolves the rest. */
static int after_fork(void)
{
    void *shim = open_shim("off", recorder_path);
    uint64_t random = seed;
    int failures = 0;
    for (int i = 0; i < GDNN_APIS / 2; i++)
        failures += call(shim, i, &random);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < GDNN_APIS; i++)
            failures += call(shim, i, &random);
        _exit(failures != 0);
    }
    int status;
    return waitpid(child, &status, 0) != child || status != 0 || failures;
}

static int keeps_errno(void)
{
    void *shim = open_shim("off", lacking_path);
    int failures = 0;
    for (int i = 0; i < GDNN_APIS; i++) {
        int (*function)(void *, size_t) = (int (*)(void *, size_t))dlsym(shim, entries[i].name);
        errno = 4242;
        function(NULL, 0);
        if (errno != 4242) {
            fprintf(stderr, "%s: errno is %d\n", entries[i].name, errno);
            failures++;
        }
    }
    return failures;
}

/* True if the library has function `i` itself; one that it needs, such as the drop-in, does not count. */
static bool has(void *library, void *shim, int i)
{
    Dl_info there, ours;
    void *function = library ? dlsym(library, entries[i].name) : NULL;
    return function && dladdr(function, &there) && dladdr(dlsym(shim, entries[i].name), &ours) &&
           there.dli_fbase != ours.dli_fbase;
}

typedef const char *get_name(cudnnStatus_t);
typedef void get_text(char *, size_t);

/* What function `i` returns where it is missing: `status` if it returns one. */
static bool stands_in(void *shim, int i, uint64_t status, const char *last_error, char *what,
                      size_t size)
{
    void *function = dlsym(shim, entries[i].name);
    frame given, seen;
    uint64_t random = (uint64_t)i;
    forward_fill(&given, &random);
    uint64_t got;
    char whole[512] = "", cut[16];
    switch (entries[i].returns) {
    case STATUS:
        got = (uint32_t)frame_call(function, &given, &seen);
        snprintf(what, size, "%llu", (unsigned long long)got);
        return got == status;
    case SIZE:
        got = frame_call(function, &given, &seen);
        snprintf(what, size, "%llu", (unsigned long long)got);
        return got == 0;
    case TEXT: {
        const char *text = ((get_name *)function)((cudnnStatus_t)status);
        const char *other = ((get_name *)function)((cudnnStatus_t)7777);
        snprintf(what, size, "\"%s\" and \"%s\"", text, other);
        return !strcmp(text, status == CUDNN_STATUS_NOT_SUPPORTED
                                 ? "CUDNN_STATUS_NOT_SUPPORTED"
                                 : "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED") &&
               strstr(other, "groupdnn");
    }
    case NONE:
        ((get_text *)function)(whole, sizeof whole);
        memset(cut, 'x', sizeof cut);
        ((get_text *)function)(cut, sizeof cut - 1);
        snprintf(what, size, "\"%s\", cut: \"%.16s\"", whole, cut);
        return strstr(whole, last_error) && !strncmp(whole, cut, sizeof cut - 2) &&
               cut[sizeof cut - 2] == '\0' && cut[sizeof cut - 1] == 'x';
    }
    return false;
}

static int missing(const char *real, uint64_t status, const char *last_error, int *absent)
{
    void *shim = open_shim("off", real);
    void *fake = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    uint64_t random = seed;
    int failures = 0;
    for (int i = 0; i < GDNN_APIS; i++) {
        if (has(fake, shim, i)) {
            failures += call(shim, i, &random);
            continue;
        }
        (*absent)++;
        for (int n = 0; n < CALLS; n++) {
            char what[600];
            if (stands_in(shim, i, status, last_error, what, sizeof what))
                continue;
            fprintf(stderr, "%s: %s\n", entries[i].name, what);
            failures++;
        }
    }
    return failures;
}

static int functions_missing(void)
{
    int absent = 0;
    int failures = missing(lacking_path, CUDNN_STATUS_NOT_SUPPORTED, "", &absent);
    return failures + (absent < GDNN_APIS / 3 - 1);
}

static int library_missing(void)
{
    int absent = 0;
    int failures =
        missing(NO_SUCH_LIBRARY, CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, NO_SUCH_LIBRARY, &absent);
    return failures + (absent != GDNN_APIS);
}

/* While the library is opened there is none yet; afterwards its functions are reached. */
static int call_from_constructor(void)
{
    void *shim = open_shim("off", calls_back_path);
    uint64_t random = seed;
    int failures = 0;
    for (int i = 0; i < GDNN_APIS; i++)
        failures += call(shim, i, &random);
    void *real = dlopen(calls_back_path, RTLD_NOW | RTLD_NOLOAD);
    const int *answer = real ? dlsym(real, "calls_back_answer") : NULL;
    if (!answer || *answer != CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED) {
        fprintf(stderr, "the constructor's call returned %d\n", answer ? *answer : -1);
        failures++;
    }
    return failures;
}

static int two_instructions(void)
{
    void *shim = open_shim("off", recorder_path);
    uint64_t random = seed;
    int failures = 0;
    for (int i = 0; i < GDNN_APIS; i++) {
        failures += call(shim, i, &random);
        void *function = dlsym(shim, entries[i].name);
        uint64_t returned;
        int steps = forward_steps(function, &returned);
        if (steps != 2) {
            fprintf(stderr, "%s: %d instructions of the drop-in\n", entries[i].name, steps);
            failures++;
        }
    }
    return failures;
}

#define RUNS_IN_CHILD(name)                                                                        \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        assert_int_equal(in_child(name), 0);                                                       \
    }

RUNS_IN_CHILD(every_function)
RUNS_IN_CHILD(every_forwarded_function)
RUNS_IN_CHILD(our_functions)
RUNS_IN_CHILD(threads_at_once)
RUNS_IN_CHILD(after_fork)
RUNS_IN_CHILD(keeps_errno)
RUNS_IN_CHILD(functions_missing)
RUNS_IN_CHILD(library_missing)
RUNS_IN_CHILD(call_from_constructor)
RUNS_IN_CHILD(two_instructions)

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s SHIM RECORDER LACKING CALLS_BACK\n", argv[0]);
        return 2;
    }
    /* GROUPDNN_CUDNN takes absolute paths. */
    shim_path = realpath(argv[1], NULL);
    recorder_path = realpath(argv[2], NULL);
    lacking_path = realpath(argv[3], NULL);
    calls_back_path = realpath(argv[4], NULL);
    if (!shim_path || !recorder_path || !lacking_path || !calls_back_path) {
        perror(argv[0]);
        return 2;
    }
    unsetenv("GROUPDNN_LOG");
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_function),
        cmocka_unit_test(test_every_forwarded_function),
        cmocka_unit_test(test_our_functions),
        cmocka_unit_test(test_threads_at_once),
        cmocka_unit_test(test_after_fork),
        cmocka_unit_test(test_keeps_errno),
        cmocka_unit_test(test_functions_missing),
        cmocka_unit_test(test_library_missing),
        cmocka_unit_test(test_call_from_constructor),
        cmocka_unit_test(test_two_instructions),
    };
    return cmocka_run_group_tests_name("forward", tests, NULL, NULL);
}
