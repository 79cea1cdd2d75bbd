#include "memory.h"
#include "cuda_types.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct {
    CUresult (*to_host)(void *, CUdeviceptr, size_t, CUstream);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t, CUstream);
    CUresult (*wait)(CUstream);
} driver;

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return;
    driver.to_host = (__typeof__(driver.to_host))dlsym(library, "cuMemcpyDtoHAsync_v2");
    driver.to_device = (__typeof__(driver.to_device))dlsym(library, "cuMemcpyHtoDAsync_v2");
    driver.wait = (__typeof__(driver.wait))dlsym(library, "cuStreamSynchronize");
}

static int have_driver(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_driver);
    return driver.to_host && driver.to_device && driver.wait;
}

/* A wait that is refused once may leave the copy to come, and the caller frees its memory. */
static cudnnStatus_t done(CUresult result, CUstream stream)
{
    char text[64];
    if (result == CUDA_SUCCESS)
        result = driver.wait(stream);
    if (result == CUDA_SUCCESS)
        return CUDNN_STATUS_SUCCESS;
    driver.wait(stream);
    snprintf(text, sizeof text, "the driver's copy gave %d", (int)result);
    return fail(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER, text);
}

cudnnStatus_t read_device(void *host, const void *device, size_t bytes, cudaStream_t stream)
{
    if (!have_driver())
        return fail(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER, "no libcuda.so.1");
    return done(driver.to_host(host, (CUdeviceptr)device, bytes, stream), stream);
}

cudnnStatus_t write_device(void *device, const void *host, size_t bytes, cudaStream_t stream)
{
    if (!have_driver())
        return fail(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER, "no libcuda.so.1");
    return done(driver.to_device((CUdeviceptr)device, host, bytes, stream), stream);
}
