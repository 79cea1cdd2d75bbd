/* Launches. argv: the double, the image. */
#include "fixture.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
    (void)state;
    setenv("GDNN_FAKE_DEVICES", "2", 1);
    cu.configure();
    open_context();
    return 0;
}

static void test_limits_from_the_image(void **state)
{
    (void)state;
    CUdeviceptr p = floats(200 * 1024, 0);
    void *parameters[] = {&p, &p};
    assert_success(launch_kernel(get_kernel("probe_bounds"), 1, 64, 0, parameters));
    assert_result(launch_kernel(get_kernel("probe_bounds"), 1, 65, 0, parameters),
                  CUDA_ERROR_INVALID_VALUE);
    assert_result(launch_kernel(get_kernel("probe_registers"), 1, 1024, 0, parameters),
                  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_success(launch_kernel(get_kernel("probe_registers"), 1, 256, 0, parameters));
    assert_success(cu.cuMemFree(p));
}

static void test_launches(void **state)
{
    (void)state;
    CUdeviceptr src = floats(1000, 3), dst = floats(1000, 0);
    CUkernel kernel = get_kernel("probe_copy");
    gdnn_fake_counts before, after;
    float got[1000];
    int n = 1000;
    void *parameters[] = {&dst, &src, &n};
    cu.counters(&before);
    assert_success(launch_kernel(kernel, 4, 256, 0, parameters));
    n = 0; /* copied already */
    read_floats(got, dst, 1000);
    cu.counters(&after);
    for (int i = 0; i < 1000; i++)
        assert_true(got[i] == 3);
    assert_int_equal(after.launches - before.launches, 1);
    assert_int_equal(after.blocks - before.blocks, 4);
    assert_int_equal(after.threads - before.threads, 1024);
    assert_int_equal(cu.launches(), after.launches);
    if (cu.checks_races()) {
        assert_int_equal(after.sectors_read - before.sectors_read, 4000 / 32);
        assert_int_equal(after.sectors_written - before.sectors_written, 4000 / 32);
    }

    const CUlaunchConfig refused[] = {{0, 1, 1, 1, 1, 1, 0, NULL, NULL, 0},
                                      {1, 65536, 1, 1, 1, 1, 0, NULL, NULL, 0},
                                      {1, 1, 65536, 1, 1, 1, 0, NULL, NULL, 0},
                                      {0x80000000u, 1, 1, 1, 1, 1, 0, NULL, NULL, 0},
                                      {1, 1, 1, 1025, 1, 1, 0, NULL, NULL, 0},
                                      {1, 1, 1, 32, 33, 1, 0, NULL, NULL, 0},
                                      {1, 1, 1, 1, 1, 65, 0, NULL, NULL, 0},
                                      {1, 1, 1, 0, 1, 1, 0, NULL, NULL, 0},
                                      {1, 1, 1, 1, 1, 1, 48 * 1024 + 1, NULL, NULL, 0}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_result(cu.cuLaunchKernelEx(&refused[i], (CUfunction)kernel, parameters, NULL),
                      CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cu.launches(), after.launches);
    assert_success(cu.cuMemFree(src));
    assert_success(cu.cuMemFree(dst));
}

static void test_counters_by_name(void **state)
{
    (void)state;
    CUdeviceptr src = floats(32, 3), dst = floats(32, 0);
    float got[32];
    int n = 32;
    void *parameters[] = {&dst, &src, &n};
    assert_success(launch_kernel(get_kernel("probe_copy"), 1, 32, 0, parameters));
    read_floats(got, dst, 32);
    gdnn_fake_counts all;
    cu.counters(&all);
    const struct {
        const char *name;
        uint64_t value;
    } cases[] = {{"threads", all.threads},           {"barriers", all.barriers},
                 {"warp_ops", all.warp_ops},         {"mma", all.mma},
                 {"sectors_read", all.sectors_read}, {"sectors_written", all.sectors_written},
                 {"shared_bytes", all.shared_bytes}, {"conflict_cycles", all.conflict_cycles}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = UINT64_MAX;
        assert_int_equal(cu.counter(cases[i].name, &value), 1);
        assert_int_equal(value, cases[i].value);
    }
    uint64_t untouched = 7;
    assert_int_equal(cu.counter("sectors", &untouched), 0);
    assert_int_equal(untouched, 7);
    assert_success(cu.cuMemFree(src));
    assert_success(cu.cuMemFree(dst));
}

static void test_struct_by_value(void **state)
{
    (void)state;
    struct {
        int values[5];
        double last;
    } s = {{1, 0, 0, 0, 5}, 7};
    CUdeviceptr p;
    double got;
    assert_success(cu.cuMemAlloc(&p, sizeof got));
    void *parameters[] = {&p, &s};
    assert_success(launch_kernel(get_kernel("probe_by_value"), 1, 32, 0, parameters));
    assert_success(cu.cuMemcpyDtoHAsync(&got, p, sizeof got, NULL));
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_true(got == 1 + 50 + 700);
    assert_success(cu.cuMemFree(p));
}

static void test_dynamic_shared(void **state)
{
    (void)state;
    int n = 15000, value;
    CUdeviceptr src = floats((size_t)n, 1), dst = floats(1, 0);
    CUkernel kernel = get_kernel("probe_sum");
    const unsigned bytes = (unsigned)n * 4;
    float got;
    void *parameters[] = {&dst, &src, &n};
    assert_result(launch_kernel(kernel, 1, 256, bytes, parameters), CUDA_ERROR_INVALID_VALUE);
    const CUfunction_attribute limit = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    assert_result(cu.cuKernelSetAttribute(limit, 227 * 1024 + 1, kernel, 0),
                  CUDA_ERROR_INVALID_VALUE);
    assert_result(cu.cuKernelSetAttribute(limit, 1, kernel, 7), CUDA_ERROR_INVALID_DEVICE);
    assert_success(cu.cuKernelSetAttribute(limit, (int)bytes, kernel, 1));
    /* of the other device */
    assert_result(launch_kernel(kernel, 1, 256, bytes, parameters), CUDA_ERROR_INVALID_VALUE);
    assert_success(cu.cuKernelSetAttribute(limit, (int)bytes, kernel, 0));
    assert_success(cu.cuKernelGetAttribute(&value, limit, kernel, 0));
    assert_int_equal(value, bytes);
    assert_success(launch_kernel(kernel, 1, 256, bytes, parameters));
    read_floats(&got, dst, 1);
    assert_true(got == (float)n);
    assert_success(cu.cuMemFree(src));
    assert_success(cu.cuMemFree(dst));
}

static CUdeviceptr device_pointer;
static void launch_copy(CUdeviceptr dst, CUdeviceptr src)
{
    int n = 1;
    void *parameters[] = {&dst, &src, &n};
    launch_kernel(get_kernel("probe_copy"), 1, 1, 0, parameters);
}
static void launch_with_host_pointer(void)
{
    float host = 1;
    launch_copy(device_pointer, (CUdeviceptr)(uintptr_t)&host);
}
static void launch_with_freed_pointer(void)
{
    CUdeviceptr freed = floats(1, 0);
    cu.cuMemFree(freed);
    launch_copy(freed, device_pointer);
}
static void launch_with_end_pointer(void)
{
    launch_copy(device_pointer + 4, device_pointer);
}
static void launch_without_parameter(void)
{
    void *parameters[] = {&device_pointer, NULL, NULL};
    launch_kernel(get_kernel("probe_copy"), 1, 1, 0, parameters);
}
static void launch_with_attributes(void)
{
    const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 1};
    cu.cuLaunchKernelEx(&config, (CUfunction)get_kernel("probe_copy"), NULL, NULL);
}
static void launch_no_kernel(void)
{
    launch_kernel((CUkernel)&device_pointer, 1, 1, 0, NULL);
}

static void test_wrong_launches_die(void **state)
{
    (void)state;
    device_pointer = floats(1, 0);
    assert_dies(launch_with_host_pointer, "parameter 1");
    assert_dies(launch_with_freed_pointer, "parameter 0");
    assert_dies(launch_with_end_pointer, "does not lie in a live allocation");
    assert_dies(launch_without_parameter, "parameter 1 is missing");
    assert_dies(launch_with_attributes, "not modelled");
    assert_dies(launch_no_kernel, "is not a kernel of a live library");
    assert_success(cu.cuMemFree(device_pointer));
}

static void launch_on_other_device(void)
{
    CUcontext other;
    cu.cuDevicePrimaryCtxRetain(&other, 1);
    cu.cuCtxPushCurrent(other);
    launch_copy(device_pointer, device_pointer);
}

static void test_functions_and_devices(void **state)
{
    (void)state;
    CUcontext other, popped;
    CUfunction here, there, again;
    CUkernel kernel = get_kernel("probe_copy");
    int n = 0;
    void *parameters[] = {&device_pointer, &device_pointer, &n};
    const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};
    device_pointer = floats(1, 0);
    assert_success(cu.cuKernelGetFunction(&here, kernel));
    assert_success(cu.cuKernelGetFunction(&again, kernel));
    assert_ptr_equal(here, again);
    assert_success(cu.cuLaunchKernelEx(&config, here, parameters, NULL));
    assert_success(cu.cuDevicePrimaryCtxRetain(&other, 1));
    assert_success(cu.cuCtxPushCurrent(other));
    assert_result(cu.cuLaunchKernelEx(&config, here, parameters, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_success(cu.cuKernelGetFunction(&there, kernel));
    assert_ptr_not_equal(here, there);
    assert_success(cu.cuCtxPopCurrent(&popped));
    assert_success(cu.cuDevicePrimaryCtxRelease(1));
    assert_dies(launch_on_other_device, "is memory of device 0, not 1");
    assert_success(cu.cuMemFree(device_pointer));
}

static void run_deep(void)
{
    int depth = 1 << 15;
    void *parameters[] = {&device_pointer, &depth};
    assert_success(launch_kernel(get_kernel("probe_deep"), 1, 1, 0, parameters));
    assert_success(cu.cuStreamSynchronize(NULL));
}

static void test_stack_overflow_dies(void **state)
{
    (void)state;
    device_pointer = floats(1, 0);
    assert_dies(run_deep, "stack overflow");
    assert_success(cu.cuMemFree(device_pointer));
}

static CUcontext shared_context;
static void *copy_often(void *failed)
{
    int *failures = failed;
    CUcontext popped;
    *failures += cu.cuCtxPushCurrent(shared_context) != CUDA_SUCCESS;
    for (int round = 1; round <= 20; round++) {
        CUstream stream;
        CUdeviceptr src, dst;
        float value = (float)round, got = 0;
        int n = 1;
        void *parameters[] = {&dst, &src, &n};
        CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
        *failures += cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
        *failures += cu.cuMemAlloc(&src, 4) != CUDA_SUCCESS;
        *failures += cu.cuMemAlloc(&dst, 4) != CUDA_SUCCESS;
        config.hStream = stream;
        cu.cuMemcpyHtoDAsync(src, &value, 4, stream);
        cu.cuLaunchKernelEx(&config, (CUfunction)get_kernel("probe_copy"), parameters, NULL);
        cu.cuMemcpyDtoHAsync(&got, dst, 4, stream);
        cu.cuStreamSynchronize(stream);
        *failures += got != value;
        *failures += cu.cuMemFree(src) != CUDA_SUCCESS;
        *failures += cu.cuMemFree(dst) != CUDA_SUCCESS;
        *failures += cu.cuStreamDestroy(stream) != CUDA_SUCCESS;
    }
    *failures += cu.cuCtxPopCurrent(&popped) != CUDA_SUCCESS;
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    int failures[4] = {0};
    get_kernel("probe_copy");
    assert_success(cu.cuCtxGetCurrent(&shared_context));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_often, &failures[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failures[i], 0);
    }
}

static void run_race(void)
{
    CUdeviceptr p = floats(64, 0);
    gdnn_fake_counts counts;
    void *parameters[] = {&p};
    assert_success(launch_kernel(get_kernel("probe_race"), 1, 64, 0, parameters));
    assert_success(cu.cuMemFree(p));
    cu.counters(&counts);
    assert_int_not_equal(counts.errors, 0);
}

static void test_races_fail_the_process(void **state)
{
    (void)state;
    assert_exits(run_race, 66, "race: read, not ordered with a write");
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_double(argv[1]);
    set_probe_image(argv[2]);
    struct CMUnitTest tests[9] = {
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_counters_by_name),
        cmocka_unit_test(test_struct_by_value),
        cmocka_unit_test(test_dynamic_shared),
        cmocka_unit_test(test_wrong_launches_die),
        cmocka_unit_test(test_functions_and_devices),
        cmocka_unit_test(test_stack_overflow_dies),
        cmocka_unit_test(test_threads),
    };
    size_t count = 7;
    if (image_is_real()) /* a build with nvcc */
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_limits_from_the_image);
    if (cu.checks_races())
        tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_races_fail_the_process);
    return _cmocka_run_group_tests("launches", tests, count, setup, context_teardown);
}
