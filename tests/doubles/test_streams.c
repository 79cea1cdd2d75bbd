/* Streams and events. argv: the double, the image. */
#include "fixture.h"
#include <string.h>

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
    };
    return cmocka_run_group_tests_name("streams", tests, context_setup, context_teardown);
}
