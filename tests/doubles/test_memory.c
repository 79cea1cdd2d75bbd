/* Device memory. argv: the double, the image. */
#include "fixture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_begins_as_nan(void **state)
{
    (void)state;
    CUdeviceptr p;
    float values[3] = {0, 0, 0};
    assert_success(cu.cuMemAlloc(&p, sizeof values));
    assert_int_equal(p % 256, 0);
    read_floats(values, p, 3);
    for (int i = 0; i < 3; i++)
        assert_true(isnan(values[i]));
    assert_success(cu.cuMemFree(p));
    assert_result(cu.cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    assert_result(cu.cuMemFree(0), CUDA_ERROR_INVALID_VALUE);
}

static void test_copies_and_memset(void **state)
{
    (void)state;
    CUdeviceptr p;
    char bytes[10] = "012345678", back[10];
    assert_success(cu.cuMemAlloc(&p, 10));
    assert_success(cu.cuMemcpyHtoDAsync(p, bytes, 10, NULL));
    memset(bytes, 0, 10); /* already staged */
    assert_success(cu.cuMemsetD8Async(p + 3, 'x', 2, NULL));
    assert_success(cu.cuMemcpyDtoHAsync(back, p, 10, NULL));
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_string_equal(back, "012xx5678");
    assert_success(cu.cuMemFree(p));
}

static CUdeviceptr victim;

static void touch_on_host(void)
{
    *(volatile char *)(uintptr_t)victim = 1;
}
static void poke(long long at)
{
    CUkernel kernel = get_kernel("probe_poke");
    void *parameters[] = {&victim, &at};
    assert_success(launch_kernel(kernel, 1, 1, 0, parameters));
    assert_success(cu.cuStreamSynchronize(NULL));
}
static void poke_behind(void)
{
    poke(10);
}
static void poke_before(void)
{
    poke(-1);
}
static void poke_into_guard(void)
{
    poke(100000);
}
static void poke_nowhere(void)
{
    poke(1ll << 40);
}
static void copy_past_the_end(void)
{
    char bytes[44] = "";
    cu.cuMemcpyHtoDAsync(victim, bytes, 41, NULL);
}
static void copy_from_past_the_end(void)
{
    char bytes[44];
    cu.cuMemcpyDtoHAsync(bytes, victim + 1, 40, NULL);
}
static void set_before_the_start(void)
{
    cu.cuMemsetD8Async(victim - 1, 0, 2, NULL);
}
static void free_twice(void)
{
    cu.cuMemFree(victim);
    cu.cuMemFree(victim);
}
static void free_inside(void)
{
    cu.cuMemFree(victim + 4);
}

static void test_wrong_use_dies(void **state)
{
    (void)state;
    victim = floats(10, 0);
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_dies(touch_on_host, "");
    assert_dies(copy_past_the_end, "+ 41 bytes does not lie in a live allocation");
    assert_dies(copy_from_past_the_end, "+ 40 bytes does not lie in a live allocation");
    assert_dies(set_before_the_start, "+ 2 bytes does not lie in a live allocation");
    assert_dies(free_twice, "is not the start of a live allocation");
    assert_dies(free_inside, "is not the start of a live allocation");
    assert_success(cu.cuMemFree(victim));
}

/* By canaries, the race checker or ASan, whichever the double has. */
static void test_kernel_out_of_bounds_dies(void **state)
{
    (void)state;
    victim = floats(10, 0);
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_dies(poke_behind, "probe_poke");
    assert_dies(poke_before, "probe_poke");
    assert_dies(poke_into_guard, "probe_poke");
    assert_dies(poke_nowhere, "probe_poke");
    assert_success(cu.cuMemFree(victim));
}

static void test_memory_limit(void **state)
{
    (void)state;
    size_t free_bytes, total;
    CUdeviceptr p, q;
    setenv("GDNN_FAKE_MEMORY", "1000", 1);
    cu.configure();
    assert_success(cu.cuMemAlloc(&p, 600));
    assert_success(cu.cuMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, 400);
    assert_int_equal(total, 1000);
    assert_result(cu.cuMemAlloc(&q, 401), CUDA_ERROR_OUT_OF_MEMORY);
    assert_success(cu.cuMemAlloc(&q, 400));
    assert_success(cu.cuMemFree(p));
    assert_success(cu.cuMemFree(q));
    assert_success(cu.cuMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, 1000);
    unsetenv("GDNN_FAKE_MEMORY");
    cu.configure();
}

/* 40 GiB, of which two floats are touched. */
static void test_huge(void **state)
{
    (void)state;
    const size_t count = (size_t)10 << 30;
    float one = 1, found[2];
    CUdeviceptr p;
    long long last = (long long)count - 1;
    assert_success(cu.cuMemAlloc(&p, count * sizeof one));
    assert_success(cu.cuMemcpyHtoDAsync(p, &one, sizeof one, NULL));
    void *parameters[] = {&p, &last};
    assert_success(launch_kernel(get_kernel("probe_poke"), 1, 1, 0, parameters));
    read_floats(&found[0], p, 1);
    read_floats(&found[1], p + (CUdeviceptr)last * sizeof one, 1);
    assert_true(found[0] == 1 && found[1] == 1);
    read_floats(&found[0], p + (CUdeviceptr)(count / 2) * sizeof one, 1);
    assert_true(found[0] == 0);
    assert_success(cu.cuMemFree(p));
}

/* A copy of memory that nobody wrote is not written either. */
static void read_copy_of_nothing(void)
{
    CUdeviceptr nothing, copy, result = floats(1, 0);
    int n = 1;
    assert_success(cu.cuMemAlloc(&nothing, 4));
    assert_success(cu.cuMemAlloc(&copy, 4));
    assert_success(cu.cuMemsetD8Async(copy, 0, 4, NULL));
    assert_success(cu.cuMemcpyDtoDAsync(copy, nothing, 4, NULL));
    void *parameters[] = {&result, &copy, &n};
    assert_success(launch_kernel(get_kernel("probe_copy"), 1, 32, 0, parameters));
    assert_success(cu.cuStreamSynchronize(NULL));
}

static void test_copy_of_uninitialised_memory(void **state)
{
    (void)state;
    if (cu.checks_races())
        assert_dies(read_copy_of_nothing, "read of memory that nobody wrote");
}

static void poke_behind_huge(void)
{
    poke((long long)10 << 30);
}

static void test_huge_bounds(void **state)
{
    (void)state;
    assert_success(cu.cuMemAlloc(&victim, ((size_t)10 << 30) * sizeof(float)));
    assert_dies(poke_behind_huge, "probe_poke");
    assert_success(cu.cuMemFree(victim));
}

static void leak_memory(void)
{
    floats(4, 0);
    close_context();
}
static void leak_stream(void)
{
    CUstream stream;
    cu.cuStreamCreate(&stream, 0);
    close_context();
}
static void leak_event(void)
{
    CUevent event;
    cu.cuEventCreate(&event, 0);
    close_context();
}

static void test_leaks_die(void **state)
{
    (void)state;
    assert_dies(leak_memory, "leak of 1 allocations, 0 streams, 0 events");
    assert_dies(leak_stream, "leak of 0 allocations, 1 streams, 0 events");
    assert_dies(leak_event, "leak of 0 allocations, 0 streams, 1 events");
}

static void test_counts(void **state)
{
    (void)state;
    gdnn_fake_counts before, during;
    cu.counters(&before);
    CUdeviceptr p = floats(25, 0);
    cu.counters(&during);
    assert_int_equal(during.allocations - before.allocations, 1);
    assert_int_equal(during.bytes_allocated - before.bytes_allocated, 100);
    assert_int_equal(during.calls - before.calls, 2);
    assert_success(cu.cuMemFree(p));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_double(argv[1]);
    set_probe_image(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begins_as_nan),  cmocka_unit_test(test_copies_and_memset),
        cmocka_unit_test(test_wrong_use_dies), cmocka_unit_test(test_kernel_out_of_bounds_dies),
        cmocka_unit_test(test_memory_limit),   cmocka_unit_test(test_huge),
        cmocka_unit_test(test_huge_bounds),    cmocka_unit_test(test_leaks_die),
        cmocka_unit_test(test_counts),         cmocka_unit_test(test_copy_of_uninitialised_memory),
    };
    return cmocka_run_group_tests_name("memory", tests, context_setup, context_teardown);
}
