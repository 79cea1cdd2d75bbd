/* cuDNN from many threads at once: the first call of every function that is used, new problems and
 * known ones. Built with ThreadSanitizer the drop-in's own sources are in this program; without, it
 * is linked with cuDNN. Arguments: the driver, and `race` to have one that must be reported. */
#include "cuda_types.h"
#include "cudnn_client.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef THREADS
#define THREADS 32
#endif

enum { ROUNDS = 6, IMAGES = 5, C = 8, SIDE = 5 };

static pthread_barrier_t together;
static CUresult (*allocate)(CUdeviceptr *, size_t);
static CUresult (*use_context)(CUcontext);
static CUcontext context;
static int races, unguarded;

static void check(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "threads: %s gave %d\n", what, status);
    exit(3);
}
#define CHECK(call) check((int)(call), #call)

static void *look_up(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "threads: the driver has no %s\n", name);
        exit(3);
    }
    return symbol;
}

static void open_driver(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "threads: %s\n", dlerror());
        exit(3);
    }
    CUresult (*init)(unsigned) = (CUresult(*)(unsigned))look_up(library, "cuInit");
    CUresult (*retain)(CUcontext *, CUdevice) =
        (CUresult(*)(CUcontext *, CUdevice))look_up(library, "cuDevicePrimaryCtxRetain");
    use_context = (CUresult(*)(CUcontext))look_up(library, "cuCtxPushCurrent_v2");
    allocate = (CUresult(*)(CUdeviceptr *, size_t))look_up(library, "cuMemAlloc_v2");
    CHECK(init(0));
    CHECK(retain(&context, 0));
}

static void *memory(void)
{
    CUdeviceptr pointer;
    CHECK(allocate(&pointer, (size_t)IMAGES * C * SIDE * SIDE * sizeof(float)));
    return (void *)pointer;
}

typedef struct call {
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    void *x_data, *w_data, *y_data;
} call;

static void describe(call *c, int n, int groups)
{
    CHECK(cudnnSetTensor4dDescriptor(c->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, C, SIDE, SIDE));
    CHECK(cudnnSetTensor4dDescriptor(c->y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, C, SIDE, SIDE));
    CHECK(
        cudnnSetFilter4dDescriptor(c->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, C, C / groups, 3, 3));
    CHECK(cudnnSetConvolution2dDescriptor(c->conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                          CUDNN_DATA_FLOAT));
    CHECK(cudnnSetConvolutionGroupCount(c->conv, groups));
    CHECK(cudnnSetConvolutionMathType(c->conv, CUDNN_FMA_MATH));
}

static void convolve(const call *c)
{
    const float one = 1, zero = 0;
    CHECK(cudnnConvolutionForward(c->handle, &one, c->x, c->x_data, c->w, c->w_data, c->conv, 0,
                                  NULL, 0, &zero, c->y, c->y_data));
    CHECK(cudnnConvolutionBackwardData(c->handle, &one, c->w, c->w_data, c->y, c->y_data, c->conv,
                                       0, NULL, 0, &zero, c->x, c->x_data));
    CHECK(cudnnConvolutionBackwardFilter(c->handle, &one, c->x, c->x_data, c->y, c->y_data, c->conv,
                                         0, NULL, 0, &zero, c->w, c->w_data));
}

static void *work(void *number)
{
    int self = *(int *)number;
    call c;
    CHECK(use_context(context));
    pthread_barrier_wait(&together);
    if (races)
        unguarded++;
    if (cudnnGetVersion() / 10000 != 9 || !cudnnGetErrorString(CUDNN_STATUS_SUCCESS))
        exit(3);
    CHECK(cudnnCreate(&c.handle));
    CHECK(cudnnCreateTensorDescriptor(&c.x));
    CHECK(cudnnCreateTensorDescriptor(&c.y));
    CHECK(cudnnCreateFilterDescriptor(&c.w));
    CHECK(cudnnCreateConvolutionDescriptor(&c.conv));
    c.x_data = memory();
    c.w_data = memory();
    c.y_data = memory();
    for (int round = 0; round < ROUNDS; round++) {
        /* One problem that all meet at once, and others that a few share. */
        describe(&c, round ? 1 + (self + round) % IMAGES : 1, round % 3 == 2 ? 1 : C >> round % 3);
        convolve(&c);
    }
    CHECK(cudnnDestroyConvolutionDescriptor(c.conv));
    CHECK(cudnnDestroyFilterDescriptor(c.w));
    CHECK(cudnnDestroyTensorDescriptor(c.y));
    CHECK(cudnnDestroyTensorDescriptor(c.x));
    CHECK(cudnnDestroy(c.handle));
    return NULL;
}

int main(int argc, char **argv)
{
    static pthread_t threads[THREADS];
    static int numbers[THREADS];
    if (argc < 2)
        return 2;
    races = argc > 2 && !strcmp(argv[2], "race");
    open_driver(argv[1]);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]))
            return 3;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
