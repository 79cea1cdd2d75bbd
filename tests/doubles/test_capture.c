/* Capture of streams, and graphs. argv: the double, the image. */
#include "fixture.h"
#include <pthread.h>

static void test_capture(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr a = floats(1, 1), b = floats(1, 2);
    float value;
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cu.capture_begin(stream);
    assert_success(copy_on(stream, b, a, 1));
    read_floats(&value, b, 1);
    assert_true(value == 2); /* only recorded */
    assert_int_equal(cu.capture_end(stream), 1);
    assert_success(cu.cuStreamSynchronize(stream));
    read_floats(&value, b, 1);
    assert_true(value == 1);
    assert_success(cu.cuStreamDestroy(stream));
    assert_success(cu.cuMemFree(a));
    assert_success(cu.cuMemFree(b));
}

static void test_capture_forbids(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr p = 0;
    CUlibrary library;
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    cu.capture_begin(stream);
    assert_result(cu.cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cu.capture_end(stream), -1);

    cu.capture_begin(stream);
    assert_result(cu.cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cu.capture_end(stream), -1);

    cu.capture_begin(stream);
    assert_result(cu.cuMemAlloc(&p, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_result(cu.cuMemsetD8Async(p, 0, 0, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(cu.capture_end(stream), -1);

    cu.capture_begin(stream);
    assert_result(cu.cuLibraryLoadData(&library, probe_image(), NULL, NULL, 0, NULL, NULL, 0),
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cu.capture_end(stream), -1);
    assert_success(cu.cuStreamDestroy(stream));
}

/* Beside a blocking stream that is captured, the default stream cannot be used. */
static void test_default_stream_beside_a_capture(void **state)
{
    (void)state;
    CUstream stream;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUdeviceptr p = floats(1, 1);
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    cu.capture_begin(stream);
    assert_result(cu.cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(cu.capture_end(stream), 0); /* asking spoils nothing */
    cu.capture_begin(stream);
    assert_result(cu.cuMemsetD8Async(p, 0, 4, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(cu.capture_end(stream), -1);
    cu.capture_begin(stream);
    assert_result(cu.cuStreamSynchronize(NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(cu.capture_end(stream), -1);
    assert_success(cu.cuStreamDestroy(stream));

    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cu.capture_begin(stream);
    assert_success(cu.cuStreamIsCapturing(NULL, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_success(cu.cuMemsetD8Async(p, 0, 4, NULL));
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_int_equal(cu.capture_end(stream), 0);
    assert_success(cu.cuStreamDestroy(stream));
    assert_success(cu.cuMemFree(p));
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    assert_success(cu.cuStreamIsCapturing(stream, &status));
    return status;
}

static void test_capture_by_the_driver(void **state)
{
    (void)state;
    CUstream stream;
    CUgraph graph;
    CUdeviceptr p;
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_result(cu.cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_result(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    assert_int_equal(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
    assert_success(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_result(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                  CUDA_ERROR_ILLEGAL_STATE);
    assert_int_equal(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_result(cu.cuMemAlloc(&p, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    assert_result(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_null(graph);
    assert_int_equal(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);

    /* a relaxed capture lets its own thread do what it likes */
    assert_success(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_success(cu.cuMemAlloc(&p, 4));
    assert_success(cu.cuMemFree(p));
    assert_success(cu.cuStreamEndCapture(stream, &graph));
    assert_non_null(graph);
    assert_success(cu.cuGraphDestroy(graph));
    assert_success(cu.cuStreamDestroy(stream));
}

static void *allocate_elsewhere(void *result)
{
    CUdeviceptr p;
    CUcontext context;
    assert_success(cu.cuDevicePrimaryCtxRetain(&context, 0));
    assert_success(cu.cuCtxPushCurrent(context));
    *(CUresult *)result = cu.cuMemAlloc(&p, 4);
    if (*(CUresult *)result == CUDA_SUCCESS)
        assert_success(cu.cuMemFree(p));
    assert_success(cu.cuCtxPopCurrent(&context));
    assert_success(cu.cuDevicePrimaryCtxRelease(0));
    return NULL;
}

static CUresult in_another_thread(void)
{
    pthread_t thread;
    CUresult result = CUDA_ERROR_UNKNOWN;
    assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, &result), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return result;
}

static void test_captures_and_other_threads(void **state)
{
    (void)state;
    CUstream stream;
    CUgraph graph;
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_success(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    assert_result(in_another_thread(), CUDA_SUCCESS);
    assert_success(cu.cuStreamEndCapture(stream, &graph));
    assert_success(cu.cuGraphDestroy(graph));
    assert_success(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_result(in_another_thread(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_result(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_success(cu.cuStreamDestroy(stream));
}

/* A graph runs as often as it is launched, each time on what is in memory then. */
static void test_graphs(void **state)
{
    (void)state;
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr a = floats(1, 1), b = floats(1, 2);
    float value;
    assert_success(cu.cuStreamSynchronize(NULL));
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_success(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_success(copy_on(stream, b, a, 1));
    assert_success(cu.cuMemsetD8Async(a, 0, 4, stream));
    assert_success(cu.cuStreamEndCapture(stream, &graph));
    assert_success(cu.cuGraphInstantiateWithFlags(&executable, graph, 0));
    assert_success(cu.cuGraphDestroy(graph));
    assert_success(cu.cuStreamSynchronize(stream));
    read_floats(&value, b, 1);
    assert_true(value == 2);
    const float expected[] = {1, 0};
    for (int i = 0; i < 2; i++) {
        assert_success(cu.cuGraphLaunch(executable, stream));
        assert_success(cu.cuStreamSynchronize(stream));
        read_floats(&value, b, 1);
        assert_true(value == expected[i]);
    }
    assert_success(cu.cuGraphExecDestroy(executable));
    assert_success(cu.cuStreamDestroy(stream));
    assert_success(cu.cuMemFree(a));
    assert_success(cu.cuMemFree(b));
}

static CUgraph dead_graph;

static void use_dead_graph(void)
{
    CUgraphExec executable;
    cu.cuGraphInstantiateWithFlags(&executable, dead_graph, 0);
}

static void launch_graph_on_freed_memory(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr p = floats(1, 1);
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_success(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_success(cu.cuMemsetD8Async(p, 0, 4, stream));
    assert_success(cu.cuStreamEndCapture(stream, &graph));
    assert_success(cu.cuGraphInstantiateWithFlags(&executable, graph, 0));
    assert_success(cu.cuMemFree(p));
    assert_success(cu.cuGraphLaunch(executable, stream));
    cu.cuStreamSynchronize(stream);
}

static void test_wrong_use_of_graphs_dies(void **state)
{
    (void)state;
    CUstream stream;
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_success(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_success(cu.cuStreamEndCapture(stream, &dead_graph));
    assert_success(cu.cuGraphDestroy(dead_graph));
    assert_success(cu.cuStreamDestroy(stream));
    assert_dies(use_dead_graph, "is not a live graph");
    assert_dies(launch_graph_on_freed_memory, "does not lie in a live allocation");
}

static void test_relaxed_mode(void **state)
{
    (void)state;
    CUstream stream;
    CUdeviceptr p;
    gdnn_fake_counts before, after;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cu.counters(&before);
    assert_success(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    cu.capture_begin(stream);
    assert_success(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_success(cu.cuMemAlloc(&p, 4));
    assert_success(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_int_equal(cu.capture_end(stream), 0);
    cu.counters(&after);
    assert_int_equal(after.capture_exchanges - before.capture_exchanges, 2);
    mode = (CUstreamCaptureMode)3;
    assert_result(cu.cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
    assert_success(cu.cuMemFree(p));
    assert_success(cu.cuStreamDestroy(stream));
}

/* The image is loaded first: a capture would forbid it. */
static int setup(void **state)
{
    context_setup(state);
    get_kernel("probe_copy");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    open_double(argv[1]);
    set_probe_image(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_capture_forbids),
        cmocka_unit_test(test_relaxed_mode),
        cmocka_unit_test(test_default_stream_beside_a_capture),
        cmocka_unit_test(test_capture_by_the_driver),
        cmocka_unit_test(test_captures_and_other_threads),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_wrong_use_of_graphs_dies),
    };
    return cmocka_run_group_tests_name("capture", tests, setup, context_teardown);
}
