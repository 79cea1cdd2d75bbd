/* Times on the emulated device mean nothing: what is tested is what is run, how often, and on what. */
#include "emulated_device.h"
#include "error.h"
#include "rotation.h"
#include "timer.h"
#include <dlfcn.h>

/* What was enqueued, in order: a letter for each call. */
static char calls[512];
static int copies[512];

typedef struct fake {
    char letter;
    int calls_left; /* until it fails */
} fake;

static gdnn_status enqueue(void *context, int copy)
{
    fake *f = context;
    size_t at = strlen(calls);
    assert_true(at + 1 < sizeof calls);
    calls[at] = f->letter;
    copies[at] = copy;
    return --f->calls_left == 0 ? gdnn_fail(GDNN_FAILED, "told to fail") : GDNN_OK;
}

static void begin(timer *t)
{
    memset(calls, 0, sizeof calls);
    assert_int_equal(timer_open(t, &device, 1 << 16, 1000), GDNN_OK);
}

static void samples_are_taken_in_turns(void **state)
{
    fake a = {'a', 0}, b = {'b', 0};
    timed one = {.enqueue = enqueue, .context = &a}, two = {.enqueue = enqueue, .context = &b};
    timed *list[] = {&one, NULL, &two};
    timer t;
    (void)state;
    begin(&t);
    assert_int_equal(timer_try(&t, &one), GDNN_OK);
    assert_int_equal(timer_try(&t, &two), GDNN_OK);
    assert_string_equal(calls, "aabb");
    assert_int_equal(timer_run(&t, list, 3), GDNN_OK);
    assert_string_equal(calls, "aabbababab");
    assert_true(one.count == 3 && two.count == 3);
    for (int i = 0; i < 3; i++)
        assert_true(one.samples[i] >= 0 && two.samples[i] >= 0);
    /* Each goes its own way through the copies. */
    const int expected[] = {0, 1, 0, 1, 2, 2, 3, 3, 4, 4};
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_int_equal(copies[i], expected[i]);
    timer_close(&t);
}

/* A stream that is busy is what is measured. */
static gdnn_status enqueue_much(void *context, int copy)
{
    CUdeviceptr memory = *(CUdeviceptr *)context;
    gdnn_status status = GDNN_OK;
    for (int i = 0; i < 64 && status == GDNN_OK; i++)
        status = gdnn_driver_check(
            device.driver->cuMemsetD8Async(memory, (unsigned char)copy, 1 << 20, device.stream),
            "cuMemsetD8Async");
    return status;
}

static void more_work_takes_longer(void **state)
{
    CUdeviceptr memory;
    fake nothing = {'n', 0};
    timed much = {.enqueue = enqueue_much, .context = &memory};
    timed little = {.enqueue = enqueue, .context = &nothing};
    timer t;
    (void)state;
    begin(&t);
    assert_int_equal(device.driver->cuMemAlloc(&memory, 1 << 20), CUDA_SUCCESS);
    assert_int_equal(timer_try(&t, &much), GDNN_OK);
    double least = much.ms;
    for (int i = 0; i < 5; i++) { /* whatever else the machine does */
        assert_int_equal(timer_try(&t, &little), GDNN_OK);
        least = little.ms < least ? little.ms : least;
    }
    assert_true(much.ms > 4 * least);
    assert_int_equal(device.driver->cuMemFree(memory), CUDA_SUCCESS);
    timer_close(&t);
}

static void failures_come_back(void **state)
{
    fake a = {'a', 2}, b = {'b', 4};
    timed one = {.enqueue = enqueue, .context = &a}, two = {.enqueue = enqueue, .context = &b};
    timed *list[] = {&two};
    timer t;
    (void)state;
    begin(&t);
    assert_int_equal(timer_try(&t, &one), GDNN_FAILED);
    assert_string_equal(gdnn_last_error(), "told to fail");
    assert_int_equal(timer_try(&t, &two), GDNN_OK);
    assert_int_equal(timer_run(&t, list, 1), GDNN_FAILED);
    assert_int_equal(two.count, 1);
    timer_close(&t);
}

/* How it is done where the driver is real: calls that do not count, then several for a sample. */
static void real_samples_are_of_many_calls(void **state)
{
    fake a = {'a', 0}, b = {'b', 0};
    timed one = {.enqueue = enqueue, .context = &a}, two = {.enqueue = enqueue, .context = &b};
    timed *list[] = {&one, &two};
    timer t;
    (void)state;
    device.real_time = true;
    begin(&t);
    assert_int_equal(t.lead, 32); /* 64 KiB of cache, and 1000 bytes a call */
    assert_true(t.filler != 0);
    assert_int_equal(timer_try(&t, &one), GDNN_OK);
    assert_int_equal(timer_try(&t, &two), GDNN_OK);
    one.ms = 0.1; /* 4 calls a sample after 20 */
    two.ms = 500; /* one after one */
    memset(calls, 0, sizeof calls);
    assert_int_equal(timer_run(&t, list, 2), GDNN_OK);
    assert_true(one.count == 3 && two.count == 3); /* the least */
    assert_int_equal(strlen(calls), 3 * (20 + 4 + 1 + 1));
    for (int i = 0; calls[i]; i++)
        assert_int_equal(calls[i], i % 26 < 24 ? 'a' : 'b');
    one.ms = 1e-4;
    one.count = 0;
    memset(calls, 0, sizeof calls);
    a.calls_left = 100; /* 32 and 16 each time */
    assert_int_equal(timer_run(&t, list, 1), GDNN_FAILED);
    assert_int_equal(one.count, 2);
    device.real_time = false;
    timer_close(&t);
    begin(&t);
    assert_true(t.filler == 0);
    timer_close(&t);
}

static gdnn_conv problem(const char *text)
{
    gdnn_conv conv;
    assert_int_equal(gdnn_conv_parse(text, &conv), GDNN_OK);
    return conv;
}

/* The L2 cache of the double has 64 KiB. */
static void copies_outgrow_the_cache_twice(void **state)
{
    /* x and y of 4000 bytes and w of 72, each aligned to 256: 8448 bytes a copy. */
    gdnn_conv conv =
        problem("n=2 c=10 in=10x10 k=10 filter=2x2 groups=10 dtype=f16 pad=1 pad_after=0");
    rotation r;
    (void)state;
    assert_int_equal(rotation_open(&device, &r, &conv, 4096), GDNN_OK);
    assert_int_equal(r.set, 4096 + 256 + 4096);
    assert_int_equal(r.copies, 2 * 65536 / 8448 + 1);
    assert_int_equal(r.workspace_bytes, 4096);
    gdnn_tensors first = rotation_tensors(&r, 0), second = rotation_tensors(&r, 1);
    gdnn_tensors again = rotation_tensors(&r, r.copies);
    assert_true((char *)first.w - (char *)first.x == 4096 &&
                (char *)first.y - (char *)first.w == 256);
    assert_true((char *)second.x - (char *)first.x == 8448 && again.x == first.x);
    assert_true((uintptr_t)first.x % 256 == 0 && first.z == NULL && first.bias == NULL);
    assert_non_null(rotation_workspace(&r));
    rotation_close(&device, &r);

    conv = problem("n=1 c=2 in=4x4 k=2 filter=1x1 groups=2 dtype=f16");
    assert_int_equal(rotation_open(&device, &r, &conv, 0), GDNN_OK);
    assert_int_equal(r.copies, 128);
    assert_null(rotation_workspace(&r));
    rotation_close(&device, &r);
    conv = problem("n=1 c=64 in=64x64 k=64 filter=1x1 groups=2 dtype=f32");
    assert_int_equal(rotation_open(&device, &r, &conv, 0), GDNN_OK);
    assert_int_equal(r.copies, 2);
    rotation_close(&device, &r);
}

/* Memory begins as NaN on the double. */
static void copies_hold_numbers(void **state)
{
    gdnn_conv conv = problem("n=8 c=16 in=64x64 k=16 filter=1x1 groups=16 dtype=f32");
    rotation r;
    (void)state;
    assert_int_equal(rotation_open(&device, &r, &conv, 0), GDNN_OK);
    const size_t count = r.set * (size_t)r.copies / sizeof(float);
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    assert_int_equal(
        device.driver->cuMemcpyDtoHAsync(values, r.memory, count * sizeof *values, device.stream),
        CUDA_SUCCESS);
    assert_int_equal(session_wait(&device), GDNN_OK);
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(values[i] >= -1 && values[i] < 1);
        different += values[i] != values[0];
    }
    assert_true(different > count / 2);
    free(values);
    rotation_close(&device, &r);
}

static void little_memory_holds_fewer_copies(void **state)
{
    gdnn_conv conv =
        problem("n=2 c=10 in=10x10 k=10 filter=2x2 groups=10 dtype=f16 pad=1 pad_after=0");
    rotation r;
    void (*configure)(void) = NULL;
    (void)state;
    void *library = dlopen(getenv("GDNN_EMULATED_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)&configure = dlsym(library, "gdnn_fake_configure");
    setenv("GDNN_FAKE_MEMORY", "100000", 1);
    configure();
    assert_int_equal(rotation_open(&device, &r, &conv, 1 << 20), GDNN_OK);
    assert_int_equal(r.copies, 8);
    assert_true(r.workspace_bytes == 1 << 14); /* halved until it fits beside 8 copies */
    rotation_close(&device, &r);
    setenv("GDNN_FAKE_MEMORY", "5000", 1);
    configure();
    assert_int_equal(rotation_open(&device, &r, &conv, 1 << 20), GDNN_UNSUPPORTED);
    assert_contains(gdnn_last_error(), "do not fit into the device's memory");
    rotation_close(&device, &r);
    unsetenv("GDNN_FAKE_MEMORY");
    configure();
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_taken_in_turns),
        cmocka_unit_test(more_work_takes_longer),
        cmocka_unit_test(failures_come_back),
        cmocka_unit_test(real_samples_are_of_many_calls),
        cmocka_unit_test(copies_outgrow_the_cache_twice),
        cmocka_unit_test(copies_hold_numbers),
        cmocka_unit_test(little_memory_holds_fewer_copies),
    };
    return cmocka_run_group_tests_name("timer", tests, open_device, close_device);
}
