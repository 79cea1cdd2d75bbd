/* What the flavour `real` refuses of graphs: nothing is computed, and a text says why. */
#include "../../clients/device.h"
#include "decide.h"
#include "graph_job.h"
#include "unit.h"

/* Nothing was computed, and the text says why. */
static void expect_refused(const scene *s, int status, cudnnHandle_t handle, descriptor plan,
                           descriptor pack, const char *why)
{
    char text[256] = "";
    EXPECT(status, cudnnBackendExecute(handle, plan, pack));
    cudnnGetLastErrorString(text, sizeof text);
    assert_contains(text, why);
    assert_true(count_wrong(s->j, false, NULL) == 0);
}

/* Destroys the pack. */
static void expect_pack_refused(const scene *s, int status, descriptor pack, const char *why)
{
    expect_refused(s, status, s->j->handle, s->plan, pack, why);
    destroy(pack);
}

static void test_wrong_executions(void **state)
{
    enum { BAD_PARAM = CUDNN_STATUS_BAD_PARAM };
    static max_align_t foreign[16];
    scene s;
    (void)state;
    open_scene(&s, "n=8 c=8 in=4x4 k=8 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc bias=1", 0);
    const cudnnHandle_t handle = s.j->handle;
    const int count = s.j->tensors;
    descriptor blank = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    descriptor no_plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    expect_refused(&s, BAD_PARAM, NULL, s.plan, s.pack, "");
    expect_refused(&s, BAD_PARAM, handle, NULL, s.pack, "");
    expect_refused(&s, BAD_PARAM, handle, s.plan, NULL, "");
    expect_refused(&s, BAD_PARAM, (cudnnHandle_t)foreign, s.plan, s.pack, "self");
    expect_refused(&s, BAD_PARAM, handle, no_plan, s.pack, "not finalized");
    expect_refused(&s, BAD_PARAM, handle, s.pack, s.pack, "no plan");
    expect_refused(&s, BAD_PARAM, handle, s.plan, s.plan, "pack_read");
    expect_refused(&s, BAD_PARAM, handle, s.plan, blank, "finalized");
    destroy(blank);
    destroy(no_plan);

    for (int i = 0; i < count; i++) {
        static const char *const missing[] = {"!x", "!w", "!y", "!bias"};
        void *const pointer = s.pointers[i];
        s.pointers[i] = NULL;
        expect_pack_refused(&s, BAD_PARAM, make_pack(count, s.uids, s.pointers, s.j->workspace),
                            missing[i]);
        s.pointers[i] = pointer;
        s.uids[i]++;
        expect_pack_refused(&s, BAD_PARAM, make_pack(count, s.uids, s.pointers, s.j->workspace),
                            missing[i]);
        s.uids[i]--;
    }
    close_scene(&s);
}

static void test_missing_workspace(void **state)
{
    scene s;
    (void)state;
    open_scene(
        &s, "n=8 c=8 in=4x4 k=8 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc dir=bwd_filter", 1);
    expect_pack_refused(&s, CUDNN_STATUS_BAD_PARAM,
                        make_pack(s.j->tensors, s.uids, s.pointers, NULL), "workspace");
    char *text = text_of(s.plan);
    assert_contains(text, "NVIDIA H200");
    free(text);
    close_scene(&s);
}

/* A std::vector. */
typedef struct vector {
    const void *begin, *end, *room;
} vector;

/* Vectors of vectors, as cudnn-frontend hands them over. */
static void test_other_sizes(void **state)
{
    static const int64_t uid = UID_X, size[] = {2, 8, 6, 6};
    const vector inner = {size, size + 4, size + 4}, sizes = {&inner, &inner + 1, &inner + 1};
    scene s;
    (void)state;
    open_scene(&s, "n=2 c=8 in=6x6 k=8 filter=3x3 pad=1 groups=4 dtype=f32", 0);
    descriptor pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    SET(pack, VARIANT_PACK_UNIQUE_IDS, INT64, s.j->tensors, s.uids);
    SET(pack, VARIANT_PACK_DATA_POINTERS, VOID_PTR, s.j->tensors, s.pointers);
    SET(pack, VARIANT_PACK_WORKSPACE, VOID_PTR, 1, &s.j->workspace);
    SET(pack, VARIANT_PACK_OVERRIDE_UNIQUE_IDS, INT64, 1, &uid);
    SET(pack, VARIANT_PACK_OVERRIDE_SHAPES, VOID_PTR, 1, &sizes);
    SET(pack, VARIANT_PACK_OVERRIDE_STRIDES, VOID_PTR, 1, &sizes);
    FINALIZE(pack);
    expect_pack_refused(&s, CUDNN_STATUS_NOT_SUPPORTED, pack, "shapes");
    close_scene(&s);
}

/* NVIDIA's library has a plan with tanh, the double no arithmetic. */
static void test_unknown_graph(void **state)
{
    scene s = {0};
    (void)state;
    s.j = begin(
        "n=2 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=4 dtype=f16 layout=nhwc bias=1 act=relu");
    descriptor graph = make_graph(s.j->handle, &s.j->problem.conv, false, CUDNN_POINTWISE_TANH_FWD);
    descriptor config = make_config(graph, 0);
    s.plan = make_plan(s.j->handle, config);
    s.pack = pack_of(s.j, s.plan);
    expect_refused(&s, CUDNN_STATUS_NOT_SUPPORTED, s.j->handle, s.plan, s.pack,
                   gdnn_reason_sentence(GDNN_REASON_ACTIVATION));
    destroy(config);
    destroy(graph);
    close_scene(&s);
}

/* A pack that is made new again is empty, and can be filled again. */
static void test_initialize(void **state)
{
    scene s;
    (void)state;
    open_scene(&s, "n=2 c=8 in=6x6 k=8 filter=3x3 pad=1 groups=4 dtype=f32", 0);
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendInitialize(s.pack));
    expect_refused(&s, CUDNN_STATUS_BAD_PARAM, s.j->handle, s.plan, s.pack, "finalized");
    FINALIZE(s.pack);
    expect_refused(&s, CUDNN_STATUS_BAD_PARAM, s.j->handle, s.plan, s.pack, "!x");
    close_scene(&s);
}

static void test_captured_stream(void **state)
{
    scene s;
    void *graph;
    (void)state;
    open_scene(&s, "n=2 c=8 in=6x6 k=8 filter=3x3 pad=1 groups=4 dtype=f32", 0);
    cudaStream_t stream = device_stream();
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnSetStream(s.j->handle, stream));
    assert_int_equal(driver.begin_capture((CUstream)stream, CU_STREAM_CAPTURE_MODE_RELAXED),
                     CUDA_SUCCESS);
    EXPECT(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER,
           cudnnBackendExecute(s.j->handle, s.plan, s.pack));
    driver.end_capture((CUstream)stream, &graph);
    device_stream_free(stream);
    assert_true(count_wrong(s.j, false, NULL) == 0);
    close_scene(&s);
}

static void test_wrong_handles(void **state)
{
    enum { NULL_POINTER = 2002 };
    static max_align_t foreign[16];
    cudnnHandle_t handles[2], none = NULL, other = (cudnnHandle_t)foreign;
    const struct {
        descriptor it;
        cudnnBackendAttributeName_t name;
    } places[] = {{make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), CUDNN_ATTR_OPERATIONGRAPH_HANDLE},
                  {make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), CUDNN_ATTR_EXECUTION_PLAN_HANDLE},
                  {make(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR), CUDNN_ATTR_DEVICEPROP_HANDLE}};
    (void)state;
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnCreate(&handles[0]));
    handles[1] = handles[0];
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        const descriptor it = places[i].it;
        const cudnnBackendAttributeName_t name = places[i].name;
        const cudnnBackendAttributeName_t elsewhere = places[(i + 1) % 3].name;
        EXPECT(NULL_POINTER, cudnnBackendSetAttribute(it, name, CUDNN_TYPE_HANDLE, 1, &none));
        EXPECT(2000, cudnnBackendSetAttribute(it, name, CUDNN_TYPE_HANDLE, 1, &other));
        EXPECT(2000, cudnnBackendSetAttribute(it, name, CUDNN_TYPE_HANDLE, 2, handles));
        EXPECT(2000, cudnnBackendSetAttribute(it, name, CUDNN_TYPE_HANDLE, 0, handles));
        EXPECT(2000, cudnnBackendSetAttribute(it, name, CUDNN_TYPE_HANDLE, 1, NULL));
        EXPECT(2000, cudnnBackendSetAttribute(it, elsewhere, CUDNN_TYPE_HANDLE, 1, handles));
        EXPECT(0, cudnnBackendSetAttribute(it, name, CUDNN_TYPE_HANDLE, 1, handles));
    }
    /* The GPU of a handle is described. */
    FINALIZE(places[2].it);
    for (size_t i = 0; i < COUNT_OF(places); i++)
        destroy(places[i].it);
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnDestroy(handles[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_executions), cmocka_unit_test(test_missing_workspace),
        cmocka_unit_test(test_other_sizes),      cmocka_unit_test(test_captured_stream),
        cmocka_unit_test(test_unknown_graph),    cmocka_unit_test(test_initialize),
        cmocka_unit_test(test_wrong_handles),
    };
    if (!open_driver())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_close();
    return failed;
}
