#include "launcher.h"
#include "driver.h"
#include "error.h"
#include "images.h"
#include <stdio.h>
#include <string.h>

launcher_state launcher;

enum { KERNELS = 512 };
static char kernels[KERNELS][64];

static CUresult get_device(CUdevice *device)
{
    *device = 0;
    return launcher.no_context ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

static CUresult get_context(CUcontext *context)
{
    *context = launcher.no_context ? NULL : (CUcontext)1;
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, int attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
             : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 132
                                                                         : 227 * 1024;
    return CUDA_SUCCESS;
}

static CUresult get_name(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "fuzzed");
    return CUDA_SUCCESS;
}

static CUresult exchange_mode(CUstreamCaptureMode *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

static CUresult load_library(CUlibrary *library, const void *image, CUjit_option *a, void **b,
                             unsigned c, CUlibraryOption *d, void **e, unsigned f)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    *library = (CUlibrary)image;
    return CUDA_SUCCESS;
}

static CUresult get_kernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    int i = 0;
    (void)library;
    while (i < KERNELS && *kernels[i] && strcmp(kernels[i], name) != 0)
        i++;
    if (i == KERNELS || strlen(name) >= sizeof kernels[i])
        fault("no place for kernel %s", name);
    strcpy(kernels[i], name);
    *kernel = (CUkernel)kernels[i];
    return CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *function, CUkernel kernel)
{
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

static launch read_launch(const CUlaunchConfig *config, CUfunction function, void **parameters)
{
    launch l = {.kernel = (const char *)function, .stream = config->hStream};
    memcpy(&l.x, parameters[0], sizeof l.x);
    memcpy(&l.w, parameters[1], sizeof l.w);
    memcpy(&l.y, parameters[2], sizeof l.y);
    memcpy(&l.z, parameters[3], sizeof l.z);
    memcpy(&l.bias, parameters[4], sizeof l.bias);
    memcpy(&l.workspace, parameters[5], sizeof l.workspace);
    memcpy(&l.args, parameters[6], sizeof l.args);
    return l;
}

/* A second launch only finishes what the first, of backward-filter, has left in the workspace. */
static void check_finish(const launch *second, const launch *first)
{
    if (!strstr(first->kernel, "_bwd_filter_") || !strstr(second->kernel, "_finish_"))
        fault("launched %s after %s", second->kernel, first->kernel);
    if (!first->workspace || second->workspace != first->workspace || second->x != first->x ||
        second->w != first->w || second->y != first->y || second->z != first->z ||
        second->bias != first->bias || second->stream != first->stream ||
        memcmp(&second->args, &first->args, sizeof first->args) != 0)
        fault("launched %s with other arguments than %s", second->kernel, first->kernel);
}

static CUresult launch_kernel(const CUlaunchConfig *config, CUfunction function, void **parameters,
                              void **extra)
{
    if (launcher.refuses_launches)
        return CUDA_ERROR_UNKNOWN;
    if (launcher.no_context || !function || extra)
        fault("launched without a context or a kernel");
    const launch now = read_launch(config, function, parameters);
    if (launcher.launches++)
        check_finish(&now, &launcher.last);
    else
        launcher.last = now;
    return CUDA_SUCCESS;
}

const gdnn_driver *gdnn_driver_get(void)
{
    static const gdnn_driver made_up = {
        .cuCtxGetDevice = get_device,
        .cuCtxGetCurrent = get_context,
        .cuDeviceGetAttribute = get_attribute,
        .cuDeviceGetName = get_name,
        .cuThreadExchangeStreamCaptureMode = exchange_mode,
        .cuLibraryLoadData = load_library,
        .cuLibraryGetKernel = get_kernel,
        .cuKernelGetFunction = get_function,
        .cuLaunchKernelEx = launch_kernel,
        .version = 13000,
    };
    return &made_up;
}

void gdnn_driver_use(const char *path)
{
    (void)path;
}

gdnn_status gdnn_driver_check(CUresult result, const char *call)
{
    return result == CUDA_SUCCESS ? GDNN_OK : gdnn_fail(GDNN_FAILED, "%s: %d", call, (int)result);
}

const void *gdnn_image(int index, size_t *size, const char **file)
{
    static const char image[GDNN_IMAGES][16];
    *size = sizeof image[0];
    *file = "made up";
    return image[index];
}
