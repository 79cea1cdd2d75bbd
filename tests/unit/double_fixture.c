#include "double_fixture.h"

#include <dlfcn.h>
#include <sys/wait.h>

const char *driver_path, *old_driver_path;

void double_paths(int argc, char **argv)
{
    if (argc != 3) {
        printf("Bail out! usage: %s DOUBLE OLD_DRIVER\n", argv[0]);
        exit(1);
    }
    driver_path = argv[1];
    old_driver_path = argv[2];
}

void in_child(void (*body)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        body();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child ended with signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

const gdnn_driver *cu;
CUcontext contexts[2];
static void (*configure)(void);

void open_driver(void)
{
    void *library = dlopen(driver_path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    *(void **)&configure = dlsym(library, "gdnn_fake_configure");
    CHECK(configure);
    gdnn_driver_use(driver_path);
}

void *double_symbol(const char *name)
{
    void *found = dlsym(dlopen(driver_path, RTLD_NOW | RTLD_LOCAL), name);
    CHECK(found);
    return found;
}

void open_devices(int devices)
{
    open_driver();
    cu = gdnn_driver_get();
    CHECK(cu);
    for (int i = 0; i < devices; i++)
        CHECK(!cu->cuDevicePrimaryCtxRetain(&contexts[i], i));
    CHECK(!cu->cuCtxPushCurrent(contexts[0]));
}

void fail_next(const char *what)
{
    setenv("GDNN_FAKE_FAIL", what, 1);
    configure();
}

gdnn_conv example(gdnn_dir dir, gdnn_dtype dtype)
{
    gdnn_conv conv;
    gdnn_conv_init(&conv);
    conv.dir = dir;
    conv.dtype = dtype;
    conv.acc = dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
    conv.n = 1;
    conv.c = conv.k = conv.groups = 2;
    conv.in[0] = conv.in[1] = 2;
    conv.filter[0] = conv.filter[1] = 1;
    CHECK(gdnn_conv_set_layout(&conv, GDNN_NCHW) == GDNN_OK);
    return conv;
}

gdnn_options forced(void)
{
    gdnn_options options;
    gdnn_options_init(&options);
    options.mode = GDNN_MODE_FORCE;
    return options;
}

gdnn_status make(gdnn_plan **plan, gdnn_dir dir, gdnn_decision *decision)
{
    gdnn_conv conv = example(dir, GDNN_F32);
    gdnn_options options = forced();
    return gdnn_plan_make(plan, &conv, 0, &options, decision);
}

void check_refused(gdnn_dir dir, gdnn_status status, gdnn_reason reason)
{
    gdnn_plan *plan = (gdnn_plan *)1;
    gdnn_decision decision;
    CHECK(make(&plan, dir, &decision) == status);
    CHECK(!plan);
    CHECK(decision.reason == reason);
}

memory allocate(void)
{
    static const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, w[2] = {10, -1};
    memory m;
    CHECK(!cu->cuMemAlloc(&m.x, sizeof x) && !cu->cuMemAlloc(&m.w, sizeof w) &&
          !cu->cuMemAlloc(&m.y, sizeof x));
    CHECK(!cu->cuMemcpyHtoDAsync(m.x, x, sizeof x, NULL));
    CHECK(!cu->cuMemcpyHtoDAsync(m.w, w, sizeof w, NULL));
    CHECK(!cu->cuStreamSynchronize(NULL));
    return m;
}

gdnn_tensors tensors_of(const memory *m)
{
    return (gdnn_tensors){
        .x = (void *)(uintptr_t)m->x, .w = (void *)(uintptr_t)m->w, .y = (void *)(uintptr_t)m->y};
}

void check_result(const memory *m)
{
    static const float expected[8] = {10, 20, 30, 40, -5, -6, -7, -8};
    float y[8];
    CHECK(!cu->cuMemcpyDtoHAsync(y, m->y, sizeof y, NULL));
    CHECK(!cu->cuStreamSynchronize(NULL));
    for (int i = 0; i < 8; i++)
        CHECK(y[i] == expected[i]);
}

void release(memory *m)
{
    CHECK(!cu->cuMemFree(m->x) && !cu->cuMemFree(m->w) && !cu->cuMemFree(m->y));
}

void check_works(void)
{
    gdnn_plan *plan;
    memory m = allocate();
    gdnn_tensors tensors = tensors_of(&m);
    CHECK(make(&plan, GDNN_FWD, NULL) == GDNN_OK);
    CHECK(gdnn_plan_run(plan, &tensors, NULL, NULL) == GDNN_OK);
    gdnn_plan_destroy(plan);
    check_result(&m);
    release(&m);
}
