/* verify on the double of the driver: our kernel beside what stands for cuDNN here, right and wrong
 * in many ways; and whatever happens, the program gets what cuDNN alone would have given it. */
#include "args.h"
#include "cudnn_client.h"
#include "verify.h"
#include <pthread.h>

static const char *log_path;

/* cuDNN's call during a capture: work is only recorded. */
static cudnnStatus_t real_in_capture(void *context)
{
    program *p = context;
    p->calls++;
    CHECK(!cu->cuMemsetD8Async(p->memory[TENSOR_Y], 0, 4, p->stream));
    return CUDNN_STATUS_SUCCESS;
}

static void verify(program *p)
{
    const gdnn_tensors tensors = program_tensors(p);
    const int calls = p->calls;
    CHECK(gdnn_verify(&p->route, &tensors, NULL, p->stream, program_cudnn, p) == p->status);
    CHECK(p->calls == calls + 1);
    if (p->status == CUDNN_STATUS_SUCCESS)
        program_kept(p);
}

static void check_counts(const program *p, int compared, int differed, int skipped)
{
    CHECK(p->route.compared == (uint64_t)compared);
    CHECK(p->route.differed == (uint64_t)differed);
    CHECK(p->route.skipped == (uint64_t)skipped);
    CHECK(compared == 0 ? p->route.worst == 0
          : differed    ? p->route.worst > 1
                        : p->route.worst <= 1);
}

#define SHAPE  "n=2 c=6 k=4 groups=2 in=9x8 filter=3x3 pad=1 "
#define GAPS   "xstrides=800x110x12x1 wstrides=40x12x4x1 ystrides=800x150x11x1 "
#define PACKED "layout=nhwc "

static const char *const cases[] = {
    SHAPE PACKED "dir=fwd ",
    SHAPE PACKED "dir=bwd_data ",
    SHAPE PACKED "dir=bwd_filter ",
    SHAPE GAPS "dir=fwd beta=0.5 ",
    SHAPE GAPS "dir=bwd_data beta=-1 alpha=2 ",
    SHAPE GAPS "dir=bwd_filter beta=1 ",
    SHAPE GAPS "zstrides=600x1x60x6 dir=fwd z=1 bias=1 act=relu ",
    SHAPE GAPS "zstrides=800x150x11x1 dir=fwd z=1 alpha2=3 ", /* in place too */
};
static const char *const dtypes[] = {"dtype=f16", "dtype=bf16", "dtype=f32", "dtype=f64"};

static program case_of(size_t i, size_t dtype)
{
    char text[300];
    snprintf(text, sizeof text, "%s%s", cases[i], dtypes[dtype]);
    return program_of(text);
}

IN_CHILD(right_results_agree)
{
    open_devices(1);
    for (size_t t = 0; t < COUNT_OF(dtypes); t++)
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            program p = case_of(i, t);
            const gdnn_fake_counts before = double_counts();
            verify(&p);
            const gdnn_fake_counts after = double_counts();
            CHECK(after.launches == before.launches + 1);
            CHECK(after.allocations == before.allocations);
            check_counts(&p, 1, 0, 0);
            program_end(&p);
        }
}

IN_CHILD(z_in_place)
{
    open_devices(1);
    for (size_t t = 0; t < COUNT_OF(dtypes); t++)
        for (int wrong = 0; wrong < 2; wrong++) {
            program p = case_of(COUNT_OF(cases) - 1, t);
            p.in_place = true;
            p.fault = wrong ? NO_PRIOR : NONE;
            verify(&p);
            check_counts(&p, 1, wrong, 0);
            program_end(&p);
        }
}

/* Every fault is seen in every case where it is one. */
IN_CHILD(wrong_results_differ)
{
    open_devices(1);
    for (size_t t = 0; t < COUNT_OF(dtypes); t++)
        for (size_t i = 0; i < COUNT_OF(cases); i++)
            for (int f = NONE + 1; f < FAULTS; f++) {
                program p = case_of(i, t);
                const bool prior = p.data.conv.beta != 0 || p.data.conv.z;
                p.fault = (fault)f;
                if ((f == NO_PRIOR && !prior) || (f == ONE_SLIGHTLY_WRONG && t < 2)) {
                    program_end(&p);
                    continue;
                }
                verify(&p);
                check_counts(&p, 1, 1, 0);
                p.fault = NONE;
                for (int again = 0; again < 2 && !prior; again++)
                    verify(&p);
                check_counts(&p, prior ? 1 : 3, 1, 0);
                program_end(&p);
            }
}

/* A kernel of ours that is wrong: cuDNN's result is kept. */
IN_CHILD(our_own_fault)
{
    open_devices(1);
    for (size_t i = 0; i < 3; i++) {
        program p = case_of(i, 2);
        gdnn_conv other = p.data.conv;
        other.alpha = 1.01;
        gdnn_args_fill(&p.route.args, &other);
        verify(&p);
        check_counts(&p, 1, 1, 0);
        program_end(&p);
    }
}

static void read_log(char *text, size_t size)
{
    FILE *file = fopen(log_path, "r");
    CHECK(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static int lines_with(const char *text, const char *piece)
{
    int found = 0;
    for (; (text = strstr(text, piece)); text++)
        found++;
    return found;
}

static void log_at(const char *level)
{
    char value[100];
    remove(log_path);
    snprintf(value, sizeof value, "%s:%s", level, log_path);
    setenv("GROUPDNN_LOG", value, 1);
}

IN_CHILD(what_the_log_says)
{
    char text[8192];
    log_at("info");
    open_devices(1);
    program p = case_of(0, 2);
    verify(&p);
    verify(&p);
    p.fault = ONE_WRONG;
    verify(&p);
    verify(&p);
    fail_next("cuLaunchKernelEx:1:701");
    p.fault = NONE;
    verify(&p);
    fail_next("cuMemAllocAsync:1:2");
    verify(&p);
    fail_next("");
    check_counts(&p, 4, 2, 2);
    read_log(text, sizeof text);
    CHECK(lines_with(text, "agrees: ") == 1);
    CHECK(lines_with(text, "differs: ") == 2);
    CHECK(lines_with(text, "direct_fwd") == 5);
    CHECK(lines_with(text, "dir=fwd dtype=f32 layout=nhwc n=2") == 5);
    CHECK(lines_with(text, "L2 difference ") == 3);
    CHECK(lines_with(text, "at (0, 2, 6, 0)") == 2); /* 192 of 576 */
    CHECK(lines_with(text, "failed: ") == 1);
    CHECK(lines_with(text, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES") == 1);
    CHECK(lines_with(text, "not compared: ") == 1);
    CHECK(lines_with(text, "cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY") == 1);
    program_end(&p);
}

/* What must be known is said at level error, and nothing else. */
IN_CHILD(what_the_log_says_of_errors_alone)
{
    char text[8192];
    log_at("error");
    open_devices(1);
    program p = case_of(0, 2);
    verify(&p);
    p.fault = ONE_NAN;
    verify(&p);
    read_log(text, sizeof text);
    CHECK(lines_with(text, "\n") == 1);
    CHECK(lines_with(text, "L2 difference inf") == 1);
    CHECK(lines_with(text, "instead of cuDNN's") == 1);
    program_end(&p);
}

IN_CHILD(captures_are_left_alone)
{
    open_devices(1);
    void (*begin)(CUstream) = NULL;
    int (*finish)(CUstream) = NULL;
    *(void **)&begin = double_symbol("gdnn_fake_capture_begin");
    *(void **)&finish = double_symbol("gdnn_fake_capture_end");
    program p = case_of(0, 2);
    const gdnn_tensors tensors = program_tensors(&p);
    const uint64_t launches = double_counts().launches;
    begin(p.stream);
    CHECK(!gdnn_verify(&p.route, &tensors, NULL, p.stream, real_in_capture, &p));
    CHECK(finish(p.stream) == 1); /* cuDNN's work, not spoilt */
    CHECK(p.calls == 1);
    check_counts(&p, 0, 0, 1);

    /* the default stream while a blocking one is captured */
    CUstream blocking;
    CHECK(!cu->cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    begin(blocking);
    CHECK(!gdnn_verify(&p.route, &tensors, NULL, NULL, real_in_capture, &p));
    CHECK(finish(blocking) == 0);
    CHECK(p.calls == 2);
    check_counts(&p, 0, 0, 2);
    CHECK(double_counts().launches == launches);
    CHECK(!cu->cuStreamDestroy(blocking));
    CHECK(!cu->cuStreamSynchronize(p.stream));
    program_end(&p);
}

/* Each call of the driver fails in turn: cuDNN is asked once all the same, its result stands, and
 * nothing is left behind. */
IN_CHILD(every_failure)
{
    static const char *const functions[] = {
        "cuStreamIsCapturing", "cuMemAllocAsync",     "cuMemcpyDtoDAsync", "cuLaunchKernelEx",
        "cuMemcpyDtoHAsync",   "cuStreamSynchronize", "cuMemFreeAsync"};
    open_devices(1);
    for (size_t f = 0; f < COUNT_OF(functions); f++)
        for (int n = 1;; n++) {
            char what[64];
            program p = case_of(COUNT_OF(cases) - 2, 2);
            const gdnn_tensors tensors = program_tensors(&p);
            const uint64_t allocations = double_counts().allocations;
            p.status = CUDNN_STATUS_EXECUTION_FAILED; /* which makes no calls of its own */
            snprintf(what, sizeof what, "%s:%d", functions[f], n);
            fail_next(what);
            CHECK(gdnn_verify(&p.route, &tensors, NULL, p.stream, program_cudnn, &p) == p.status);
            fail_next("");
            check_counts(&p, 0, 0, 1);
            CHECK(p.calls == 1);
            CHECK(!cu->cuStreamSynchronize(p.stream));
            CHECK(double_counts().allocations == allocations);
            program_end(&p);
            if (n > 9)
                break;
        }
}

/* The same after cuDNN's call, while the results are read. */
static const char *failure_after;

static cudnnStatus_t real_then_failure(void *context)
{
    const cudnnStatus_t status = program_cudnn(context);
    fail_next(failure_after);
    return status;
}

IN_CHILD(failures_after_cudnn)
{
    static const char *const failures[] = {"cuMemcpyDtoHAsync:1", "cuMemcpyDtoHAsync:2",
                                           "cuStreamSynchronize:1", "cuStreamSynchronize:2",
                                           "cuMemFreeAsync:1"};
    open_devices(1);
    for (size_t f = 0; f < COUNT_OF(failures); f++) {
        program p = case_of(0, 2);
        const gdnn_tensors tensors = program_tensors(&p);
        const uint64_t allocations = double_counts().allocations;
        failure_after = failures[f];
        CHECK(!gdnn_verify(&p.route, &tensors, NULL, p.stream, real_then_failure, &p));
        fail_next("");
        const bool compared = f + 1 == COUNT_OF(failures);
        check_counts(&p, compared, 0, !compared);
        program_kept(&p);
        CHECK(double_counts().allocations == allocations);
        program_end(&p);
    }
}

IN_CHILD(memory_is_short)
{
    open_devices(1);
    program p = case_of(0, 2);
    char limit[32];
    void (*configure)(void) = NULL;
    *(void **)&configure = double_symbol("gdnn_fake_configure");
    snprintf(limit, sizeof limit, "%llu",
             (unsigned long long)double_counts().bytes_allocated + 100);
    setenv("GDNN_FAKE_MEMORY", limit, 1);
    configure();
    verify(&p);
    check_counts(&p, 0, 0, 1);
    unsetenv("GDNN_FAKE_MEMORY");
    configure();
    verify(&p);
    check_counts(&p, 1, 0, 1);
    program_end(&p);
}

IN_CHILD(cudnn_refuses)
{
    open_devices(1);
    program p = case_of(0, 2);
    p.status = CUDNN_STATUS_NOT_SUPPORTED;
    const uint64_t allocations = double_counts().allocations;
    verify(&p);
    check_counts(&p, 0, 0, 1);
    CHECK(!cu->cuStreamSynchronize(p.stream));
    CHECK(double_counts().allocations == allocations);
    program_end(&p);
}

/* Threads share a route. */
enum { THREADS = 8, ROUNDS = 3 };
static gdnn_route *shared;

static void *verify_in_thread(void *context)
{
    program *p = context;
    const gdnn_tensors tensors = program_tensors(p);
    CHECK(!cu->cuCtxPushCurrent(contexts[0]));
    for (int i = 0; i < ROUNDS; i++)
        CHECK(!gdnn_verify(shared, &tensors, NULL, p->stream, program_cudnn, p));
    program_kept(p);
    return NULL;
}

IN_CHILD(threads)
{
    open_devices(1);
    program programs[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        programs[i] = case_of(0, 2);
        programs[i].fault = i % 4 == 1 ? ONE_WRONG : NONE;
    }
    shared = &programs[0].route;
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, verify_in_thread, &programs[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(thread[i], NULL));
    check_counts(&programs[0], THREADS * ROUNDS, THREADS / 4 * ROUNDS, 0);
    for (int i = 0; i < THREADS; i++)
        program_end(&programs[i]);
}

int main(int argc, char **argv)
{
    double_paths(argc, argv);
    char name[] = "/tmp/test_verify.XXXXXX";
    int file = mkstemp(name);
    if (file < 0)
        return 1;
    close(file);
    log_path = name;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_results_agree),
        cmocka_unit_test(z_in_place),
        cmocka_unit_test(wrong_results_differ),
        cmocka_unit_test(our_own_fault),
        cmocka_unit_test(what_the_log_says),
        cmocka_unit_test(what_the_log_says_of_errors_alone),
        cmocka_unit_test(captures_are_left_alone),
        cmocka_unit_test(every_failure),
        cmocka_unit_test(failures_after_cudnn),
        cmocka_unit_test(memory_is_short),
        cmocka_unit_test(cudnn_refuses),
        cmocka_unit_test(threads),
    };
    const int failed = cmocka_run_group_tests_name("verify", tests, NULL, NULL);
    remove(name);
    return failed;
}
