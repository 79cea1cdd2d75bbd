#include "fixture.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

double_functions cu;
static CUcontext context;
static const char *image_path;

static void look_up(void *library, const char *symbol, void *function)
{
    *(void **)function = dlsym(library, symbol);
    if (!*(void **)function) {
        fprintf(stderr, "the double lacks %s\n", symbol);
        abort();
    }
}

void open_double(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
#define GDNN_CU(name, symbol, parameters) look_up(library, #symbol, &cu.name);
#include "capture_api.def"
#include "driver_api.def"
#undef GDNN_CU
    look_up(library, "gdnn_fake_counters", &cu.counters);
    look_up(library, "gdnn_fake_counter", &cu.counter);
    look_up(library, "gdnn_fake_launches", &cu.launches);
    look_up(library, "gdnn_fake_checks_races", &cu.checks_races);
    look_up(library, "gdnn_fake_configure", &cu.configure);
    look_up(library, "gdnn_fake_capture_begin", &cu.capture_begin);
    look_up(library, "gdnn_fake_capture_end", &cu.capture_end);
}

void open_context(void)
{
    assert_success(cu.cuInit(0));
    assert_success(cu.cuDevicePrimaryCtxRetain(&context, 0));
    assert_success(cu.cuCtxPushCurrent(context));
}

void close_context(void)
{
    CUcontext popped;
    assert_success(cu.cuCtxPopCurrent(&popped));
    assert_ptr_equal(popped, context);
    assert_success(cu.cuDevicePrimaryCtxRelease(0));
}

int context_setup(void **state)
{
    (void)state;
    open_context();
    return 0;
}

int context_teardown(void **state)
{
    (void)state;
    close_context();
    return 0;
}

void set_probe_image(const char *path)
{
    image_path = path;
}

const void *probe_image(void)
{
    static void *image;
    if (image)
        return image;
    FILE *file = fopen(image_path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    assert_int_equal(posix_memalign(&image, 64, size), 0);
    assert_int_equal(fread(image, 1, size, file), size);
    fclose(file);
    return image;
}

bool image_is_real(void)
{
    return memcmp(probe_image(), "GDNNSTUB", 8) != 0;
}

CUkernel get_kernel(const char *name)
{
    static CUlibrary library;
    CUkernel kernel;
    if (!library)
        assert_success(cu.cuLibraryLoadData(&library, probe_image(), NULL, NULL, 0, NULL, NULL, 0));
    assert_success(cu.cuLibraryGetKernel(&kernel, library, name));
    return kernel;
}

CUdeviceptr floats(size_t count, float value)
{
    CUdeviceptr pointer;
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    assert_success(cu.cuMemAlloc(&pointer, count * sizeof *values));
    assert_success(cu.cuMemcpyHtoDAsync(pointer, values, count * sizeof *values, NULL));
    free(values);
    return pointer;
}

void read_floats(float *target, CUdeviceptr source, size_t count)
{
    assert_success(cu.cuMemcpyDtoHAsync(target, source, count * sizeof *target, NULL));
    assert_success(cu.cuStreamSynchronize(NULL));
}

CUresult launch_kernel(CUkernel kernel, unsigned blocks, unsigned threads, unsigned shared,
                       void **parameters)
{
    const CUlaunchConfig config = {blocks, 1, 1, threads, 1, 1, shared, NULL, NULL, 0};
    return cu.cuLaunchKernelEx(&config, (CUfunction)kernel, parameters, NULL);
}

CUresult copy_on(CUstream stream, CUdeviceptr dst, CUdeviceptr src, int n)
{
    const CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, stream, NULL, 0};
    void *parameters[] = {&dst, &src, &n};
    return cu.cuLaunchKernelEx(&config, (CUfunction)get_kernel("probe_copy"), parameters, NULL);
}

static int run_child(void (*body)(void), char *text, size_t size)
{
    int ends[2];
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        /* cmocka's handlers would turn the crash into a failed test of the child */
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        body();
        exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    return status;
}

void assert_dies(void (*body)(void), const char *text)
{
    static char said[1 << 16];
    int status = run_child(body, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        fail_msg("did not die; said \"%s\"", said);
    if (!strstr(said, text))
        fail_msg("wanted \"%s\", said \"%s\"", text, said);
}

void assert_exits(void (*body)(void), int expected, const char *text)
{
    static char said[1 << 16];
    int status = run_child(body, said, sizeof said);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
        fail_msg("wait status %d instead of exit status %d; said \"%s\"", status, expected, said);
    if (!strstr(said, text))
        fail_msg("wanted \"%s\", said \"%s\"", text, said);
}
