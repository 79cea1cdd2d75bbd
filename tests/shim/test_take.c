/* take on the double of the driver: what runs our kernel, what goes to the real library, and how it is asked. */
#include "double_fixture.h"
#include "take.h"

/* What stands for the real library. */
static int asked_real, asked_accepted, asked_stream;
static bool accepts = true, has_stream = true;
static CUstream stream_now;

static cudnnStatus_t real(void *context)
{
    CHECK(context == &asked_real);
    asked_real++;
    return CUDNN_STATUS_EXECUTION_FAILED;
}

static bool accepted(void *context)
{
    CHECK(context == &asked_real);
    asked_accepted++;
    return accepts;
}

static bool stream(void *context, CUstream *stream)
{
    CHECK(context == &asked_real);
    asked_stream++;
    *stream = stream_now;
    return has_stream;
}

static const gdnn_taker taker = {&asked_real, real, accepted, stream};

static uint64_t launches(void)
{
    uint64_t (*count)(void) = double_symbol("gdnn_fake_launches");
    return count();
}

static void begin(const char *mode)
{
    setenv("GROUPDNN_MODE", mode, 1);
    open_devices(1);
    CHECK(!cu->cuStreamCreate(&stream_now, CU_STREAM_NON_BLOCKING));
}

static gdnn_conv zeroed_example(gdnn_dir dir)
{
    gdnn_conv conv, given = example(dir, GDNN_F32);
    memset(&conv, 0, sizeof conv);
    memcpy(&conv, &given, sizeof conv);
    return conv;
}

static void check_run(const memory *m)
{
    CHECK(!cu->cuStreamSynchronize(stream_now));
    check_result(m);
}

/* Takes `conv` and says whether the real library was asked. */
static bool goes_to_real(const gdnn_conv *conv, const gdnn_tensors *t)
{
    int before = asked_real;
    uint64_t launched = launches();
    cudnnStatus_t status = gdnn_take(conv, 1, t, NULL, 0, &taker);
    bool asked = asked_real > before;
    CHECK(asked_real - before == asked);
    CHECK(status == (asked ? CUDNN_STATUS_EXECUTION_FAILED : CUDNN_STATUS_SUCCESS));
    CHECK(launches() - launched == !asked);
    return asked;
}

static uint64_t without_route(gdnn_reason reason)
{
    return gdnn_routes_counted(GDNN_FWD, reason);
}

IN_CHILD(force_takes)
{
    begin("force");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    CHECK(!goes_to_real(&conv, &t));
    check_run(&m);
    const gdnn_route *route = gdnn_routes_newest();
    CHECK(route && !route->next && route->reason == GDNN_REASON_TAKEN && route->calls == 1);
    CHECK(asked_accepted == 1 && asked_stream == 1);

    /* Decided once; the stream is asked for each time. */
    CUstream first = stream_now;
    CHECK(!cu->cuStreamCreate(&stream_now, CU_STREAM_NON_BLOCKING));
    CHECK(!goes_to_real(&conv, &t));
    CHECK(gdnn_routes_newest() == route && route->calls == 2);
    CHECK(asked_accepted == 1 && asked_stream == 2);
    CHECK(!cu->cuStreamSynchronize(first) && !cu->cuStreamSynchronize(stream_now));
    release(&m);
}

static void check_forwards(const char *mode, gdnn_reason reason)
{
    begin(mode);
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    CHECK(goes_to_real(&conv, &t) && goes_to_real(&conv, &t));
    const gdnn_route *route = gdnn_routes_newest();
    CHECK(route && route->reason == reason && route->calls == 2 && !route->next);
    release(&m);
}

IN_CHILD(on_needs_evidence)
{
    check_forwards("on", GDNN_REASON_NO_EVIDENCE);
    CHECK(asked_accepted == 0); /* nothing more is asked than is needed */
}

IN_CHILD(observe_decides_as_on)
{
    check_forwards("observe", GDNN_REASON_NO_EVIDENCE);
}

IN_CHILD(what_cudnn_refuses_it_answers)
{
    accepts = false;
    check_forwards("force", GDNN_REASON_REFUSED);
    CHECK(asked_accepted == 1);
}

IN_CHILD(what_is_disabled_is_forwarded)
{
    setenv("GROUPDNN_DISABLE", "fwd", 1);
    check_forwards("force", GDNN_REASON_DISABLED);
}

IN_CHILD(a_launch_that_fails_is_forwarded)
{
    begin("force");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    fail_next("cuLaunchKernelEx:1:701");
    CHECK(gdnn_take(&conv, 1, &t, NULL, 0, &taker) == CUDNN_STATUS_EXECUTION_FAILED);
    CHECK(asked_real == 1);
    fail_next("");
    CHECK(!goes_to_real(&conv, &t));
    check_run(&m);
    release(&m);
}

IN_CHILD(a_kernel_that_does_not_load_is_forwarded)
{
    begin("force");
    fail_next("cuLibraryLoadData:1:209");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    CHECK(goes_to_real(&conv, &t));
    CHECK(gdnn_routes_newest()->reason == GDNN_REASON_NO_IMAGE);
    release(&m);
}

/* A driver that fails once does not forward a problem for ever. */
static void check_tried_again(const char *failure)
{
    begin("force");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    fail_next(failure);
    CHECK(goes_to_real(&conv, &t));
    CHECK(!gdnn_routes_newest());
    fail_next("");
    CHECK(!goes_to_real(&conv, &t));
    check_run(&m);
    CHECK(gdnn_routes_newest()->calls == 1);
    release(&m);
}

IN_CHILD(a_load_that_fails_is_tried_again)
{
    check_tried_again("cuLibraryLoadData:1:2");
    CHECK(without_route(GDNN_REASON_NO_IMAGE) == 1);
}

IN_CHILD(a_device_that_cannot_be_read_is_tried_again)
{
    check_tried_again("cuDeviceGetAttribute:1:999");
    CHECK(without_route(GDNN_REASON_NO_DRIVER) == 1);
}

IN_CHILD(no_context)
{
    begin("force");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    CUcontext popped;
    CHECK(!cu->cuCtxPopCurrent(&popped));
    CHECK(goes_to_real(&conv, &t));
    CHECK(without_route(GDNN_REASON_NO_CONTEXT) == 1 && !gdnn_routes_newest());
    CHECK(!cu->cuCtxPushCurrent(popped));
    CHECK(!goes_to_real(&conv, &t));
    release(&m);
}

IN_CHILD(no_driver)
{
    setenv("GROUPDNN_MODE", "force", 1);
    gdnn_driver_use("/nonexistent/libcuda.so.1");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    gdnn_tensors t = {&conv, &conv, &conv, NULL, NULL};
    CHECK(gdnn_take(&conv, 1, &t, NULL, 0, &taker) == CUDNN_STATUS_EXECUTION_FAILED);
    CHECK(asked_real == 1 && without_route(GDNN_REASON_NO_DRIVER) == 1);
}

IN_CHILD(no_stream)
{
    begin("force");
    has_stream = false;
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    CHECK(goes_to_real(&conv, &t));
    release(&m);
}

/* Pointers decide each time: the next call of the same problem may be in order. */
IN_CHILD(missing_and_misaligned_memory)
{
    begin("force");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    for (int i = 0; i < 6; i++) {
        gdnn_tensors t = tensors_of(&m);
        void **pointer = i % 3 == 0 ? &t.x : i % 3 == 1 ? &t.w : &t.y;
        *pointer = i < 3 ? NULL : (char *)*pointer + 2;
        CHECK(goes_to_real(&conv, &t));
        CHECK(without_route(GDNN_REASON_INVALID) == (uint64_t)i + 1);
    }
    gdnn_tensors t = tensors_of(&m);
    CHECK(!goes_to_real(&conv, &t));
    check_run(&m);
    release(&m);
}

/* The example has as many elements in y as in x. */
IN_CHILD(memory_that_overlaps)
{
    begin("force");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    t.y = t.x;
    CHECK(goes_to_real(&conv, &t));
    t.y = (char *)t.x + 4;
    CHECK(goes_to_real(&conv, &t));
    t.y = t.w;
    CHECK(goes_to_real(&conv, &t));
    CHECK(without_route(GDNN_REASON_ALIASED) == 3);
    t = tensors_of(&m);
    t.w = t.x; /* both are only read */
    CHECK(!goes_to_real(&conv, &t));
    release(&m);
}

/* z may be y itself if its elements lie where y's do; nothing else may overlap. */
IN_CHILD(z_in_place)
{
    begin("force");
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    memory m = allocate();
    gdnn_tensors t = tensors_of(&m);
    conv.z = 1;
    t.z = t.y;
    CHECK(!goes_to_real(&conv, &t));
    t.z = (char *)t.y + 4;
    CHECK(goes_to_real(&conv, &t));
    CHECK(without_route(GDNN_REASON_ALIASED) == 1);

    conv.z_stride[1] += 1;
    t.z = t.y;
    CHECK(goes_to_real(&conv, &t));
    CHECK(without_route(GDNN_REASON_ALIASED) == 2);
    conv.alpha2 = 0; /* then z is not read */
    CHECK(!goes_to_real(&conv, &t));
    t.z = NULL;
    CHECK(!goes_to_real(&conv, &t));
    release(&m);
}

/* Two devices, one problem: two routes. */
IN_CHILD(each_device_has_its_route)
{
    setenv("GROUPDNN_MODE", "force", 1);
    setenv("GDNN_FAKE_DEVICES", "2", 1);
    open_devices(2);
    gdnn_conv conv = zeroed_example(GDNN_FWD);
    for (int i = 0; i < 2; i++) {
        CUcontext popped;
        CHECK(!cu->cuCtxPopCurrent(&popped) && !cu->cuCtxPushCurrent(contexts[i]));
        stream_now = NULL;
        memory m = allocate();
        gdnn_tensors t = tensors_of(&m);
        CHECK(!goes_to_real(&conv, &t) && !goes_to_real(&conv, &t));
        check_run(&m);
        CHECK(gdnn_routes_newest()->key.device == i && gdnn_routes_newest()->calls == 2);
        release(&m);
    }
}

int main(int argc, char **argv)
{
    double_paths(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_takes),
        cmocka_unit_test(on_needs_evidence),
        cmocka_unit_test(observe_decides_as_on),
        cmocka_unit_test(what_cudnn_refuses_it_answers),
        cmocka_unit_test(what_is_disabled_is_forwarded),
        cmocka_unit_test(a_launch_that_fails_is_forwarded),
        cmocka_unit_test(a_kernel_that_does_not_load_is_forwarded),
        cmocka_unit_test(a_load_that_fails_is_tried_again),
        cmocka_unit_test(a_device_that_cannot_be_read_is_tried_again),
        cmocka_unit_test(no_context),
        cmocka_unit_test(no_driver),
        cmocka_unit_test(no_stream),
        cmocka_unit_test(missing_and_misaligned_memory),
        cmocka_unit_test(memory_that_overlaps),
        cmocka_unit_test(z_in_place),
        cmocka_unit_test(each_device_has_its_route),
    };
    return cmocka_run_group_tests_name("take", tests, NULL, NULL);
}
