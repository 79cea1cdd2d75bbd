#include "cudart.h"
#include "cuda_types.h"
#include <dlfcn.h>
#include <stdlib.h>

typedef int cudaError; /* numbers are the driver's */

#define EXPORT __attribute__((visibility("default")))

/* Calls the driver's function; CUDA_ERROR_NOT_INITIALIZED where there is no driver. */
#define DRIVER(symbol, parameters, ...)                                                            \
    do {                                                                                           \
        CUresult(*function) parameters = (CUresult(*) parameters)look_up(#symbol);                 \
        return function ? (cudaError)function(__VA_ARGS__)                                         \
                        : (cudaError)CUDA_ERROR_NOT_INITIALIZED;                                   \
    } while (0)

static void (*look_up(const char *symbol))(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? (void (*)(void))dlsym(library, symbol) : NULL;
}

EXPORT const char *cudart_path(void)
{
    Dl_info info;
    return dladdr((void *)(size_t)cudart_path, &info) ? info.dli_fname : NULL;
}

/* By it cudnn-frontend chooses between the prototypes of cudaStreamGetCaptureInfo. */
EXPORT cudaError cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

EXPORT const char *cudaGetErrorString(cudaError error)
{
    return error ? "the driver's error of this number" : "no error";
}

EXPORT cudaError cudaGetLastError(void)
{
    return 0;
}

EXPORT cudaError cudaGetDevice(int *device)
{
    DRIVER(cuCtxGetDevice, (CUdevice *), device);
}

EXPORT cudaError cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    DRIVER(cuDeviceGetAttribute, (int *, int, CUdevice), value, attribute, device);
}

EXPORT cudaError cudaDeviceSynchronize(void)
{
    DRIVER(cuCtxSynchronize, (void));
}

EXPORT cudaError cudaEventCreate(CUevent *event)
{
    DRIVER(cuEventCreate, (CUevent *, unsigned), event, 0);
}

EXPORT cudaError cudaEventRecord(CUevent event, CUstream stream)
{
    DRIVER(cuEventRecord, (CUevent, CUstream), event, stream);
}

/* Waits for more than the event. */
EXPORT cudaError cudaEventSynchronize(CUevent event)
{
    (void)event;
    return cudaDeviceSynchronize();
}

EXPORT cudaError cudaEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
    DRIVER(cuEventElapsedTime, (float *, CUevent, CUevent), milliseconds, from, to);
}

EXPORT cudaError cudaEventDestroy(CUevent event)
{
    DRIVER(cuEventDestroy_v2, (CUevent), event);
}

/* Says whether the stream captures, but not into which graph: cudnn-frontend then keeps no plan alive for it. */
EXPORT cudaError cudaStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
                                          unsigned long long *id, void **graph,
                                          const void **dependencies, const void **edges,
                                          size_t *count)
{
    (void)id, (void)dependencies, (void)edges, (void)count;
    if (graph)
        *graph = NULL;
    DRIVER(cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *), stream, status);
}
