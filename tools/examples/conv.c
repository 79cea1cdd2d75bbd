/* A depthwise convolution through cuDNN, as a plain C program does it: it knows nothing of groupdnn.
 *
 *     cc conv.c -o conv -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -L/usr/local/cuda/lib64/stubs -lcudnn -lcuda
 *     ./conv                                          # cuDNN runs it
 *     groupdnn run --mode force --stats -- ./conv     # groupdnn runs it: the same sum, and a line that says so
 *
 * x and w hold small whole numbers, so the sum of y is exact, whoever computes it. */
#include <cuda.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

/* Every call may fail, and a program that does not look never knows. */
#define CU(call)                                                                                   \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS)                                                               \
            fail(#call, "CUDA error", (int)result_);                                               \
    } while (0)
#define DNN(call)                                                                                  \
    do {                                                                                           \
        cudnnStatus_t status_ = (call);                                                            \
        if (status_ != CUDNN_STATUS_SUCCESS)                                                       \
            fail(#call, cudnnGetErrorString(status_), (int)status_);                               \
    } while (0)

static void fail(const char *call, const char *what, int number)
{
    fprintf(stderr, "%s: %s (%d)\n", call, what, number);
    exit(1);
}

/* 8 images of 32 channels; each channel is its own group, with a 3x3 filter of its own. */
enum { N = 8, C = 32, H = 14, W = 14, FILTER = 3, GROUPS = C };
enum { X_SIZE = N * C * H * W, W_SIZE = C * FILTER * FILTER, Y_SIZE = X_SIZE };

/* Device memory with `count` whole numbers from -2 to 1. */
static CUdeviceptr filled(size_t count, unsigned seed, CUstream stream)
{
    CUdeviceptr memory;
    float *values = malloc(count * sizeof *values);
    if (!values)
        fail("malloc", "out of memory", 0);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((seed = seed * 1103515245u + 12345u) >> 16 & 3) - 2;
    CU(cuMemAlloc(&memory, count * sizeof *values));
    CU(cuMemcpyHtoDAsync(memory, values, count * sizeof *values, stream));
    CU(cuStreamSynchronize(stream));
    free(values);
    return memory;
}

static float y[Y_SIZE];

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxPushCurrent(context));
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    cudnnHandle_t cudnn;
    DNN(cudnnCreate(&cudnn));
    DNN(cudnnSetStream(cudnn, stream));

    cudnnTensorDescriptor_t x_desc, y_desc;
    cudnnFilterDescriptor_t w_desc;
    cudnnConvolutionDescriptor_t conv_desc;
    DNN(cudnnCreateTensorDescriptor(&x_desc));
    DNN(cudnnCreateTensorDescriptor(&y_desc));
    DNN(cudnnCreateFilterDescriptor(&w_desc));
    DNN(cudnnCreateConvolutionDescriptor(&conv_desc));
    DNN(cudnnSetTensor4dDescriptor(x_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, H, W));
    DNN(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, H, W));
    /* A filter sees the input channels of its group only: C / GROUPS of them. */
    DNN(cudnnSetFilter4dDescriptor(w_desc, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, C, C / GROUPS,
                                   FILTER, FILTER));
    DNN(cudnnSetConvolution2dDescriptor(conv_desc, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_FLOAT));
    DNN(cudnnSetConvolutionGroupCount(conv_desc, GROUPS));

    /* IMPLICIT_GEMM runs everything. */
    cudnnConvolutionFwdAlgo_t algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    size_t bytes;
    DNN(cudnnGetConvolutionForwardWorkspaceSize(cudnn, x_desc, w_desc, conv_desc, y_desc, algo,
                                                &bytes));
    CUdeviceptr workspace = 0, x = filled(X_SIZE, 1, stream), w = filled(W_SIZE, 2, stream),
                result = filled(Y_SIZE, 3, stream);
    if (bytes)
        CU(cuMemAlloc(&workspace, bytes));

    const float one = 1, zero = 0;
    DNN(cudnnConvolutionForward(cudnn, &one, x_desc, (void *)x, w_desc, (void *)w, conv_desc, algo,
                                (void *)workspace, bytes, &zero, y_desc, (void *)result));
    CU(cuMemcpyDtoHAsync(y, result, sizeof y, stream));
    CU(cuStreamSynchronize(stream));

    double sum = 0, weighted = 0;
    for (int i = 0; i < Y_SIZE; i++) {
        sum += y[i];
        weighted += y[i] * (i % 1009);
    }
    printf("cuDNN %zu: sum of y %.0f, weighted %.0f\n", cudnnGetVersion(), sum, weighted);

    CU(cuMemFree(x));
    CU(cuMemFree(w));
    CU(cuMemFree(result));
    if (workspace)
        CU(cuMemFree(workspace));
    DNN(cudnnDestroyConvolutionDescriptor(conv_desc));
    DNN(cudnnDestroyFilterDescriptor(w_desc));
    DNN(cudnnDestroyTensorDescriptor(y_desc));
    DNN(cudnnDestroyTensorDescriptor(x_desc));
    DNN(cudnnDestroy(cudnn));
    CU(cuStreamDestroy(stream));
    CU(cuDevicePrimaryCtxRelease(device));
    return 0;
}
