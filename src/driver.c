#include "driver.h"
#include "error.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* cuLibrary* and kernels without a context came with CUDA 12.0. */
enum { OLDEST_DRIVER = 12000 };

static const char *library = "libcuda.so.1";
static gdnn_driver driver;
static char failure[256]; /* why there is no driver; "" if there is one */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_driver(void)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(failure, sizeof failure, "no CUDA driver: %s", dlerror());
        return;
    }
    /* POSIX lets data pointers from dlsym become function pointers through memory. */
#define GDNN_CU(name, symbol, parameters)                                                          \
    {                                                                                              \
        void *address = dlsym(handle, #symbol);                                                    \
        if (!address && !*failure)                                                                 \
            snprintf(failure, sizeof failure,                                                      \
                     "the CUDA driver lacks %s: CUDA 12 or later is needed", #symbol);             \
        memcpy(&driver.name, &address, sizeof address);                                            \
    }
#include "driver_api.def"
#undef GDNN_CU
    if (*failure)
        return;

    CUresult result = driver.cuInit(0);
    if (result != CUDA_SUCCESS) {
        const char *text = NULL;
        driver.cuGetErrorString(result, &text);
        if (result == CUDA_ERROR_STUB_LIBRARY)
            text = "this libcuda.so.1 is the CUDA toolkit's stub, not a driver";
        snprintf(failure, sizeof failure, "the CUDA driver does not start: cuInit gives %d (%s)",
                 (int)result, text ? text : "unknown");
        return;
    }
    if (driver.cuDriverGetVersion(&driver.version) != CUDA_SUCCESS ||
        driver.version < OLDEST_DRIVER)
        snprintf(failure, sizeof failure,
                 "the CUDA driver is too old: it serves CUDA %d.%d, 12.0 or later is needed",
                 driver.version / 1000, driver.version % 1000 / 10);
}

const gdnn_driver *gdnn_driver_get(void)
{
    pthread_once(&once, open_driver);
    if (!*failure)
        return &driver;
    gdnn_fail(GDNN_UNSUPPORTED, "%s", failure);
    return NULL;
}

void gdnn_driver_use(const char *path)
{
    library = path;
}

gdnn_status gdnn_driver_check(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return GDNN_OK;
    const char *name = NULL, *text = NULL;
    driver.cuGetErrorName(result, &name);
    driver.cuGetErrorString(result, &text);
    return gdnn_fail(GDNN_FAILED, "%s: %s (%d): %s", call, name ? name : "unknown error",
                     (int)result, text ? text : "");
}
