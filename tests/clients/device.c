#include "device.h"
#include "cuda_types.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DRIVER(F)                                                                                  \
    F(init, cuInit, (unsigned))                                                                    \
    F(retain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                   \
    F(release, cuDevicePrimaryCtxRelease_v2, (CUdevice))                                           \
    F(push, cuCtxPushCurrent_v2, (CUcontext))                                                      \
    F(pop, cuCtxPopCurrent_v2, (CUcontext *))                                                      \
    F(alloc, cuMemAlloc_v2, (CUdeviceptr *, size_t))                                               \
    F(free, cuMemFree_v2, (CUdeviceptr))                                                           \
    F(to_device, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream))              \
    F(to_host, cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))                      \
    F(stream_new, cuStreamCreate, (CUstream *, unsigned))                                          \
    F(stream_free, cuStreamDestroy_v2, (CUstream))                                                 \
    F(wait, cuStreamSynchronize, (CUstream))

#define MEMBER(name, symbol, parameters) CUresult(*name) parameters;
static struct {
    DRIVER(MEMBER)
} driver;

static void check(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    fflush(stdout);
    fprintf(stderr, "%s: the driver's %s gave %d\n", program_invocation_short_name, call,
            (int)result);
    exit(3);
}

#define CHECK(call) check(driver.call, #call)

int device_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s: no device: %s\n", program_invocation_short_name, dlerror());
        return 0;
    }
#define LOOK_UP(name, symbol, parameters)                                                          \
    driver.name = (__typeof__(driver.name))dlsym(library, #symbol);                                \
    if (!driver.name) {                                                                            \
        fprintf(stderr, "%s: libcuda.so.1 has no " #symbol "\n", program_invocation_short_name);   \
        return 0;                                                                                  \
    }
    DRIVER(LOOK_UP)
    CUcontext context;
    CHECK(init(0));
    CHECK(retain(&context, 0));
    CHECK(push(context));
    return 1;
}

void device_close(void)
{
    CHECK(pop(NULL));
    CHECK(release(0));
}

void *device_new(size_t bytes)
{
    CUdeviceptr memory;
    CHECK(alloc(&memory, bytes ? bytes : 1));
    return (void *)memory;
}

void device_free(void *memory)
{
    if (memory)
        CHECK(free((CUdeviceptr)memory));
}

void device_put(void *device, const void *host, size_t bytes)
{
    CHECK(to_device((CUdeviceptr)device, host, bytes, NULL));
    CHECK(wait(NULL));
}

void device_get(void *host, const void *device, size_t bytes, cudaStream_t stream)
{
    CHECK(to_host(host, (CUdeviceptr)device, bytes, stream));
    CHECK(wait(stream));
}

cudaStream_t device_stream(void)
{
    CUstream stream;
    CHECK(stream_new(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

void device_stream_free(cudaStream_t stream)
{
    CHECK(stream_free(stream));
}
