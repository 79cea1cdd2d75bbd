#include "launch.h"
#include "args.h"
#include "driver.h"
#include "error.h"
#include "images.h"
#include "turn.h"
#include <pthread.h>
#include <stdbool.h>

/* What is loaded, under the lock. Kernels (CUkernel) belong to a library, not to a context, so one
 * serves them all. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUlibrary libraries[GDNN_IMAGES];
/* How an image was found not to suit: no use in trying again. */
static CUresult refused[GDNN_IMAGES];

/* A child forked while another thread loads must not wait for it. */
static void forget_lock(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_lock);
}

/* Results that say that our image does not suit this GPU or driver, rather than that something
 * broke. */
static bool means_no_image(CUresult result)
{
    return result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
           result == CUDA_ERROR_INVALID_IMAGE;
}

static gdnn_status refuse(CUresult result, const char *call, const char *file)
{
    if (!means_no_image(result))
        return gdnn_driver_check(result, call);
    return gdnn_fail(
        GDNN_UNSUPPORTED,
        "%s: the kernels of %s were not built for this GPU and driver (CUDA error %d): build with "
        "-Dgpu_archs naming its compute capability",
        call, file, (int)result);
}

static gdnn_status open_library(const gdnn_driver *cu, int image, const char **file)
{
    size_t size;
    const void *bytes = gdnn_image(image, &size, file);
    if (refused[image] != CUDA_SUCCESS)
        return refuse(refused[image], "cuLibraryLoadData", *file);
    if (!libraries[image]) {
        CUresult result =
            cu->cuLibraryLoadData(&libraries[image], bytes, NULL, NULL, 0, NULL, NULL, 0);
        if (result != CUDA_SUCCESS) {
            libraries[image] = NULL;
            if (means_no_image(result))
                refused[image] = result;
            return refuse(result, "cuLibraryLoadData", *file);
        }
    }
    return GDNN_OK;
}

/* Loads one instance of the open library `image`. */
static gdnn_status load_instance(const gdnn_driver *cu, int image, const char *symbol,
                                 int64_t shared, const char *file, CUfunction *function)
{
    CUkernel kernel;
    CUfunction in_context;
    CUresult result = cu->cuLibraryGetKernel(&kernel, libraries[image], symbol);
    if (result != CUDA_SUCCESS)
        return refuse(result, "cuLibraryGetKernel", file);
    /* Drivers load lazily: asking for the function brings the code into this context now, not at
     * the first launch, which may be captured. */
    result = cu->cuKernelGetFunction(&in_context, kernel);
    if (result != CUDA_SUCCESS)
        return refuse(result, "cuKernelGetFunction", file);
    if (shared > 48 * 1024) {
        CUdevice device;
        result = cu->cuCtxGetDevice(&device);
        if (result != CUDA_SUCCESS)
            return gdnn_driver_check(result, "cuCtxGetDevice");
        result = cu->cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          (int)shared, kernel, device);
        if (result != CUDA_SUCCESS)
            return gdnn_driver_check(result, "cuKernelSetAttribute");
    }
    *function = (CUfunction)kernel;
    return GDNN_OK;
}

static gdnn_status load(const gdnn_driver *cu, const gdnn_launch_shape *shape,
                        gdnn_functions *functions)
{
    char symbol[128];
    const char *file;
    int image = shape->kernel->image;
    gdnn_status status = open_library(cu, image, &file);
    if (status != GDNN_OK)
        return status;
    gdnn_kernel_symbol(shape->kernel, shape->variant, shape->dtype, shape->plain, symbol,
                       sizeof symbol);
    status = load_instance(cu, image, symbol, shape->shared, file, &functions->kernel);
    functions->finish = NULL;
    if (status != GDNN_OK || !shape->finish_blocks)
        return status;
    gdnn_kernel_finish_symbol(shape->kernel, shape->variant, shape->dtype, symbol, sizeof symbol);
    return load_instance(cu, image, symbol, 0, file, &functions->finish);
}

gdnn_status gdnn_load(const gdnn_launch_shape *shape, gdnn_functions *functions,
                      gdnn_reason *reason)
{
    const gdnn_driver *cu = gdnn_driver_get();
    *reason = GDNN_REASON_NO_DRIVER;
    if (!cu)
        return GDNN_UNSUPPORTED;

    CUcontext context = NULL;
    CUresult result = cu->cuCtxGetCurrent(&context);
    *reason = GDNN_REASON_NO_CONTEXT;
    if (result != CUDA_SUCCESS)
        return gdnn_driver_check(result, "cuCtxGetCurrent");
    if (!context)
        return gdnn_fail(GDNN_UNSUPPORTED,
                         "this thread has no current CUDA context: make one current first "
                         "(cudaSetDevice, or cuCtxSetCurrent)");

    /* While a stream of this thread is captured, loading is legal only in relaxed mode. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    *reason = GDNN_REASON_NO_IMAGE;
    result = cu->cuThreadExchangeStreamCaptureMode(&mode);
    if (result != CUDA_SUCCESS)
        return gdnn_driver_check(result, "cuThreadExchangeStreamCaptureMode");
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    gdnn_status status = load(cu, shape, functions);
    pthread_mutex_unlock(&lock);
    cu->cuThreadExchangeStreamCaptureMode(&mode);
    if (status == GDNN_OK)
        *reason = GDNN_REASON_TAKEN;
    return status;
}

void gdnn_launch_args(const gdnn_launch_shape *shape, const gdnn_conv *conv, gdnn_args *args)
{
    gdnn_conv turned;
    bool turns = shape->kernel->turned && gdnn_turn(conv, &turned);
    gdnn_args_fill(args, turns ? &turned : conv);
    args->tiling = shape->tiling;
}

static gdnn_status launch(CUfunction function, int64_t blocks, int threads, int64_t shared,
                          void **parameters, CUstream stream)
{
    CUlaunchConfig config = {.gridDimX = (unsigned)blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = (unsigned)threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = (unsigned)shared,
                             .hStream = stream};
    const gdnn_driver *cu = gdnn_driver_get();
    if (!cu)
        return GDNN_UNSUPPORTED;
    return gdnn_driver_check(cu->cuLaunchKernelEx(&config, function, parameters, NULL),
                             "cuLaunchKernelEx");
}

gdnn_status gdnn_launch(const gdnn_launch_shape *shape, const gdnn_functions *functions,
                        const gdnn_args *args, const gdnn_tensors *tensors, void *workspace,
                        CUstream stream)
{
    gdnn_tensors t = *tensors;
    if (!args->has_z) /* it may be stale */
        t.z = NULL;
    if (!args->has_bias)
        t.bias = NULL;
    if (!shape->workspace)
        workspace = NULL;
    if (shape->kernel->turned) { /* its forward convolution reads dy and writes dx */
        t.x = tensors->y;
        t.y = tensors->x;
    }
    /* the driver copies parameters and writes none */
    void *parameters[] = {&t.x, &t.w, &t.y, &t.z, &t.bias, &workspace, (void *)args};
    gdnn_status status =
        launch(functions->kernel, shape->blocks, shape->threads, shape->shared, parameters, stream);
    if (status == GDNN_OK && functions->finish)
        status = launch(functions->finish, shape->finish_blocks, shape->finish_threads, 0,
                        parameters, stream);
    return status;
}
