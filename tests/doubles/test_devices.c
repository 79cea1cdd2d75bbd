/* Initialisation, devices, contexts, settings and failures on demand. argv: the double, the
 * image, the old driver. */
#include "fixture.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *old_driver;

static void test_needs_init(void **state)
{
    (void)state;
    int n;
    CUcontext context;
    assert_result(cu.cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    assert_result(cu.cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_success(cu.cuDriverGetVersion(&n));
    assert_int_equal(n, 13000);
    assert_result(cu.cuInit(1), CUDA_ERROR_INVALID_VALUE);
    setenv("GDNN_FAKE_DEVICES", "0", 1);
    cu.configure();
    assert_result(cu.cuInit(0), CUDA_ERROR_NO_DEVICE);
    assert_result(cu.cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    setenv("GDNN_FAKE_DEVICES", "2", 1);
    cu.configure();
    assert_success(cu.cuInit(0));
    assert_success(cu.cuDeviceGetCount(&n));
    assert_int_equal(n, 2);
}

static void test_devices(void **state)
{
    (void)state;
    CUdevice device;
    char name[64];
    assert_success(cu.cuDeviceGet(&device, 1));
    assert_result(cu.cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
    assert_result(cu.cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
    assert_success(cu.cuDeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "emulated GPU (sm_90)");
    setenv("GDNN_FAKE_NAME", "NVIDIA H200", 1);
    cu.configure();
    assert_success(cu.cuDeviceGetName(name, sizeof name, 1));
    assert_string_equal(name, "NVIDIA H200");
    unsetenv("GDNN_FAKE_NAME");
    cu.configure();
}

static int attribute(int number)
{
    int value = -1;
    assert_success(cu.cuDeviceGetAttribute(&value, number, 0));
    return value;
}

static void test_attributes(void **state)
{
    (void)state;
    const struct {
        const char *sm;
        int major, minor, shared;
    } cases[] = {{"90", 9, 0, 227}, {"86", 8, 6, 99},   {"80", 8, 0, 163},
                 {"75", 7, 5, 64},  {"120", 12, 0, 99}, {"100", 10, 0, 227}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("GDNN_FAKE_SM", cases[i].sm, 1);
        cu.configure();
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), cases[i].major);
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), cases[i].minor);
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                         cases[i].shared * 1024);
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 48 * 1024);
        assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE), 64 * 1024);
    }
    setenv("GDNN_FAKE_SHARED", "60000", 1);
    setenv("GDNN_FAKE_DRIVER", "12040", 1);
    cu.configure();
    int version;
    assert_success(cu.cuDriverGetVersion(&version));
    assert_int_equal(version, 12040);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 60000);
    unsetenv("GDNN_FAKE_SM");
    unsetenv("GDNN_FAKE_SHARED");
    unsetenv("GDNN_FAKE_DRIVER");
    cu.configure();
}

static void *other_thread(void *seen)
{
    cu.cuCtxGetCurrent(seen);
    return NULL;
}

static void test_contexts(void **state)
{
    (void)state;
    CUcontext first, second, seen;
    CUdevice device;
    assert_success(cu.cuCtxGetCurrent(&seen));
    assert_null(seen);
    assert_result(cu.cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    assert_result(cu.cuCtxPopCurrent(&seen), CUDA_ERROR_INVALID_CONTEXT);
    assert_success(cu.cuDevicePrimaryCtxRetain(&first, 0));
    assert_success(cu.cuDevicePrimaryCtxRetain(&second, 1));
    assert_ptr_not_equal(first, second);
    assert_success(cu.cuCtxPushCurrent(first));
    assert_success(cu.cuCtxPushCurrent(second));
    assert_success(cu.cuCtxGetDevice(&device));
    assert_int_equal(device, 1);

    pthread_t thread;
    seen = first;
    pthread_create(&thread, NULL, other_thread, &seen);
    pthread_join(thread, NULL);
    assert_null(seen); /* each thread has a stack of its own */

    assert_success(cu.cuCtxPopCurrent(&seen));
    assert_ptr_equal(seen, second);
    assert_success(cu.cuDevicePrimaryCtxRelease(1));
    assert_result(cu.cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
    assert_result(cu.cuCtxPushCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
    assert_success(cu.cuCtxGetDevice(&device));
    assert_int_equal(device, 0);
    /* released while current */
    assert_success(cu.cuDevicePrimaryCtxRelease(0));
    assert_result(cu.cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    assert_success(cu.cuCtxPopCurrent(&seen));
}

static void test_needs_context(void **state)
{
    (void)state;
    CUdeviceptr pointer;
    CUstream stream;
    CUevent event;
    size_t free_bytes, total;
    const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};
    assert_result(cu.cuMemAlloc(&pointer, 4), CUDA_ERROR_INVALID_CONTEXT);
    assert_result(cu.cuMemGetInfo(&free_bytes, &total), CUDA_ERROR_INVALID_CONTEXT);
    assert_result(cu.cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
    assert_result(cu.cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
    assert_result(cu.cuStreamSynchronize(NULL), CUDA_ERROR_INVALID_CONTEXT);
    assert_result(cu.cuLaunchKernelEx(&config, NULL, NULL, NULL), CUDA_ERROR_INVALID_CONTEXT);
}

static void test_failures(void **state)
{
    (void)state;
    int n;
    CUdevice device;
    setenv("GDNN_FAKE_FAIL", "cuDeviceGetCount:2,cuDeviceGet:1:2", 1);
    cu.configure();
    assert_success(cu.cuDeviceGetCount(&n));
    assert_result(cu.cuDeviceGetCount(&n), CUDA_ERROR_UNKNOWN);
    assert_success(cu.cuDeviceGetCount(&n));
    assert_result(cu.cuDeviceGet(&device, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_success(cu.cuDeviceGet(&device, 0));
    unsetenv("GDNN_FAKE_FAIL");
    cu.configure();
}

/* The n-th call of any function fails: all go through the same gate. */
static void test_every_function_can_fail(void **state)
{
    (void)state;
    CUresult (*function)(void *, void *, void *, void *, void *, void *, void *, void *);
    char setting[128];
#define GDNN_CU(name, symbol, parameters)                                                          \
    snprintf(setting, sizeof setting, "%s:1:900", #name);                                          \
    setenv("GDNN_FAKE_FAIL", setting, 1);                                                          \
    cu.configure();                                                                                \
    memcpy(&function, &cu.name, sizeof function);                                                  \
    assert_result(function(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),                        \
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
#include "capture_api.def"
#include "driver_api.def"
#undef GDNN_CU
    unsetenv("GDNN_FAKE_FAIL");
    cu.configure();
}

static void bad_setting(void)
{
    setenv("GDNN_FAKE_FAIL", "cuInit", 1);
    cu.configure();
}
static void bad_number(void)
{
    setenv("GDNN_FAKE_SM", "new", 1);
    cu.configure();
}

static void test_bad_settings(void **state)
{
    (void)state;
    assert_dies(bad_setting, "cuInit is not fn:n");
    assert_dies(bad_number, "new is not a number");
}

static void test_error_names(void **state)
{
    (void)state;
    const char *text;
    assert_success(cu.cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
    assert_string_equal(text, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_success(cu.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    assert_string_equal(text, "out of memory");
    assert_result(cu.cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    assert_null(text);
}

static void test_old_driver(void **state)
{
    (void)state;
    void *library = dlopen(old_driver, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    assert_non_null(dlsym(library, "cuInit"));
    assert_null(dlsym(library, "cuLibraryLoadData"));
    dlclose(library);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    open_double(argv[1]);
    set_probe_image(argv[2]);
    old_driver = argv[3];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs_init), /* first */
        cmocka_unit_test(test_devices),      cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_contexts),     cmocka_unit_test(test_needs_context),
        cmocka_unit_test(test_failures),     cmocka_unit_test(test_every_function_can_fail),
        cmocka_unit_test(test_bad_settings), cmocka_unit_test(test_error_names),
        cmocka_unit_test(test_old_driver),
    };
    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
