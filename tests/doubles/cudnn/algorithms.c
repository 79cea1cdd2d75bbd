/* Algorithms: which can run a problem, and with how much workspace. The numbers are made up, so
 * that some need none, some a little and some much; which algorithms run with several groups is
 * as in NVIDIA's. */
#include "call.h"
#include "problem.h"
#include <string.h>

typedef enum need {
    NOTHING,
    INDICES, /* 8 bytes for each tap of each channel of a group */
    COLUMNS, /* the input of every output of an image; two spatial axes only */
    PARTS,   /* eight partial sums of dw */
    PLANES,  /* transformed tensors; one group, two spatial axes, no strides or dilations */
    NEVER    /* no problem of these kinds */
} need;

typedef struct algorithm {
    int number;
    need need;
    cudnnDeterminism_t determinism;
} algorithm;

/* In the order in which they are recommended. */
static const algorithm forward[] = {
    {1, INDICES, CUDNN_DETERMINISTIC}, {0, NOTHING, CUDNN_DETERMINISTIC},
    {2, COLUMNS, CUDNN_DETERMINISTIC}, {3, NEVER, CUDNN_DETERMINISTIC},
    {5, PLANES, CUDNN_DETERMINISTIC},  {4, PLANES, CUDNN_DETERMINISTIC},
    {7, PLANES, CUDNN_DETERMINISTIC},  {6, PLANES, CUDNN_DETERMINISTIC}};
static const algorithm backward_data[] = {
    {0, NOTHING, CUDNN_NON_DETERMINISTIC}, {1, INDICES, CUDNN_DETERMINISTIC},
    {3, PLANES, CUDNN_DETERMINISTIC},      {2, PLANES, CUDNN_DETERMINISTIC},
    {5, PLANES, CUDNN_DETERMINISTIC},      {4, PLANES, CUDNN_DETERMINISTIC}};
static const algorithm backward_filter[] = {
    {1, PARTS, CUDNN_DETERMINISTIC},     {0, NOTHING, CUDNN_NON_DETERMINISTIC},
    {3, PARTS, CUDNN_NON_DETERMINISTIC}, {6, PLANES, CUDNN_DETERMINISTIC},
    {4, NEVER, CUDNN_DETERMINISTIC},     {2, PLANES, CUDNN_DETERMINISTIC},
    {5, PLANES, CUDNN_DETERMINISTIC}};

static int algorithms_of(gdnn_dir dir, const algorithm **list)
{
    switch (dir) {
    case GDNN_FWD: *list = forward; return sizeof forward / sizeof forward[0];
    case GDNN_BWD_DATA: *list = backward_data; return sizeof backward_data / sizeof forward[0];
    case GDNN_BWD_FILTER: break;
    }
    *list = backward_filter;
    return sizeof backward_filter / sizeof forward[0];
}

static int unstepped(const gdnn_conv *conv)
{
    for (int i = 0; i < conv->spatial; i++)
        if (conv->stride[i] != 1 || conv->dilation[i] != 1)
            return 0;
    return 1;
}

static int bytes_for(const gdnn_conv *conv, need need, size_t *bytes)
{
    const int64_t taps = gdnn_taps(conv) * gdnn_cpg(conv);
    int64_t needed = 0;
    switch (need) {
    case NOTHING: break;
    case INDICES: needed = 8 * taps; break;
    case COLUMNS:
        if (conv->spatial != 2)
            return 0;
        needed = 4 * taps * conv->groups * gdnn_out_size(conv, 0) * gdnn_out_size(conv, 1);
        break;
    case PARTS: needed = 8 * 4 * gdnn_elements(conv, GDNN_ROLE_W); break;
    case PLANES:
        if (conv->groups != 1 || conv->spatial != 2 || !unstepped(conv))
            return 0;
        needed = 8 * (gdnn_elements(conv, GDNN_ROLE_X) + gdnn_elements(conv, GDNN_ROLE_Y));
        break;
    case NEVER: return 0;
    }
    *bytes = (size_t)needed;
    return 1;
}

cudnnStatus_t workspace_of(const gdnn_conv *conv, int algo, size_t *bytes)
{
    const algorithm *list;
    const int count = algorithms_of(conv->dir, &list);
    for (int i = 0; i < count; i++)
        if (list[i].number == algo && bytes_for(conv, list[i].need, bytes))
            return CUDNN_STATUS_SUCCESS;
    return fail(CUDNN_STATUS_NOT_SUPPORTED, "");
}

static cudnnStatus_t workspace_size(const convolution_call *call, size_t *bytes)
{
    gdnn_conv conv;
    if (!bytes)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    const cudnnStatus_t status = read_problem(call, &conv);
    return status == CUDNN_STATUS_SUCCESS ? workspace_of(&conv, call->algo, bytes) : status;
}

/* `measured`: with times, as if every algorithm had been tried; the results of a trial are not
 * written. */
static cudnnStatus_t rank(const convolution_call *call, int measured, int requested, int *returned,
                          cudnnConvolutionFwdAlgoPerf_t *results)
{
    const algorithm *list;
    const int count = algorithms_of(call->dir, &list);
    gdnn_conv conv;
    cudnnMathType_t math;
    cudnnStatus_t status;

    if (!results)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    if ((status = read_problem(call, &conv)) != CUDNN_STATUS_SUCCESS ||
        (status = cudnnGetConvolutionMathType(call->conv, &math)) != CUDNN_STATUS_SUCCESS)
        return status;
    if (requested < 0 || requested > count)
        requested = count;
    /* Those that can run come first. */
    int filled = 0;
    for (int runs = 1; runs >= 0; runs--)
        for (int i = 0; i < count; i++) {
            size_t bytes = 0;
            if (bytes_for(&conv, list[i].need, &bytes) != runs || filled == requested)
                continue;
            results[filled] = (cudnnConvolutionFwdAlgoPerf_t){
                .algo = list[i].number,
                .status = runs ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED,
                .time = measured && runs ? 0.125f * (float)(filled + 1) : -1,
                .memory = bytes,
                .determinism = list[i].determinism,
                .mathType = math};
            filled++;
        }
    if (returned)
        *returned = filled;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t max_count(cudnnHandle_t handle, gdnn_dir dir, int *count)
{
    const algorithm *list;
    REFUSE_IF(!handle);
    if (!count)
        return fail(CUDNN_STATUS_BAD_PARAM, "");
    *count = algorithms_of(dir, &list);
    return CUDNN_STATUS_SUCCESS;
}

/* What the functions of a direction have in common but for the order of x, w and y. */
#define PERF(direction) cudnnConvolution##direction##AlgoPerf_t
#define ALGORITHMS(Direction, Short, dir, ...)                                                     \
    cudnnStatus_t cudnnGetConvolution##Direction##AlgorithmMaxCount(cudnnHandle_t h, int *count)   \
    {                                                                                              \
        return max_count(h, dir, count);                                                           \
    }                                                                                              \
    cudnnStatus_t cudnnGetConvolution##Direction##WorkspaceSize(__VA_ARGS__, int algo,             \
                                                                size_t *bytes)                     \
    {                                                                                              \
        FAIL_IF_TOLD();                                                                            \
        return workspace_size(&(convolution_call){dir, h, x, y, w, conv, algo}, bytes);            \
    }                                                                                              \
    cudnnStatus_t cudnnGetConvolution##Direction##Algorithm_v7(                                    \
        __VA_ARGS__, const int requested, int *returned, PERF(Short) * results)                    \
    {                                                                                              \
        FAIL_IF_TOLD();                                                                            \
        return rank(&(convolution_call){dir, h, x, y, w, conv, 0}, 0, requested, returned,         \
                    results);                                                                      \
    }                                                                                              \
    cudnnStatus_t cudnnFindConvolution##Direction##Algorithm(__VA_ARGS__, const int requested,     \
                                                             int *returned, PERF(Short) * results) \
    {                                                                                              \
        FAIL_IF_TOLD();                                                                            \
        return rank(&(convolution_call){dir, h, x, y, w, conv, 0}, 1, requested, returned,         \
                    results);                                                                      \
    }

ALGORITHMS(Forward, Fwd, GDNN_FWD, cudnnHandle_t h, const cudnnTensorDescriptor_t x,
           const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t conv,
           const cudnnTensorDescriptor_t y)
ALGORITHMS(BackwardData, BwdData, GDNN_BWD_DATA, cudnnHandle_t h, const cudnnFilterDescriptor_t w,
           const cudnnTensorDescriptor_t y, const cudnnConvolutionDescriptor_t conv,
           const cudnnTensorDescriptor_t x)
ALGORITHMS(BackwardFilter, BwdFilter, GDNN_BWD_FILTER, cudnnHandle_t h,
           const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t y,
           const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t w)

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t h, const cudnnTensorDescriptor_t x, const void *x_data,
    const cudnnFilterDescriptor_t w, const void *w_data, const cudnnConvolutionDescriptor_t conv,
    const cudnnTensorDescriptor_t y, void *y_data, const int requested, int *returned,
    cudnnConvolutionFwdAlgoPerf_t *results, void *workspace, size_t bytes)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!x_data || !w_data || !y_data || (bytes && !workspace));
    return rank(&(convolution_call){GDNN_FWD, h, x, y, w, conv, 0}, 1, requested, returned,
                results);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t h, const cudnnFilterDescriptor_t w, const void *w_data,
    const cudnnTensorDescriptor_t y, const void *y_data, const cudnnConvolutionDescriptor_t conv,
    const cudnnTensorDescriptor_t x, void *x_data, const int requested, int *returned,
    cudnnConvolutionBwdDataAlgoPerf_t *results, void *workspace, size_t bytes)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!x_data || !w_data || !y_data || (bytes && !workspace));
    return rank(&(convolution_call){GDNN_BWD_DATA, h, x, y, w, conv, 0}, 1, requested, returned,
                results);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t h, const cudnnTensorDescriptor_t x, const void *x_data,
    const cudnnTensorDescriptor_t y, const void *y_data, const cudnnConvolutionDescriptor_t conv,
    const cudnnFilterDescriptor_t w, void *w_data, const int requested, int *returned,
    cudnnConvolutionBwdFilterAlgoPerf_t *results, void *workspace, size_t bytes)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!x_data || !w_data || !y_data || (bytes && !workspace));
    return rank(&(convolution_call){GDNN_BWD_FILTER, h, x, y, w, conv, 0}, 1, requested, returned,
                results);
}
