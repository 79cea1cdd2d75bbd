/* Stream-ordered memory: only the order of the streams says when it may be used. argv: the double,
 * the image. */
#include "fixture.h"
#include <math.h>
#include <stdlib.h>

static CUstream one, other;

static CUdeviceptr victim;

static CUdeviceptr ordered(size_t count)
{
    CUdeviceptr p = 0;
    assert_success(cu.cuMemAllocAsync(&p, count * sizeof(float), one));
    return p;
}

static void open_streams(void)
{
    assert_success(cu.cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    assert_success(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
}

static void close_streams(void)
{
    assert_success(cu.cuStreamDestroy(one));
    assert_success(cu.cuStreamDestroy(other));
}

static void test_ordered_memory(void **state)
{
    (void)state;
    float values[3] = {0, 0, 0};
    gdnn_fake_counts before, after;
    open_streams();
    cu.counters(&before);
    CUdeviceptr p = ordered(3), source = floats(3, 2);
    assert_int_equal(p % 256, 0);
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuMemcpyDtoHAsync(values, p, sizeof values, one));
    assert_success(cu.cuStreamSynchronize(one));
    for (int i = 0; i < 3; i++)
        assert_true(isnan(values[i]));
    assert_success(cu.cuMemcpyDtoDAsync(p + 4, source, 8, one));
    assert_success(cu.cuMemsetD8Async(p, 0, 4, one));
    assert_success(cu.cuMemcpyDtoHAsync(values, p, sizeof values, one));
    assert_success(cu.cuMemFreeAsync(p, one));
    assert_success(cu.cuStreamSynchronize(one));
    assert_true(values[0] == 0 && values[1] == 2 && values[2] == 2);

    p = ordered(3); /* cuMemFree takes it too, and waits */
    assert_success(cu.cuMemFree(p));
    assert_success(cu.cuMemFree(source));
    cu.counters(&after);
    assert_int_equal(after.allocations, before.allocations);
    assert_result(cu.cuMemAllocAsync(&p, 0, one), CUDA_ERROR_INVALID_VALUE);
    assert_result(cu.cuMemFreeAsync(0, one), CUDA_ERROR_INVALID_VALUE);
    close_streams();
}

static void poke(long long at)
{
    void *parameters[] = {&victim, &at};
    assert_success(launch_kernel(get_kernel("probe_poke"), 1, 1, 0, parameters));
    assert_success(cu.cuStreamSynchronize(NULL));
}
static void use_after_free(void)
{
    victim = ordered(10);
    assert_success(cu.cuMemFreeAsync(victim, one));
    cu.cuMemsetD8Async(victim, 0, 4, one);
}
static void launch_after_free(void)
{
    victim = ordered(10);
    assert_success(cu.cuMemFreeAsync(victim, one));
    poke(0);
}
static void free_ordered_twice(void)
{
    victim = ordered(10);
    assert_success(cu.cuMemFreeAsync(victim, one));
    cu.cuMemFreeAsync(victim, one);
}
static void free_ordered_both_ways(void)
{
    victim = ordered(10);
    assert_success(cu.cuMemFreeAsync(victim, one));
    cu.cuMemFree(victim);
}
static void free_ordered_inside(void)
{
    cu.cuMemFreeAsync(ordered(10) + 4, one);
}
static void free_unordered(void)
{
    cu.cuMemFreeAsync(floats(10, 0), NULL);
}
static void use_on_another_stream(void)
{
    victim = ordered(10);
    assert_success(cu.cuMemsetD8Async(victim, 0, 4, other));
    cu.cuStreamSynchronize(other);
}
static void launch_on_another_stream(void)
{
    victim = ordered(10);
    poke(0);
}
static void free_before_another_stream(void)
{
    victim = ordered(10);
    assert_success(cu.cuStreamSynchronize(one));
    assert_success(cu.cuMemsetD8Async(victim, 0, 4, other));
    assert_success(cu.cuMemFreeAsync(victim, one));
    assert_success(cu.cuStreamSynchronize(one));
    cu.cuStreamSynchronize(other);
}
static void copy_onto_itself(void)
{
    victim = floats(10, 0);
    cu.cuMemcpyDtoDAsync(victim, victim + 4, 36, NULL);
}
static void leak_ordered(void)
{
    ordered(10);
    close_streams();
    close_context();
}
static void write_behind_ordered(void)
{
    victim = ordered(10);
    assert_success(cu.cuStreamSynchronize(one));
    poke(10);
}
static void allocate_in_capture(void)
{
    cu.capture_begin(one);
    ordered(1);
}

static void test_wrong_use_of_ordered_memory_dies(void **state)
{
    (void)state;
    open_streams();
    assert_dies(use_after_free, "was given to cuMemFreeAsync");
    assert_dies(launch_after_free, "was given to cuMemFreeAsync");
    assert_dies(free_ordered_twice, "was given to cuMemFreeAsync before");
    assert_dies(free_ordered_both_ways, "was given to cuMemFreeAsync before");
    assert_dies(free_ordered_inside, "is not the start of a live allocation");
    assert_dies(free_unordered, "is not of cuMemAllocAsync");
    assert_dies(use_on_another_stream, "is used before the stream of cuMemAllocAsync comes to it");
    assert_dies(launch_on_another_stream, "probe_poke: parameter 0");
    assert_dies(free_before_another_stream,
                "does not lie in a live allocation when its turn comes");
    assert_dies(copy_onto_itself, "overlap");
    assert_dies(leak_ordered, "leak of 1 allocations, 0 streams, 0 events");
    assert_dies(write_behind_ordered, "probe_poke");
    assert_dies(allocate_in_capture, "is not modelled");
    close_streams();
}

static void test_limit_of_ordered_memory(void **state)
{
    (void)state;
    CUdeviceptr p, q;
    open_streams();
    setenv("GDNN_FAKE_MEMORY", "1000", 1);
    setenv("GDNN_FAKE_FAIL", "cuMemAllocAsync:2:2,cuMemFreeAsync:1", 1);
    cu.configure();
    p = ordered(200);
    assert_result(cu.cuMemAllocAsync(&q, 4, one), CUDA_ERROR_OUT_OF_MEMORY); /* as told */
    assert_result(cu.cuMemAllocAsync(&q, 201, other), CUDA_ERROR_OUT_OF_MEMORY);
    assert_result(cu.cuMemFreeAsync(p, one), CUDA_ERROR_UNKNOWN);
    assert_success(cu.cuMemFreeAsync(p, one));
    assert_success(cu.cuMemAllocAsync(&q, 1000, one)); /* of what was freed */
    assert_success(cu.cuMemFreeAsync(q, one));
    assert_success(cu.cuStreamSynchronize(one));
    unsetenv("GDNN_FAKE_MEMORY");
    unsetenv("GDNN_FAKE_FAIL");
    cu.configure();
    close_streams();
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_double(argv[1]);
    set_probe_image(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordered_memory),
        cmocka_unit_test(test_wrong_use_of_ordered_memory_dies),
        cmocka_unit_test(test_limit_of_ordered_memory),
    };
    return cmocka_run_group_tests_name("ordered memory", tests, context_setup, context_teardown);
}
