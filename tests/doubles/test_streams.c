/* Streams, events and capture. argv: the double, the image. */
#include "fixture.h"
#include <string.h>

static CUresult copy_on(CUstream stream, CUdeviceptr dst, CUdeviceptr src, int n)
{
    const CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, stream, NULL, 0};
    void *parameters[] = {&dst, &src, &n};
    return cu.cuLaunchKernelEx(&config, (CUfunction)get_kernel("probe_copy"), parameters, NULL);
}

static void test_work_waits(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr p = floats(1, 5);
    float value = 0;
    unsigned bits;
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_success(cu.cuMemcpyDtoHAsync(&value, p, sizeof value, stream));
    memcpy(&bits, &value, sizeof bits);
    assert_int_equal(bits, 0xffffffffu);
    assert_success(cu.cuStreamSynchronize(NULL)); /* not this stream */
    assert_true(value != 5);
    assert_success(cu.cuStreamSynchronize(stream));
    assert_true(value == 5);
    assert_success(cu.cuStreamDestroy(stream));
    assert_success(cu.cuMemFree(p));
}

/* Work on a blocking stream waits for older work on the default stream, and the other way round. */
static void test_default_stream_orders(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr a = floats(1, 1), b = floats(1, 2), c = floats(1, 3);
    float value;
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    assert_success(copy_on(NULL, b, a, 1));
    assert_success(copy_on(stream, c, b, 1));
    assert_success(cu.cuMemcpyDtoHAsync(&value, c, sizeof value, stream));
    assert_success(cu.cuStreamSynchronize(stream));
    assert_true(value == 1);
    assert_success(cu.cuMemsetD8Async(a, 0, 4, stream));
    assert_success(cu.cuMemcpyDtoHAsync(&value, a, sizeof value, NULL));
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_true(value == 0);

    /* through the default stream also between two blocking ones */
    CUstream other;
    assert_success(cu.cuStreamCreate(&other, CU_STREAM_DEFAULT));
    assert_success(cu.cuMemsetD8Async(a, 0x40, 4, stream));
    assert_success(copy_on(NULL, b, a, 1));
    assert_success(copy_on(other, c, b, 1));
    assert_success(cu.cuMemcpyDtoHAsync(&value, c, sizeof value, other));
    assert_success(cu.cuStreamSynchronize(other));
    assert_int_equal(memcmp(&value, "@@@@", 4), 0);
    assert_success(cu.cuStreamDestroy(other));
    assert_success(cu.cuStreamDestroy(stream));
    assert_success(cu.cuMemFree(a));
    assert_success(cu.cuMemFree(b));
    assert_success(cu.cuMemFree(c));
}

static void test_non_blocking_does_not_wait(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr a = floats(1, 1);
    float value;
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_success(cu.cuMemsetD8Async(a, 0, 4, NULL));
    assert_success(cu.cuMemcpyDtoHAsync(&value, a, sizeof value, stream));
    assert_success(cu.cuStreamSynchronize(stream));
    assert_true(value == 1); /* a program that relies on the order is wrong */
    assert_success(cu.cuStreamDestroy(stream));
    assert_success(cu.cuMemFree(a));
}

static void test_events(void **state)
{
    (void)state;
    CUevent from, to;
    float ms = -1;
    assert_success(cu.cuEventCreate(&from, CU_EVENT_DEFAULT));
    assert_success(cu.cuEventCreate(&to, CU_EVENT_DEFAULT));
    assert_result(cu.cuEventElapsedTime(&ms, from, to), CUDA_ERROR_INVALID_HANDLE);
    assert_success(cu.cuEventRecord(from, NULL));
    assert_success(cu.cuEventRecord(to, NULL));
    assert_result(cu.cuEventElapsedTime(&ms, from, to), CUDA_ERROR_NOT_READY);
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuEventElapsedTime(&ms, from, to));
    assert_true(ms >= 0 && ms < 1e4f);
    assert_success(cu.cuEventDestroy(from));
    assert_success(cu.cuEventDestroy(to));
}

static CUstream dead_stream;
static CUevent dead_event;

static void use_dead_stream(void)
{
    cu.cuStreamSynchronize(dead_stream);
}
static void destroy_dead_stream(void)
{
    cu.cuStreamDestroy(dead_stream);
}
static void record_dead_event(void)
{
    cu.cuEventRecord(dead_event, NULL);
}

static void test_dead_handles_die(void **state)
{
    (void)state;
    assert_success(cu.cuStreamCreate(&dead_stream, 0));
    assert_success(cu.cuStreamDestroy(dead_stream));
    assert_success(cu.cuEventCreate(&dead_event, 0));
    assert_success(cu.cuEventDestroy(dead_event));
    assert_dies(use_dead_stream, "is not a live stream");
    assert_dies(destroy_dead_stream, "is not a live stream");
    assert_dies(record_dead_event, "is not a live event");
}

static void test_capture(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr a = floats(1, 1), b = floats(1, 2);
    float value;
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cu.capture_begin(stream);
    assert_success(copy_on(stream, b, a, 1));
    read_floats(&value, b, 1);
    assert_true(value == 2); /* only recorded */
    assert_int_equal(cu.capture_end(stream), 1);
    assert_success(cu.cuStreamSynchronize(stream));
    read_floats(&value, b, 1);
    assert_true(value == 1);
    assert_success(cu.cuStreamDestroy(stream));
    assert_success(cu.cuMemFree(a));
    assert_success(cu.cuMemFree(b));
}

static void test_capture_forbids(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr p = 0;
    CUlibrary library;
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    cu.capture_begin(stream);
    assert_result(cu.cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cu.capture_end(stream), -1);

    cu.capture_begin(stream);
    assert_result(cu.cuMemAlloc(&p, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_result(cu.cuMemsetD8Async(p, 0, 0, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cu.capture_end(stream), -1);

    cu.capture_begin(stream);
    assert_result(cu.cuLibraryLoadData(&library, probe_image(), NULL, NULL, 0, NULL, NULL, 0),
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cu.capture_end(stream), -1);
    assert_success(cu.cuStreamDestroy(stream));
}

static void test_relaxed_mode(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr p;
    gdnn_fake_counts before, after;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cu.counters(&before);
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cu.capture_begin(stream);
    assert_success(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_success(cu.cuMemAlloc(&p, 4));
    assert_success(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_int_equal(cu.capture_end(stream), 0);
    cu.counters(&after);
    assert_int_equal(after.capture_exchanges - before.capture_exchanges, 2);
    mode = (CUstreamCaptureMode)3;
    assert_result(cu.cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
    assert_success(cu.cuMemFree(p));
    assert_success(cu.cuStreamDestroy(stream));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_double(argv[1]);
    set_probe_image(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_waits),
        cmocka_unit_test(test_default_stream_orders),
        cmocka_unit_test(test_non_blocking_does_not_wait),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_dead_handles_die),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_capture_forbids),
        cmocka_unit_test(test_relaxed_mode),
    };
    return cmocka_run_group_tests_name("streams", tests, context_setup, context_teardown);
}
