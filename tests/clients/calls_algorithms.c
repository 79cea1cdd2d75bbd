/* Algorithms, their workspaces, and their ranking. */
#include "calls.h"
#include "execution.h"
#include "report.h"
#include <string.h>

enum { MOST = 20 };

static const problem base = {.arithmetic = CUDNN_DATA_FLOAT,
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
                             .alpha = 1};

static cudnnHandle_t handle;

static void max_counts(void)
{
    int count = -77;
    CALL("", cudnnGetConvolutionForwardAlgorithmMaxCount(handle, &count));
    show("%d", count);
    CALL("", cudnnGetConvolutionBackwardDataAlgorithmMaxCount(handle, &count));
    show("%d", count);
    CALL("", cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(handle, &count));
    show("%d", count);
}

static void workspace(const char *what, direction dir, const arguments *a, int algo)
{
    size_t bytes = 77;
    switch (dir) {
    case FORWARD:
        CALL(what,
             cudnnGetConvolutionForwardWorkspaceSize(a->handle, a->x, a->w, a->conv, a->y,
                                                     (cudnnConvolutionFwdAlgo_t)algo, &bytes));
        break;
    case BACKWARD_DATA:
        CALL(what, cudnnGetConvolutionBackwardDataWorkspaceSize(
                       a->handle, a->w, a->y, a->conv, a->x, (cudnnConvolutionBwdDataAlgo_t)algo,
                       &bytes));
        break;
    case BACKWARD_FILTER:
        CALL(what, cudnnGetConvolutionBackwardFilterWorkspaceSize(
                       a->handle, a->x, a->y, a->conv, a->w, (cudnnConvolutionBwdFilterAlgo_t)algo,
                       &bytes));
        break;
    }
    show("algo=%d bytes=%zu", algo, bytes);
}

static void workspaces(const char *what, const problem *p)
{
    for (int dir = FORWARD; dir <= BACKWARD_FILTER; dir++) {
        execution e;
        execution_make(&e, p, handle);
        for (int algo = -1; algo <= 8; algo++)
            workspace(what, (direction)dir, &e.a, algo);
        arguments a = e.a;
        a.x = NULL;
        workspace("x NULL", (direction)dir, &a, 0);
        a = e.a;
        a.w = NULL;
        workspace("w NULL", (direction)dir, &a, 0);
        a = e.a;
        a.conv = NULL;
        workspace("convolution NULL", (direction)dir, &a, 0);
        a = e.a;
        a.y = NULL;
        workspace("y NULL", (direction)dir, &a, 0);
        execution_free(&e);
    }
}

/* Of the three directions' results, which are the same but for their types. */
static void show_ranking(int returned, const cudnnConvolutionFwdAlgoPerf_t *results)
{
    show("returned=%d", returned);
    for (int i = 0; i < returned && i < MOST; i++)
        show("%d:%d,%g,%zu,%d,%d", (int)results[i].algo, (int)results[i].status, results[i].time,
             results[i].memory, (int)results[i].determinism, (int)results[i].mathType);
}

typedef enum { RANK, FIND, FIND_EX } way;

static void rank(const char *what, direction dir, way how, execution *e, int requested)
{
    const arguments *a = &e->a;
    cudnnConvolutionFwdAlgoPerf_t forward[MOST];
    cudnnConvolutionBwdDataAlgoPerf_t data[MOST];
    cudnnConvolutionBwdFilterAlgoPerf_t filter[MOST];
    int n = -77;

    if (dir == FORWARD && how == RANK)
        CALL(what, cudnnGetConvolutionForwardAlgorithm_v7(a->handle, a->x, a->w, a->conv, a->y,
                                                          requested, &n, forward));
    if (dir == FORWARD && how == FIND)
        CALL(what, cudnnFindConvolutionForwardAlgorithm(a->handle, a->x, a->w, a->conv, a->y,
                                                        requested, &n, forward));
    if (dir == FORWARD && how == FIND_EX)
        CALL(what, cudnnFindConvolutionForwardAlgorithmEx(
                       a->handle, a->x, a->x_data, a->w, a->w_data, a->conv, a->y, a->y_data,
                       requested, &n, forward, a->workspace, a->workspace_bytes));
    if (dir == BACKWARD_DATA && how == RANK)
        CALL(what, cudnnGetConvolutionBackwardDataAlgorithm_v7(a->handle, a->w, a->y, a->conv, a->x,
                                                               requested, &n, data));
    if (dir == BACKWARD_DATA && how == FIND)
        CALL(what, cudnnFindConvolutionBackwardDataAlgorithm(a->handle, a->w, a->y, a->conv, a->x,
                                                             requested, &n, data));
    if (dir == BACKWARD_DATA && how == FIND_EX)
        CALL(what, cudnnFindConvolutionBackwardDataAlgorithmEx(
                       a->handle, a->w, a->w_data, a->y, a->y_data, a->conv, a->x, a->x_data,
                       requested, &n, data, a->workspace, a->workspace_bytes));
    if (dir == BACKWARD_FILTER && how == RANK)
        CALL(what, cudnnGetConvolutionBackwardFilterAlgorithm_v7(a->handle, a->x, a->y, a->conv,
                                                                 a->w, requested, &n, filter));
    if (dir == BACKWARD_FILTER && how == FIND)
        CALL(what, cudnnFindConvolutionBackwardFilterAlgorithm(a->handle, a->x, a->y, a->conv, a->w,
                                                               requested, &n, filter));
    if (dir == BACKWARD_FILTER && how == FIND_EX)
        CALL(what, cudnnFindConvolutionBackwardFilterAlgorithmEx(
                       a->handle, a->x, a->x_data, a->y, a->y_data, a->conv, a->w, a->w_data,
                       requested, &n, filter, a->workspace, a->workspace_bytes));
    if (dir == BACKWARD_DATA)
        memcpy(forward, data, sizeof forward);
    if (dir == BACKWARD_FILTER)
        memcpy(forward, filter, sizeof forward);
    show_ranking(n, forward);
}

static void rankings(const char *what, const problem *p)
{
    for (int dir = FORWARD; dir <= BACKWARD_FILTER; dir++) {
        execution e;
        execution_make(&e, p, handle);
        for (int how = RANK; how <= FIND_EX; how++)
            for (int requested = 0; requested <= MOST; requested += 4)
                rank(what, (direction)dir, (way)how, &e, requested);
        execution_free(&e);
    }
}

void call_algorithms(void)
{
    problem p = base;

    cudnnCreate(&handle);
    max_counts();
    workspaces("2 groups", &p);
    rankings("2 groups", &p);
    p.math = CUDNN_FMA_MATH;
    rankings("exact", &p);
    p.groups = 1;
    workspaces("one group", &p);
    rankings("one group", &p);
    p.groups = 8;
    p.stride[0] = p.stride[1] = 2;
    workspaces("depthwise, stride 2", &p);
    p.type = CUDNN_DATA_HALF;
    p.x = p.w = p.y = CHANNELS_LAST;
    workspaces("half, channels last", &p);
    p.axes = 3;
    p.in[2] = 4;
    p.filter[2] = p.stride[2] = p.dilation[2] = p.pad[2] = 1;
    workspaces("3 axes", &p);
    cudnnDestroy(handle);
}
