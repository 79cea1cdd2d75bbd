/* The flavour `real` runs graphs: plans of NVIDIA's library, made in every way, compute what the problem says, which is
 * known here from its text alone. The library and the driver are found by LD_LIBRARY_PATH. */
#include "../../clients/device.h"
#include "graph_job.h"
#include "unit.h"
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 32, ROUNDS = 8 };

static char log_path[] = "/tmp/gdnn_graphs_XXXXXX";

/* Destroys the plan. */
static void expect_right(job *j, descriptor plan, const char *how, const char *text)
{
    descriptor pack = pack_of(j, plan);
    assert_true(count_wrong(j, false, NULL) == 0);
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendExecute(j->handle, plan, pack));
    const int64_t wrong = count_wrong(j, true, NULL);
    if (wrong)
        fail_msg("%s: %s: %lld elements are wrong", text, how, (long long)wrong);
    put_back(j);
    destroy(pack);
    destroy(plan);
}

static void check_problem(const char *text, bool group_axis)
{
    job *j = begin(text);
    descriptor graph =
        make_graph(j->handle, &j->problem.conv, group_axis, CUDNN_POINTWISE_RELU_FWD);
    descriptor config = make_config(graph, 0);
    destroy(graph);
    graph = graph_of(config);
    descriptor other = make_config(graph, 0);
    destroy(graph);
    descriptor plan = make_plan(j->handle, config), again = make_plan_again(j->handle, config);
    destroy(config);
    char *stored = text_of(plan);
    assert_contains(stored, "NVIDIA A100"); /* see main */
    descriptor restored = restore_plan(j->handle, stored);
    free(stored);
    expect_right(j, plan, "from heuristics", text);
    expect_right(j, restored, "restored from its text", text);
    expect_right(j, again, "from an engine's number", text);
    expect_right(j, make_plan(j->handle, other), "from heuristics for an engine's graph", text);
    destroy(other);
    end(j);
}

static void test_results(void **state)
{
    static const char *const problems[] = {
        "n=2 c=16 in=6x5 k=16 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc",
        "n=2 c=8 in=6x5 k=16 filter=3x3 pad=1 groups=8 dtype=f32 layout=nchw dir=bwd_data",
        "n=2 c=8 in=9x9 k=8 filter=3x3 pad=1 stride=2 groups=8 dtype=f32 dir=bwd_filter",
        "n=1 c=8 in=6x5 k=8 filter=3x3 pad=1 groups=2 dtype=f64 layout=nchw",
        "n=2 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=2 dtype=bf16 layout=nhwc dir=bwd_data",
        "n=2 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=1 dtype=f16 layout=nhwc",
        "n=2 c=8 in=8x8 k=8 filter=3x3 pad=1 groups=4 dtype=f32 alpha=2 beta=0.5",
        "n=2 c=8 in=8x8 k=8 filter=3x3 pad=1 groups=4 dtype=f32 mode=conv dilation=2 dir=bwd_data",
        "n=1 c=8 in=5x4x6 k=8 filter=3x3x3 pad=1 groups=4 dtype=f32 dir=bwd_filter",
        "n=2 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc bias=1 act=relu",
        "n=2 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc z=1 alpha2=0.5 bias=1"
        " act=relu",
        "n=2 c=8 in=8x8 k=8 filter=3x3 pad=1 groups=2 dtype=f32 xstrides=640x80x9x1"
        " wstrides=36x9x3x1 ystrides=640x80x9x1"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(problems); i++)
        check_problem(problems[i], false);
}

static void test_group_axis(void **state)
{
    (void)state;
    check_problem("n=2 c=16 in=8x8 k=32 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc", true);
    check_problem(
        "n=2 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc dir=bwd_data", true);
}

/* With the factor 0, z is not even looked for. */
static void test_unread_z(void **state)
{
    scene s;
    (void)state;
    open_scene(&s,
               "n=2 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc z=1 alpha2=0"
               " bias=1 act=relu",
               0);
    assert_true(s.uids[s.j->tensors - 1] == UID_Z);
    descriptor pack = make_pack(s.j->tensors - 1, s.uids, s.pointers, s.j->workspace);
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendExecute(s.j->handle, s.plan, pack));
    assert_true(count_wrong(s.j, true, NULL) == 0);
    destroy(pack);
    close_scene(&s);
}

/* Before anything was executed: the environment, set in main, says that the first execution fails. */
static void test_told_to_fail(void **state)
{
    (void)state;
    job *j = begin("n=1 c=8 in=4x4 k=8 filter=3x3 pad=1 groups=4 dtype=f32 alpha=3");
    descriptor graph = make_graph(j->handle, &j->problem.conv, false, CUDNN_POINTWISE_RELU_FWD),
               config = make_config(graph, 0);
    descriptor plan = make_plan(j->handle, config), pack = pack_of(j, plan);
    const long long bytes = (long long)workspace_size(plan);
    cudaStream_t stream = device_stream();
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnSetStream(j->handle, stream));
    EXPECT(5003, cudnnBackendExecute(j->handle, plan, pack));
    assert_true(count_wrong(j, false, stream) == 0);
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendExecute(j->handle, plan, pack));
    assert_true(count_wrong(j, true, stream) == 0);

    char line[256], wanted[256];
    FILE *file = fopen(log_path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_contains(line, "cudnnBackendExecute 5003 ");
    assert_non_null(fgets(line, sizeof line, file));
    snprintf(wanted, sizeof wanted, "cudnnBackendExecute 0 %p %lld 3\n", (void *)stream, bytes);
    assert_string_equal(line, wanted);
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    device_stream_free(stream);
    destroy(pack);
    destroy(plan);
    destroy(config);
    destroy(graph);
    end(j);
}

/* cmocka ends only its own thread: what goes wrong here is counted. */
static int try_pack(const job *j, descriptor plan)
{
    int64_t uids[TENSORS];
    void *pointers[TENSORS];
    descriptor pack = NULL;
    for (int i = 0; i < j->tensors; i++) {
        uids[i] = j->tensor[i].uid;
        pointers[i] = j->tensor[i].device;
    }
    int wrong = cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack) != 0;
    wrong += cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                                      j->tensors, uids) != 0;
    wrong += cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                                      CUDNN_TYPE_VOID_PTR, j->tensors, pointers) != 0;
    wrong += cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
                                      1, &j->workspace) != 0;
    wrong += cudnnBackendFinalize(pack) != 0;
    wrong += cudnnBackendExecute(j->handle, plan, pack) != 0;
    return wrong + (cudnnBackendDestroyDescriptor(pack) != 0);
}

typedef struct worker {
    pthread_t thread;
    job *j;
    descriptor plan; /* everyone's */
    long wrong;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    w->wrong += driver.push(context) != CUDA_SUCCESS;
    for (int round = 0; round < ROUNDS; round++) {
        w->wrong += try_pack(w->j, w->plan);
        w->wrong += count_wrong(w->j, true, NULL) != 0;
        put_back(w->j);
    }
    w->wrong += driver.pop(NULL) != CUDA_SUCCESS;
    return NULL;
}

static void test_threads(void **state)
{
    static worker workers[THREADS];
    scene s;
    (void)state;
    const char *text = "n=2 c=8 in=6x6 k=8 filter=3x3 pad=1 groups=4 dtype=f32 alpha=2 beta=0.5";
    open_scene(&s, text, 0);
    const int64_t bytes = workspace_size(s.plan);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.j = begin(text), .plan = s.plan};
        workers[i].j->workspace = bytes ? device_new((size_t)bytes) : NULL;
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_true(workers[i].wrong == 0);
        end(workers[i].j);
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_to_fail), cmocka_unit_test(test_results),
        cmocka_unit_test(test_group_axis),   cmocka_unit_test(test_unread_z),
        cmocka_unit_test(test_threads),
    };
    const int file = mkstemp(log_path);
    if (file < 0 || !open_driver())
        return 1;
    setenv("GDNN_DOUBLE_LOG", log_path, 1);
    setenv("GDNN_DOUBLE_GPU", "a100", 1);
    setenv("GDNN_DOUBLE_FAIL", "cudnnBackendExecute:1:5003", 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close(file);
    unlink(log_path);
    device_close();
    return failed;
}
