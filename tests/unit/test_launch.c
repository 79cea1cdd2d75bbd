/* launch on the double of the driver: what is refused, with which status and reason, and that
 * everything works again afterwards. */
#include "double_fixture.h"
#include <pthread.h>

IN_CHILD(a_missing_driver)
{
    gdnn_driver_use("/nonexistent/libcuda.so.1");
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_DRIVER);
    CHECK_ERROR("/nonexistent/libcuda.so.1");
    gdnn_device device;
    CHECK(gdnn_device_current(&device) == GDNN_UNSUPPORTED);
    gdnn_conv conv = example(GDNN_FWD, GDNN_F32);
    gdnn_explanation explanation; /* needs no driver */
    CHECK(gdnn_explain(&conv, NULL, 0, &explanation) == GDNN_OK);
}

IN_CHILD(a_driver_that_lacks_functions)
{
    gdnn_driver_use(old_driver_path);
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_DRIVER);
    CHECK_ERROR("lacks cu");
    CHECK_ERROR("CUDA 12");
}

IN_CHILD(a_driver_that_is_too_old)
{
    setenv("GDNN_FAKE_DRIVER", "11080", 1);
    open_driver();
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_DRIVER);
    CHECK_ERROR("11.8");
}

IN_CHILD(no_device)
{
    setenv("GDNN_FAKE_DEVICES", "0", 1);
    open_driver();
    check_refused(GDNN_BWD_DATA, GDNN_UNSUPPORTED, GDNN_REASON_NO_DRIVER);
    CHECK_ERROR("cuInit");
    CHECK_ERROR("100");
}

IN_CHILD(a_driver_that_does_not_start)
{
    setenv("GDNN_FAKE_FAIL", "cuInit:1:999", 1);
    open_driver();
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_DRIVER);
    CHECK_ERROR("999");
}

IN_CHILD(no_context)
{
    open_driver();
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_CONTEXT);
    CHECK_ERROR("context");
    cu = gdnn_driver_get();
    CHECK(!cu->cuDevicePrimaryCtxRetain(&contexts[0], 0));
    CHECK(!cu->cuCtxPushCurrent(contexts[0]));
    check_works();
}

/* An image that does not suit stays refused; those of the other kernels may suit. */
static void check_image_refused(const char *injected)
{
    open_devices(1);
    fail_next(injected);
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_IMAGE);
    CHECK_ERROR("not built for this GPU");
    CHECK_ERROR("gpu_archs");
    fail_next("");
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_IMAGE);
    gdnn_plan *plan;
    CHECK(make(&plan, GDNN_BWD_DATA, NULL) == GDNN_OK);
    gdnn_plan_destroy(plan);
}

IN_CHILD(no_binary_for_this_gpu)
{
    check_image_refused("cuLibraryLoadData:1:209");
}

IN_CHILD(ptx_too_new_for_the_driver)
{
    check_image_refused("cuLibraryLoadData:1:222");
}

IN_CHILD(an_invalid_image)
{
    check_image_refused("cuLibraryLoadData:1:200");
}

/* Some drivers say it only when the function is asked for. */
IN_CHILD(no_binary_when_the_function_is_asked_for)
{
    open_devices(1);
    fail_next("cuKernelGetFunction:1:209");
    check_refused(GDNN_FWD, GDNN_UNSUPPORTED, GDNN_REASON_NO_IMAGE);
    CHECK_ERROR("cuKernelGetFunction");
}

/* Every call on the way to a plan: its failure is GDNN_FAILED with the name of the call and the
 * driver's words, and the next plan is made. */
IN_CHILD(failures_while_a_plan_is_made)
{
    static const char *const calls[] = {"cuCtxGetCurrent",
                                        "cuCtxGetDevice",
                                        "cuDeviceGetAttribute",
                                        "cuDeviceGetName",
                                        "cuThreadExchangeStreamCaptureMode",
                                        "cuLibraryLoadData",
                                        "cuLibraryGetKernel",
                                        "cuKernelGetFunction"};
    static const struct {
        int result;
        const char *name;
    } results[] = {{2, "CUDA_ERROR_OUT_OF_MEMORY"}, {999, "CUDA_ERROR_UNKNOWN"}};
    open_devices(1);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        for (size_t j = 0; j < COUNT_OF(results); j++) {
            char what[96];
            gdnn_plan *plan;
            snprintf(what, sizeof what, "%s:1:%d", calls[i], results[j].result);
            fail_next(what);
            CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_FAILED);
            CHECK(!plan);
            CHECK_ERROR(calls[i]);
            CHECK_ERROR(results[j].name);
            fail_next("");
        }
    check_works();
}

/* The context is asked for twice: for the device's facts, and before loading. */
IN_CHILD(a_failure_of_the_second_look_at_the_context)
{
    open_devices(1);
    fail_next("cuCtxGetCurrent:2:201");
    check_refused(GDNN_FWD, GDNN_FAILED, GDNN_REASON_NO_CONTEXT);
    CHECK_ERROR("CUDA_ERROR_INVALID_CONTEXT");
    fail_next("");
    check_works();
}

IN_CHILD(a_launch_that_fails)
{
    open_devices(1);
    gdnn_plan *plan;
    memory m = allocate();
    gdnn_tensors tensors = tensors_of(&m);
    CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_OK);
    fail_next("cuLaunchKernelEx:1:701");
    CHECK(gdnn_plan_run(plan, &tensors, NULL, NULL) == GDNN_FAILED);
    CHECK_ERROR("cuLaunchKernelEx");
    CHECK_ERROR("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)");
    CHECK(gdnn_plan_run(plan, &tensors, NULL, NULL) == GDNN_OK);
    check_result(&m);
    gdnn_plan_destroy(plan);
    release(&m);
}

/* Plans of each device's context, run there, in turn; and one made while a context is only pushed
 * for a while. */
IN_CHILD(two_devices)
{
    setenv("GDNN_FAKE_DEVICES", "2", 1);
    open_devices(2);
    gdnn_plan *plans[2];
    memory m[2];
    CUcontext popped;
    for (int i = 0; i < 2; i++) {
        CHECK(!cu->cuCtxPushCurrent(contexts[i]));
        m[i] = allocate();
        CHECK(make(&plans[i], GDNN_FWD, NULL) == GDNN_OK);
        CHECK(!cu->cuCtxPopCurrent(&popped));
    }
    for (int i = 1; i >= 0; i--) {
        CHECK(!cu->cuCtxPushCurrent(contexts[i]));
        gdnn_tensors tensors = tensors_of(&m[i]);
        CHECK(gdnn_plan_run(plans[i], &tensors, NULL, NULL) == GDNN_OK);
        check_result(&m[i]);
        release(&m[i]);
        gdnn_plan_destroy(plans[i]);
        CHECK(!cu->cuCtxPopCurrent(&popped));
    }
    gdnn_device device;
    CHECK(!cu->cuCtxPushCurrent(contexts[1]));
    CHECK(gdnn_device_current(&device) == GDNN_OK);
    CHECK(device.sm == 90 && device.multiprocessors > 0 && device.shared_bytes > 48 * 1024);
    CHECK(!cu->cuDevicePrimaryCtxRelease(1));
    CHECK(!cu->cuCtxPopCurrent(&popped));
    check_works();
}

/* Loading and running are legal while the stream is captured, and nothing runs before the
 * capture's end. */
IN_CHILD(a_plan_made_and_run_in_a_capture)
{
    open_devices(1);
    void (*begin)(CUstream) = NULL;
    int (*end)(CUstream) = NULL;
    *(void **)&begin = double_symbol("gdnn_fake_capture_begin");
    *(void **)&end = double_symbol("gdnn_fake_capture_end");
    memory m = allocate();
    gdnn_tensors tensors = tensors_of(&m);
    CUstream stream;
    gdnn_plan *plan;
    CHECK(!cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    begin(stream);
    CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_OK);
    CHECK(gdnn_plan_run(plan, &tensors, NULL, stream) == GDNN_OK);
    CHECK(end(stream) == 1);
    CHECK(!cu->cuStreamSynchronize(stream));
    check_result(&m);
    gdnn_plan_destroy(plan);
    CHECK(!cu->cuStreamDestroy(stream));
    release(&m);
}

/* The mode that was exchanged comes back, also where loading fails: else the capture of others
 * would be relaxed. */
IN_CHILD(the_capture_mode_comes_back)
{
    open_devices(1);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    CHECK(!cu->cuThreadExchangeStreamCaptureMode(&mode));
    gdnn_plan *plan;
    fail_next("cuLibraryLoadData:1:2");
    CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_FAILED);
    fail_next("");
    CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_OK);
    gdnn_plan_destroy(plan);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CHECK(!cu->cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

enum { THREADS = 8, ROUNDS = 6 };
static pthread_barrier_t together;

/* All instances, in another order in each thread. */
static void *make_plans(void *number)
{
    int thread = (int)(intptr_t)number;
    gdnn_options options = forced();
    CHECK(!cu->cuCtxPushCurrent(contexts[0]));
    pthread_barrier_wait(&together);
    for (int i = 0; i < 12 * ROUNDS; i++) {
        int which = (i * 5 + thread) % 12;
        gdnn_conv conv = example((gdnn_dir)(which % 3), (gdnn_dtype)(which / 3));
        gdnn_plan *plan;
        gdnn_decision decision;
        CHECK(gdnn_plan_make(&plan, &conv, 0, &options, &decision) == GDNN_OK);
        CHECK(decision.launch.dtype == conv.dtype && decision.launch.kernel->dir == conv.dir);
        gdnn_plan_destroy(plan);
        conv.groups = 3; /* and errors are each thread's own */
        CHECK(gdnn_plan_make(&plan, &conv, 0, &options, &decision) == GDNN_INVALID);
        CHECK_ERROR("groups=3");
    }
    check_works();
    return NULL;
}

IN_CHILD(many_threads_make_plans_at_once)
{
    open_devices(1);
    pthread_t threads[THREADS];
    CHECK(!pthread_barrier_init(&together, NULL, THREADS));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, make_plans, (void *)(intptr_t)i));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_driver),
        cmocka_unit_test(a_driver_that_lacks_functions),
        cmocka_unit_test(a_driver_that_is_too_old),
        cmocka_unit_test(no_device),
        cmocka_unit_test(a_driver_that_does_not_start),
        cmocka_unit_test(no_context),
        cmocka_unit_test(no_binary_for_this_gpu),
        cmocka_unit_test(ptx_too_new_for_the_driver),
        cmocka_unit_test(an_invalid_image),
        cmocka_unit_test(no_binary_when_the_function_is_asked_for),
        cmocka_unit_test(failures_while_a_plan_is_made),
        cmocka_unit_test(a_failure_of_the_second_look_at_the_context),
        cmocka_unit_test(a_launch_that_fails),
        cmocka_unit_test(two_devices),
        cmocka_unit_test(a_plan_made_and_run_in_a_capture),
        cmocka_unit_test(the_capture_mode_comes_back),
        cmocka_unit_test(many_threads_make_plans_at_once),
    };
    double_paths(argc, argv);
    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
