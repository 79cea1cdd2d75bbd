/* Calls that convolve with one thing wrong at a time. */
#include "calls.h"
#include "device.h"
#include "execution.h"
#include <stddef.h>

static const problem base = {.arithmetic = CUDNN_DATA_FLOAT,
                             .math = CUDNN_FMA_MATH,
                             .axes = 2,
                             .n = 2,
                             .c = 8,
                             .k = 8,
                             .groups = 2,
                             .in = {6, 5},
                             .filter = {3, 3},
                             .pad = {1, 1},
                             .stride = {1, 1},
                             .dilation = {1, 1},
                             .mode = CUDNN_CROSS_CORRELATION,
                             .alpha = 1,
                             .activation = CUDNN_ACTIVATION_RELU};

static cudnnHandle_t handle;

static void run(execution *e, const char *what, const arguments *a)
{
    execution_run(e, what, a, NULL);
}

/* All pointers of `arguments`, by name. */
static const struct {
    const char *what;
    size_t offset;
    int fused; /* 1: only of the fused call; -1: of the others */
} pointers[] = {
    {"handle NULL", offsetof(arguments, handle), 0},
    {"x NULL", offsetof(arguments, x), 0},
    {"w NULL", offsetof(arguments, w), 0},
    {"y NULL", offsetof(arguments, y), 0},
    {"convolution NULL", offsetof(arguments, conv), 0},
    {"memory of x NULL", offsetof(arguments, x_data), 0},
    {"memory of w NULL", offsetof(arguments, w_data), 0},
    {"memory of y NULL", offsetof(arguments, y_data), 0},
    {"alpha NULL", offsetof(arguments, alpha), 0},
    {"beta NULL", offsetof(arguments, beta), -1},
    {"alpha2 NULL", offsetof(arguments, alpha2), 1},
    {"z NULL", offsetof(arguments, z), 1},
    {"memory of z NULL", offsetof(arguments, z_data), 1},
    {"bias NULL", offsetof(arguments, bias), 1},
    {"memory of bias NULL", offsetof(arguments, bias_data), 1},
    {"activation NULL", offsetof(arguments, activation), 1},
};

static void call_nulls(execution *e)
{
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        arguments a = e->a;
        if (pointers[i].fused == (e->p.fused ? -1 : 1))
            continue;
        *(void **)((char *)&a + pointers[i].offset) = NULL;
        run(e, pointers[i].what, &a);
    }
}

static void call_workspaces(problem p)
{
    /* Algorithm 1 needs a workspace in every direction; so does 2 forward. */
    for (p.algo = 0; p.algo <= 2; p.algo++) {
        execution e;
        execution_make(&e, &p, handle);
        const size_t needed = e.a.workspace_bytes;
        void *large = device_new(needed + 100000);
        arguments a = e.a;
        a.workspace = NULL;
        a.workspace_bytes = 0;
        run(&e, "no workspace", &a);
        a.workspace = large;
        run(&e, "workspace of 0 bytes", &a);
        a.workspace_bytes = needed ? needed - 1 : 0;
        run(&e, "workspace too small by 1", &a);
        a.workspace_bytes = needed;
        a.workspace = NULL;
        run(&e, "workspace NULL", &a);
        a.workspace = large;
        a.workspace_bytes = needed + 100000;
        run(&e, "workspace larger", &a);
        device_free(large);
        execution_free(&e);
    }
}

/* Sets a tensor to other sizes or type for the time of one call. */
static void with_tensor(execution *e, const char *what, cudnnTensorDescriptor_t *which, int type,
                        int axes, const int *size)
{
    cudnnTensorDescriptor_t other, kept = *which;
    cudnnCreateTensorDescriptor(&other);
    if (axes)
        cudnnSetTensorNdDescriptorEx(other, CUDNN_TENSOR_NCHW, (cudnnDataType_t)type, axes, size);
    *which = other;
    run(e, what, &e->a);
    *which = kept;
    cudnnDestroyTensorDescriptor(other);
}

static void with_filter(execution *e, const char *what, int type, int format, int axes,
                        const int *size)
{
    cudnnFilterDescriptor_t other, kept = e->a.w;
    cudnnCreateFilterDescriptor(&other);
    if (axes)
        cudnnSetFilterNdDescriptor(other, (cudnnDataType_t)type, (cudnnTensorFormat_t)format, axes,
                                   size);
    e->a.w = other;
    run(e, what, &e->a);
    e->a.w = kept;
    cudnnDestroyFilterDescriptor(other);
}

static void with_convolution(execution *e, const char *what, int axes, int pad, int type)
{
    static const int one[6] = {1, 1, 1, 1, 1, 1};
    const int pads[6] = {pad, pad, pad, pad, pad, pad};
    cudnnConvolutionDescriptor_t other, kept = e->a.conv;
    cudnnCreateConvolutionDescriptor(&other);
    if (axes >= 0)
        cudnnSetConvolutionNdDescriptor(other, axes, pads, one, one, CUDNN_CROSS_CORRELATION,
                                        (cudnnDataType_t)type);
    cudnnSetConvolutionGroupCount(other, 2);
    e->a.conv = other;
    run(e, what, &e->a);
    e->a.conv = kept;
    cudnnDestroyConvolutionDescriptor(other);
}

static void call_tensors_wrong(execution *e)
{
    arguments *a = &e->a;
    with_tensor(e, "x never set", &a->x, 0, 0, NULL);
    with_tensor(e, "y never set", &a->y, 0, 0, NULL);
    with_tensor(e, "x of half", &a->x, CUDNN_DATA_HALF, 4, (int[]){2, 8, 6, 5});
    with_tensor(e, "x of double", &a->x, CUDNN_DATA_DOUBLE, 4, (int[]){2, 8, 6, 5});
    with_tensor(e, "y of half", &a->y, CUDNN_DATA_HALF, 4, (int[]){2, 8, 6, 5});
    with_tensor(e, "y of bytes", &a->y, CUDNN_DATA_INT8, 4, (int[]){2, 8, 6, 5});
    with_tensor(e, "y too small", &a->y, 0, 4, (int[]){2, 8, 5, 5});
    with_tensor(e, "y too large", &a->y, 0, 4, (int[]){2, 8, 6, 6});
    with_tensor(e, "y with another N", &a->y, 0, 4, (int[]){1, 8, 6, 5});
    with_tensor(e, "y with another K", &a->y, 0, 4, (int[]){2, 4, 6, 5});
    with_tensor(e, "x with another N", &a->x, 0, 4, (int[]){3, 8, 6, 5});
    with_tensor(e, "x with another C", &a->x, 0, 4, (int[]){2, 6, 6, 5});
    with_tensor(e, "x of 3 axes", &a->x, 0, 3, (int[]){2, 8, 30});
    with_tensor(e, "x of 5 axes", &a->x, 0, 5, (int[]){2, 8, 6, 5, 1});
    with_tensor(e, "y of 5 axes", &a->y, 0, 5, (int[]){2, 8, 6, 5, 1});
    cudnnSetTensor4dDescriptorEx(a->x, CUDNN_DATA_FLOAT, 2, 8, 6, 5, 1, 1, 1, 1);
    run(e, "x overlaps itself", a);
    cudnnSetTensor4dDescriptorEx(a->x, CUDNN_DATA_FLOAT, 2, 8, 6, 5, 240, 30, -5, 1);
    run(e, "x with a negative stride", a);
    cudnnSetTensor4dDescriptor(a->x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 6, 5);
    cudnnSetTensor4dDescriptorEx(a->y, CUDNN_DATA_FLOAT, 2, 8, 6, 5, 8, 1, 8, 8);
    run(e, "y overlaps itself", a);
    cudnnSetTensor4dDescriptor(a->y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 6, 5);
    run(e, "all set again", a);
}

static void call_rest_wrong(execution *e)
{
    with_filter(e, "w never set", 0, 0, 0, NULL);
    with_filter(e, "w of half", CUDNN_DATA_HALF, 0, 4, (int[]){8, 4, 3, 3});
    with_filter(e, "K no multiple of the groups", 0, 0, 4, (int[]){7, 4, 3, 3});
    with_filter(e, "C no multiple of w's", 0, 0, 4, (int[]){8, 3, 3, 3});
    with_filter(e, "w with more channels than x", 0, 0, 4, (int[]){8, 16, 3, 3});
    with_filter(e, "another filter size", 0, 0, 4, (int[]){8, 4, 3, 5});
    with_filter(e, "w of 3 axes", 0, 0, 3, (int[]){8, 4, 9});
    with_filter(e, "w of 5 axes", 0, 0, 5, (int[]){8, 4, 3, 3, 1});
    with_filter(e, "w of vectors", CUDNN_DATA_INT8x4, CUDNN_TENSOR_NCHW_VECT_C, 4,
                (int[]){8, 4, 3, 3});
    with_convolution(e, "never set", -1, 0, 0);
    with_convolution(e, "no axes", 0, 0, 0);
    with_convolution(e, "one axis", 1, 1, 0);
    with_convolution(e, "3 axes", 3, 1, 0);
    with_convolution(e, "pads that give another size", 2, 2, 0);
    with_convolution(e, "double arithmetic", 2, 1, CUDNN_DATA_DOUBLE);
    with_convolution(e, "integer arithmetic", 2, 1, CUDNN_DATA_INT32);
    arguments a = e->a;
    a.algo = 2147483647;
    run(e, "no such algorithm", &a);
    a.algo = -2147483647;
    run(e, "no such algorithm", &a);
}

static void call_fused_wrong(execution *e)
{
    arguments *a = &e->a;
    cudnnActivationDescriptor_t unset, kept = a->activation;
    with_tensor(e, "z never set", &a->z, 0, 0, NULL);
    with_tensor(e, "z of half", &a->z, CUDNN_DATA_HALF, 4, (int[]){2, 8, 6, 5});
    with_tensor(e, "z of other sizes", &a->z, 0, 4, (int[]){2, 8, 5, 6});
    with_tensor(e, "z of 5 axes", &a->z, 0, 5, (int[]){2, 8, 6, 5, 1});
    with_tensor(e, "bias never set", &a->bias, 0, 0, NULL);
    with_tensor(e, "bias of half", &a->bias, CUDNN_DATA_HALF, 4, (int[]){1, 8, 1, 1});
    with_tensor(e, "bias of another K", &a->bias, 0, 4, (int[]){1, 4, 1, 1});
    with_tensor(e, "bias of every image", &a->bias, 0, 4, (int[]){2, 8, 1, 1});
    with_tensor(e, "bias of every place", &a->bias, 0, 4, (int[]){1, 8, 6, 5});
    with_tensor(e, "bias of 3 axes", &a->bias, 0, 3, (int[]){1, 8, 1});
    cudnnCreateActivationDescriptor(&unset);
    cudnnSetActivationDescriptor(unset, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0);
    a->activation = unset;
    run(e, "activation that lets NaN through", a);
    a->activation = kept;
    cudnnDestroyActivationDescriptor(unset);
}

/* Types and shapes for which there is no calculation here: whatever they come to, no result is
 * looked at. */
static void call_bytes(void)
{
    problem p = base;
    execution e;
    execution_make(&e, &p, handle);
    arguments *a = &e.a;
    static const int formats[] = {CUDNN_TENSOR_NHWC, CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NCHW_VECT_C};
    for (int i = 0; i < 3; i++) {
        const cudnnDataType_t type = i == 2 ? CUDNN_DATA_INT8x4 : CUDNN_DATA_INT8;
        const cudnnTensorFormat_t format = (cudnnTensorFormat_t)formats[i];
        cudnnSetTensor4dDescriptor(a->x, format, type, 2, 8, 6, 5);
        cudnnSetTensor4dDescriptor(a->y, format, type, 2, 8, 6, 5);
        cudnnSetFilter4dDescriptor(a->w, type, format, 8, 4, 3, 3);
        cudnnSetConvolution2dDescriptor(a->conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_INT32);
        execution_call(&e, i == 2 ? "vectors of bytes" : "bytes", a);
    }
    execution_free(&e);
}

void call_wrong(void)
{
    cudnnCreate(&handle);
    for (int which = 0; which < 4; which++) {
        problem p = base;
        execution e;
        p.dir = which < 3 ? (direction)which : FORWARD;
        p.fused = which == 3;
        execution_make(&e, &p, handle);
        call_nulls(&e);
        call_tensors_wrong(&e);
        call_rest_wrong(&e);
        if (p.fused)
            call_fused_wrong(&e);
        execution_free(&e);
        call_workspaces(p);
    }
    call_bytes();
    cudnnDestroy(handle);
}
