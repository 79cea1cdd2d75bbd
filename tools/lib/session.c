#include "session.h"

#include "error.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a guard zone. */
enum { GUARD = 4096 };

/* The devices of a driver. Asked of the library itself, since gdnn_driver_get keeps its first
 * answer. */
static int count_devices(const char *driver)
{
    void *library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 0;
    CUresult (*init)(unsigned) = NULL;
    CUresult (*count)(int *) = NULL;
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&count = dlsym(library, "cuDeviceGetCount");
    int devices = 0;
    /* Not closed again: a driver that was initialised does not unload cleanly. */
    bool known = init && count && init(0) == CUDA_SUCCESS && count(&devices) == CUDA_SUCCESS;
    return known ? devices : 0;
}

/* `kind` is the folder: plain or race. */
static void emulated_path(const char *kind, char *path, size_t size)
{
    const char *named = getenv("GDNN_EMULATED_DRIVER");
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash)
        *slash = 0;
    if (named && *named)
        snprintf(path, size, "%s", named);
    else
        snprintf(path, size, "%s/../tests/doubles/%s/libcuda.so.1", program, kind);
}

void session_emulated_path(char *path, size_t size)
{
    emulated_path("plain", path, size);
}

static gdnn_status use_emulated(session *s, const char *kind)
{
    static char path[PATH_MAX]; /* gdnn_driver_use keeps the pointer */
    char wanted[PATH_MAX + 64];
    emulated_path(kind, wanted, sizeof wanted);
    if (!realpath(wanted, path))
        return gdnn_fail(
            GDNN_UNSUPPORTED,
            "no emulated device: there is no %s; a build with -Dtests=true%s makes it, and "
            "the tool finds it from the build folder",
            wanted, strcmp(kind, "race") ? "" : " and without sanitizers");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return gdnn_fail(GDNN_UNSUPPORTED, "no emulated device: %s", dlerror());
    gdnn_driver_use(path);
    *(void **)&s->count_launches = dlsym(library, "gdnn_fake_launches");
    int (*counts)(void) = NULL;
    *(void **)&counts = dlsym(library, "gdnn_fake_checks_races");
    if (counts && counts())
        *(void **)&s->counter = dlsym(library, "gdnn_fake_counter");
    s->emulated = true;
    return GDNN_OK;
}

int session_devices(session_choice choice)
{
    char path[PATH_MAX + 64];
    int gpus = choice == SESSION_EMULATED ? 0 : count_devices("libcuda.so.1");
    if (gpus || choice == SESSION_GPU)
        return gpus;
    session_emulated_path(path, sizeof path);
    return count_devices(path);
}

static gdnn_status open_device(session *s, int ordinal)
{
    s->driver = gdnn_driver_get();
    if (!s->driver)
        return GDNN_UNSUPPORTED;
    gdnn_status status =
        gdnn_driver_check(s->driver->cuDeviceGet(&s->device, ordinal), "cuDeviceGet");
    if (status == GDNN_OK)
        status = gdnn_driver_check(s->driver->cuDevicePrimaryCtxRetain(&s->context, s->device),
                                   "cuDevicePrimaryCtxRetain");
    if (status != GDNN_OK) {
        s->context = NULL;
        return status;
    }
    status = gdnn_driver_check(s->driver->cuCtxPushCurrent(s->context), "cuCtxPushCurrent");
    if (status == GDNN_OK)
        status = gdnn_driver_check(s->driver->cuStreamCreate(&s->stream, CU_STREAM_NON_BLOCKING),
                                   "cuStreamCreate");
    if (status == GDNN_OK)
        status = gdnn_device_current(&s->facts);
    return status;
}

/* NVIDIA's driver has the entry by which NVIDIA's own libraries reach its inside; what stands in for it has not. */
static bool is_nvidias(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    bool has = library && dlsym(library, "cuGetExportTable");
    if (library)
        dlclose(library);
    return has;
}

static gdnn_status open_kind(session *s, session_choice choice, const char *kind, int ordinal)
{
    *s = (session){.emulated = false};
    bool gpu = choice != SESSION_EMULATED && count_devices("libcuda.so.1") > 0;
    if (choice == SESSION_GPU && !gpu)
        return gdnn_fail(
            GDNN_UNSUPPORTED,
            "no GPU: libcuda.so.1 is missing or finds no device; on a machine with one, check "
            "nvidia-smi and CUDA_VISIBLE_DEVICES; else use --device emulated");
    gdnn_status status = gpu ? GDNN_OK : use_emulated(s, kind);
    if (status == GDNN_OK)
        status = open_device(s, ordinal);
    s->real_time = gpu && is_nvidias();
    return status;
}

gdnn_status session_open(session *s, session_choice choice)
{
    return open_kind(s, choice, "plain", 0);
}

gdnn_status session_open_counting(session *s, session_choice choice)
{
    return open_kind(s, choice, "race", 0);
}

gdnn_status session_open_device(session *s, session_choice choice, int ordinal)
{
    return open_kind(s, choice, "plain", ordinal);
}

void session_close(session *s)
{
    if (!s->context)
        return;
    if (s->stream)
        s->driver->cuStreamDestroy(s->stream);
    CUcontext popped;
    s->driver->cuCtxPopCurrent(&popped);
    s->driver->cuDevicePrimaryCtxRelease(s->device);
    s->context = NULL;
}

gdnn_status session_wait(session *s)
{
    return gdnn_driver_check(s->driver->cuStreamSynchronize(s->stream), "cuStreamSynchronize");
}

long long session_launches(const session *s)
{
    return s->count_launches ? (long long)s->count_launches() : -1;
}

bool session_read_counts(const session *s, session_counts *counts)
{
    bool known = s->counter != NULL;
#define GDNN_COUNTER(name, meaning) known = known && s->counter(#name, &counts->name);
#include "counters.def"
#undef GDNN_COUNTER
    return known;
}

static size_t whole(const buffer *b)
{
    return b->start + b->bytes + GUARD;
}

gdnn_status buffer_open(session *s, buffer *b, size_t bytes, size_t shift)
{
    *b = (buffer){.start = GUARD + shift, .bytes = bytes};
    CUresult result = s->driver->cuMemAlloc(&b->allocation, whole(b));
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        b->allocation = 0;
        return gdnn_fail(GDNN_UNSUPPORTED, "%zu bytes do not fit into the device's memory",
                         whole(b));
    }
    gdnn_status status = gdnn_driver_check(result, "cuMemAlloc");
    if (status != GDNN_OK) {
        b->allocation = 0;
        return status;
    }
    return gdnn_driver_check(s->driver->cuMemsetD8Async(b->allocation, 0xff, whole(b), s->stream),
                             "cuMemsetD8Async");
}

void *buffer_address(const buffer *b)
{
    return (void *)(uintptr_t)(b->allocation + b->start);
}

gdnn_status buffer_write(session *s, buffer *b, const void *from)
{
    CUresult result =
        s->driver->cuMemcpyHtoDAsync(b->allocation + b->start, from, b->bytes, s->stream);
    return gdnn_driver_check(result, "cuMemcpyHtoDAsync");
}

static bool untouched(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0xff)
            return false;
    return true;
}

gdnn_status buffer_read(session *s, const buffer *b, void *to, bool *intact)
{
    unsigned char before[2 * GUARD], after[GUARD];
    size_t front = b->start < sizeof before ? b->start : sizeof before;
    const gdnn_driver *cu = s->driver;
    CUdeviceptr contents = b->allocation + b->start;
    gdnn_status status = gdnn_driver_check(
        cu->cuMemcpyDtoHAsync(before, contents - front, front, s->stream), "cuMemcpyDtoHAsync");
    if (status == GDNN_OK)
        status = gdnn_driver_check(cu->cuMemcpyDtoHAsync(to, contents, b->bytes, s->stream),
                                   "cuMemcpyDtoHAsync");
    if (status == GDNN_OK)
        status =
            gdnn_driver_check(cu->cuMemcpyDtoHAsync(after, contents + b->bytes, GUARD, s->stream),
                              "cuMemcpyDtoHAsync");
    if (status == GDNN_OK)
        status = session_wait(s);
    if (status == GDNN_OK)
        *intact = untouched(before, front) && untouched(after, GUARD);
    return status;
}

void buffer_close(session *s, buffer *b)
{
    if (b->allocation)
        s->driver->cuMemFree(b->allocation);
    b->allocation = 0;
}
