/* Handles and streams. */
#include "calls.h"
#include "device.h"
#include "execution.h"
#include "report.h"

static const problem base = {.arithmetic = CUDNN_DATA_FLOAT,
                             .math = CUDNN_FMA_MATH,
                             .axes = 2,
                             .n = 2,
                             .c = 8,
                             .k = 8,
                             .groups = 8,
                             .in = {9, 7},
                             .filter = {3, 3},
                             .pad = {1, 1},
                             .stride = {1, 1},
                             .dilation = {1, 1},
                             .mode = CUDNN_CROSS_CORRELATION,
                             .alpha = 1};

static void get_stream(const char *what, cudnnHandle_t handle, cudaStream_t expected)
{
    cudaStream_t stream = (cudaStream_t)&stream;
    CALL(what, cudnnGetStream(handle, &stream));
    show("%s", stream == expected ? "as set" : "another");
}

static void run(const char *what, cudnnHandle_t handle, cudaStream_t stream)
{
    for (int dir = FORWARD; dir <= BACKWARD_FILTER; dir++) {
        execution e;
        problem p = base;
        p.dir = (direction)dir;
        execution_make(&e, &p, handle);
        execution_run(&e, what, &e.a, stream);
        execution_free(&e);
    }
}

void call_handles(void)
{
    cudnnHandle_t first, second;
    cudaStream_t a = device_stream(), b = device_stream();

    CALL("", cudnnCreate(&first));
    CALL("another", cudnnCreate(&second));
    get_stream("new", first, NULL);
    run("default stream", first, NULL);
    CALL("", cudnnSetStream(first, a));
    CALL("of the other handle", cudnnSetStream(second, b));
    get_stream("set", first, a);
    get_stream("set", second, b);
    run("a stream", first, a);
    run("another stream", second, b);
    CALL("changed", cudnnSetStream(first, b));
    get_stream("changed", first, b);
    run("a changed stream", first, b);
    CALL("default again", cudnnSetStream(first, NULL));
    get_stream("default again", first, NULL);
    run("default again", first, NULL);
    CALL("while it has a stream", cudnnDestroy(second));
    CALL("", cudnnDestroy(first));
    device_stream_free(a);
    device_stream_free(b);
}
