#include "check.h"
#include "child.h"
#include "cudnn.h"
#include "dropin.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Everything about a process with the drop-in is tried in children. Their answers begin with "ok" or are
 * what is wrong. */
static bool well(void (*work)(void *context, char *answer, size_t size), void *context,
                 char *answer, size_t size)
{
    return child_ask(work, context, answer, size) && !strncmp(answer, "ok", 2);
}

static const char *const functions[] = {
#define GDNN_CUDNN(name, returns, way) #name,
#include "cudnn_api.def"
#undef GDNN_CUDNN
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void load_dropin(void *path, char *answer, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(answer, size, "%s", dlerror());
        return;
    }
    for (int i = 0; i < FUNCTIONS; i++)
        if (!dlsym(library, functions[i])) {
            snprintf(answer, size, "it lacks %s", functions[i]);
            return;
        }
    snprintf(answer, size, "ok");
}

/* Runs a shell and the tool with the drop-in preloaded: neither may notice. */
static void start_with_dropin(void *path, char *answer, size_t size)
{
    char preload[4 * PATH_MAX], self[PATH_MAX], expected[64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    if (!dropin_preload(path, NULL, preload, sizeof preload)) {
        snprintf(answer, size, "LD_PRELOAD cannot hold this path: it has a blank or a colon");
        return;
    }
    setenv("LD_PRELOAD", preload, 1);
    setenv("GDNN_CHECKED", self, 1);
    char printed[512];
    FILE *output = popen("exec \"$GDNN_CHECKED\" --version 2>&1", "r");
    size_t got = output ? fread(printed, 1, sizeof printed - 1, output) : 0;
    printed[got] = 0;
    snprintf(expected, sizeof expected, "groupdnn %s\n", gdnn_version());
    if (output && pclose(output) == 0 && !strcmp(printed, expected))
        snprintf(answer, size, "ok");
    else
        snprintf(answer, size, "a program started with it printed: %s", printed);
}

/* What is compared: calls that need no GPU. */
typedef struct faces {
    size_t (*version)(void);
    const char *(*text)(int status);
} faces;

static bool open_face(const char *path, faces *f, char *answer, size_t size)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *(void **)&f->version = dlsym(library, "cudnnGetVersion");
        *(void **)&f->text = dlsym(library, "cudnnGetErrorString");
    }
    if (library && f->version && f->text)
        return true;
    snprintf(answer, size, "%s: %s", path, dlerror());
    return false;
}

typedef struct pair {
    const char *dropin, *real;
} pair;

static bool open_both(const pair *p, faces *ours, faces *real, char *answer, size_t size)
{
    setenv("GROUPDNN_CUDNN", p->real, 1);
    unsetenv("GROUPDNN_LOG");
    return open_face(p->dropin, ours, answer, size) && open_face(p->real, real, answer, size);
}

static void forward(void *context, char *answer, size_t size)
{
    faces ours, real;
    if (!open_both(context, &ours, &real, answer, size))
        return;
    if (ours.version == real.version)
        snprintf(answer, size,
                 "the drop-in is not in between: its functions are the real library's");
    else if (ours.version() != real.version())
        snprintf(answer, size, "cudnnGetVersion answers %zu through the drop-in, and %zu without",
                 ours.version(), real.version());
    else if (strcmp(ours.text(3000), real.text(3000)) != 0)
        snprintf(answer, size,
                 "cudnnGetErrorString answers '%s' through the drop-in, and '%s' without",
                 ours.text(3000), real.text(3000));
    else
        snprintf(answer, size, "ok");
}

enum { ROUNDS = 21, CALLS = 50000 };

/* Nanoseconds a call. */
static double time_calls(size_t (*call)(void))
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CALLS; i++)
        call();
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
           CALLS;
}

static int by_size(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Rounds take turns, so that whatever slows the machine down slows both. */
static void time_both(void *context, char *answer, size_t size)
{
    faces ours, real;
    double with[ROUNDS], without[ROUNDS];
    if (!open_both(context, &ours, &real, answer, size))
        return;
    ours.version();
    for (int i = 0; i < ROUNDS; i++) {
        without[i] = time_calls(real.version);
        with[i] = time_calls(ours.version);
    }
    qsort(with, ROUNDS, sizeof *with, by_size);
    qsort(without, ROUNDS, sizeof *without, by_size);
    snprintf(answer, size, "ok %g %g", without[ROUNDS / 2], with[ROUNDS / 2]);
}

/* A jump costs a nanosecond or two: a hundred would be a fault. */
enum { MOST_OVERHEAD_NS = 100 };

static void check_forwarding(check *c, const pair *p)
{
    char answer[512];
    double without, with;
    if (!well(forward, (void *)p, answer, sizeof answer)) {
        check_line(c, CHECK_FAILED, "forwarding", "%s", answer);
        check_line(c, CHECK_SKIPPED, "overhead", "forwarding failed");
        return;
    }
    check_line(
        c, CHECK_OK, "forwarding",
        "cudnnGetVersion and cudnnGetErrorString answer the same with and without the drop-in");
    if (!well(time_both, (void *)p, answer, sizeof answer) ||
        sscanf(answer, "ok %lf %lf", &without, &with) != 2)
        check_line(c, CHECK_FAILED, "overhead", "%s", answer);
    else
        check_line(
            c, with - without < MOST_OVERHEAD_NS ? CHECK_OK : CHECK_FAILED, "overhead",
            "a forwarded call takes %.1f ns, %.1f ns without the drop-in: %.2f times as long "
            "(cudnnGetVersion, medians of %d rounds)",
            with, without, with / without, (int)ROUNDS);
}

static bool check_dropin(check *c, char path[PATH_MAX])
{
    char answer[512];
    if (!dropin_find(path)) {
        check_line(c, CHECK_LACKS, "drop-in", "there is no %s: build or install it", path);
        check_line(c, CHECK_SKIPPED, "preload", "no drop-in");
        return false;
    }
    bool loads = well(load_dropin, path, answer, sizeof answer);
    if (loads)
        check_line(c, CHECK_OK, "drop-in", "%s loads, with all %d functions", path, (int)FUNCTIONS);
    else
        check_line(c, CHECK_FAILED, "drop-in", "%s: %s", path, answer);
    if (well(start_with_dropin, path, answer, sizeof answer))
        check_line(c, CHECK_OK, "preload",
                   "programs start with it in LD_PRELOAD, and nothing is printed");
    else
        check_line(c, CHECK_FAILED, "preload", "%s", answer);
    return loads;
}

static void add_name(const char *name, void *context)
{
    char *names = context;
    size_t used = strlen(names);
    snprintf(names + used, 512 - used, "%s%s", used ? ", " : "", name);
}

static void check_functions(check *c, const char *real, bool dropin)
{
    char names[512] = "";
    int missing = cudnn_missing(real, add_name, names);
    if (!dropin)
        check_line(c, CHECK_SKIPPED, "functions", "no drop-in");
    else if (missing == 0)
        check_line(c, CHECK_OK, "functions", "the drop-in has every function of the real cuDNN");
    else if (missing > 0)
        check_line(c, CHECK_FAILED, "functions",
                   "the drop-in lacks %d, and groupdnn run leaves it out for that reason: %s",
                   missing, names);
    else
        check_line(c, CHECK_FAILED, "functions", "the list of %s cannot be read", real);
}

static void check_real(check *c, const cudnn_file *real, bool dropin)
{
    char version[32];
    check_line(c, CHECK_OK, "real cuDNN", "%s (%s)", real->path, real->origin);
    cudnn_version_text(real->version, version);
    if (real->version)
        check_line(c, CHECK_OK, "version", "%s", version);
    else
        check_line(c, CHECK_FAILED, "version", "%s", real->trouble);
    check_functions(c, real->path, dropin);
}

static void skip(check *c, const char *why)
{
    check_line(c, CHECK_SKIPPED, "forwarding", "%s", why);
    check_line(c, CHECK_SKIPPED, "overhead", "%s", why);
}

void check_cudnn(check *c, const char *program)
{
    char dropin[PATH_MAX];
    cudnn_file real;
    bool loads = check_dropin(c, dropin);
    if (!cudnn_find(program, &real, NULL, NULL)) {
        check_line(c, CHECK_LACKS, "real cuDNN", "%s", real.trouble);
        skip(c, "no real cuDNN");
        return;
    }
    check_real(c, &real, loads);
    if (loads)
        check_forwarding(c, &(pair){dropin, real.path});
    else
        skip(c, "no drop-in");
}
