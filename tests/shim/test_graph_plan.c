/* Graphs on their way from descriptor to descriptor to a plan, and what becomes of the plan's calls. The library is made
 * up; there is no driver. */
#include "child.h"
#include "driver.h"
#include "graph_library.h"
#include "graph_table.h"

typedef cudnnBackendDescriptor_t descriptor;

static int setup(void **state)
{
    (void)state;
    graph_library_reset();
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    int left = gdnn_graph_table_entries();
    graph_library_reset();
    return left != 0;
}

static bool has_graph(descriptor d)
{
    gdnn_graph graph;
    return gdnn_graph_of(d, &graph) && graph.nodes == 1 && graph.node[0].x.uid == 'x';
}

static descriptor forward_graph(int64_t groups)
{
    descriptor operation = make_forward(groups), graph = make_graph(1, &operation);
    destroy(operation);
    return graph;
}

static descriptor heuristics_of(descriptor graph)
{
    descriptor heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set_word(heuristics, (cudnnBackendAttributeName_t)200, (cudnnBackendAttributeType_t)8, 0);
    finalize(heuristics);
    return heuristics;
}

static void heuristics_fill_configurations(void **state)
{
    (void)state;
    enum { ASKED = 4, GOT = 2 };
    descriptor graph = forward_graph(4), heuristics = heuristics_of(graph), configs[ASKED];
    destroy(graph);
    for (int i = 0; i < ASKED; i++)
        configs[i] = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count = -1;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 0, &count, NULL);
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, ASKED, &count, NULL);
    for (int i = 0; i < ASKED; i++)
        assert_false(has_graph(configs[i]));
    library.filled = GOT;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, ASKED, &count, configs);
    destroy(heuristics);
    for (int i = 0; i < ASKED; i++)
        assert_int_equal(has_graph(configs[i]), i < GOT);
    for (int i = 0; i < ASKED; i++)
        destroy(configs[i]);
}

/* The library may know more results than there is room for, and callers need not ask how many came. */
static void counts_that_say_little(void **state)
{
    (void)state;
    descriptor graph = forward_graph(4), heuristics = heuristics_of(graph),
               configs[3] = {create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                             create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                             create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)};
    int64_t count;
    library.filled = 83;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, &count, configs);
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, NULL, configs + 1);
    assert_true(has_graph(configs[0]) && has_graph(configs[1]) && !has_graph(configs[2]));
    library.filled = 0;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, &count, configs + 2);
    assert_false(has_graph(configs[2]));
    library.filled = -1;
    library.answer = CUDNN_STATUS_NOT_SUPPORTED;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, &count, configs + 2);
    library.answer = CUDNN_STATUS_SUCCESS;
    assert_false(has_graph(configs[2]));
    descriptor none = NULL;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, &count, &none);
    for (int i = 0; i < 3; i++)
        destroy(configs[i]);
    destroy(heuristics);
    destroy(graph);
}

static descriptor read_back(descriptor from, cudnnBackendAttributeName_t name,
                            cudnnBackendDescriptorType_t type)
{
    descriptor to = create(type);
    int64_t count;
    get(from, name, 1, &count, &to);
    return to;
}

/* From a plan back to its configuration, engine and graph, and forth again. */
static void graphs_are_read_back(void **state)
{
    (void)state;
    descriptor plan = make_plan(forward_graph(4));
    assert_true(has_graph(plan));
    descriptor config = read_back(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    destroy(plan);
    assert_true(has_graph(config));
    descriptor engine =
        read_back(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    destroy(config);
    assert_true(has_graph(engine));
    descriptor graph = read_back(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                                 CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    destroy(engine);
    assert_true(has_graph(graph));
    plan = make_plan(graph);
    assert_true(has_graph(plan));
    destroy(plan);
}

/* A descriptor that is filled again is something else: what cannot be followed is not known. */
static void filled_from_what_is_not_known(void **state)
{
    (void)state;
    char elsewhere;
    descriptor plan = make_plan(forward_graph(4)),
               config = read_back(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count;
    assert_true(has_graph(config));
    get(&elsewhere, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, &count, &config);
    assert_false(has_graph(config));
    destroy(config);
    destroy(plan);

    /* Tensors of an operation come back in another form. */
    descriptor operation = make_forward(4), tensor = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR),
               pointwise = create(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    get(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, 1, &count, &tensor);
    set_one(pointwise, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor);
    finalize(pointwise);
    descriptor graph = make_graph(1, &pointwise);
    gdnn_graph known;
    assert_true(gdnn_graph_of(graph, &known) && known.node[0].x.unknown);
    destroy(graph);
    destroy(pointwise);
    destroy(tensor);
    destroy(operation);
}

static void a_graph_that_is_not_finalised_is_not_used(void **state)
{
    (void)state;
    descriptor operation = make_forward(4), graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set_one(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    descriptor heuristics = heuristics_of(graph);
    assert_false(has_graph(heuristics));
    finalize(graph);
    assert_true(has_graph(graph) && !has_graph(heuristics));
    destroy(heuristics);
    destroy(graph);
    destroy(operation);
}

static void execute(descriptor plan, int times)
{
    int before = library.executed;
    for (int i = 0; i < times; i++)
        assert_int_equal(gdnn_cudnnBackendExecute((cudnnHandle_t)7, plan, (void *)9),
                         library.answer);
    assert_int_equal(library.executed - before, times);
}

static uint64_t counted_in_all(void)
{
    uint64_t calls = 0;
    for (int dir = GDNN_FWD; dir <= GDNN_BWD_FILTER; dir++)
        for (int reason = 0; reason < GDNN_REASONS; reason++)
            calls += gdnn_routes_counted((gdnn_dir)dir, (gdnn_reason)reason);
    return calls;
}

static char trace_path[64], trace[4096];

static void a_deviceless_plan_has_a_route(void **state)
{
    (void)state;
    descriptor plan = make_plan(forward_graph(4));
    const gdnn_route *route = gdnn_routes_newest();
    assert_true(route && !route->next);
    assert_int_equal(route->reason, GDNN_REASON_GRAPH_PLAN);
    assert_true(route->key.device == -1 && route->key.algo == -1 && route->key.workspace == 1000);
    assert_true(route->key.conv.groups == 4 && route->key.conv.c == 16 && route->key.conv.k == 32);
    assert_int_equal(route->calls, 0);
    read_text(trace_path, trace, sizeof trace);
    assert_string_equal(trace, "dir=fwd dtype=f16 layout=nchw n=2 c=16 in=8x9 k=32 filter=3x3 "
                               "pad=1 groups=4\n");
    execute(plan, 3);
    assert_int_equal(route->calls, 3);
    library.answer = CUDNN_STATUS_EXECUTION_FAILED; /* the program gets it; a call it was */
    execute(plan, 1);
    library.answer = CUDNN_STATUS_SUCCESS;
    assert_int_equal(route->calls, 4);

    /* Another plan of the same problem, and one that needs other memory. */
    descriptor same = make_plan(forward_graph(4));
    assert_ptr_equal(gdnn_routes_newest(), route);
    library.workspace = 2000;
    descriptor other = make_plan(forward_graph(4));
    assert_ptr_equal(gdnn_routes_newest()->next, route);
    execute(same, 1);
    execute(other, 2);
    assert_int_equal(route->calls, 5);
    assert_int_equal(gdnn_routes_newest()->calls, 2);
    assert_int_equal(counted_in_all(), 0);
    read_text(trace_path, trace, sizeof trace);
    assert_int_equal(count_lines(trace), 1);
    destroy(plan);
    destroy(same);
    destroy(other);
}

/* Programs that want no TF32 take only engines without tensor cores. */
static void float32_is_tf32_by_the_note(void **state)
{
    (void)state;
    static const struct {
        int note;
        gdnn_math math;
    } cases[] = {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, GDNN_MATH_TF32},
                 {4, GDNN_MATH_F32}, /* nondeterministic */
                 {-1, GDNN_MATH_F32}};
    library.type = CUDNN_DATA_FLOAT;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        library.note = cases[i].note;
        library.workspace = (int64_t)(10 + i);
        destroy(make_plan(forward_graph(4)));
        const gdnn_route *route = gdnn_routes_newest();
        assert_int_equal(route->key.workspace, 10 + i);
        assert_int_equal(route->key.conv.dtype, GDNN_F32);
        assert_int_equal(route->key.conv.math, cases[i].math);
    }
}

/* Without a driver there is no device to decide for. */
static void a_plan_with_a_handle_asks_the_driver(void **state)
{
    (void)state;
    const gdnn_route *newest = gdnn_routes_newest();
    descriptor graph = forward_graph(8), heuristics = heuristics_of(graph),
               config = read_back(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
               plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    const cudnnHandle_t handle = (cudnnHandle_t)7;
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finalize(plan);
    uint64_t before = gdnn_routes_counted(GDNN_FWD, GDNN_REASON_NO_DRIVER);
    assert_ptr_equal(gdnn_routes_newest(), newest);
    execute(plan, 1);
    assert_int_equal(gdnn_routes_counted(GDNN_FWD, GDNN_REASON_NO_DRIVER), before + 1);
    destroy(plan);
    destroy(config);
    destroy(heuristics);
    destroy(graph);
}

static void plans_of_other_graphs_are_counted_by_reason(void **state)
{
    (void)state;
    const gdnn_route *newest = gdnn_routes_newest();
    descriptor plan = make_plan(forward_graph(1));
    execute(plan, 2);
    assert_int_equal(gdnn_routes_counted(GDNN_FWD, GDNN_REASON_NOT_GROUPED), 2);
    destroy(plan);

    descriptor operations[] = {make_forward(4), create((cudnnBackendDescriptorType_t)19)};
    finalize(operations[1]);
    plan = make_plan(make_graph(2, operations));
    execute(plan, 1);
    assert_int_equal(gdnn_routes_counted(GDNN_FWD, GDNN_REASON_GRAPH), 1);
    destroy(plan);

    /* No convolution at all. */
    uint64_t before = counted_in_all();
    plan = make_plan(make_graph(1, operations + 1));
    execute(plan, 1);
    assert_int_equal(counted_in_all(), before);
    destroy(plan);
    destroy(operations[0]);
    destroy(operations[1]);
    assert_ptr_equal(gdnn_routes_newest(), newest);
}

/* Plans that nothing is known about run as ever. */
static void plans_that_are_not_known(void **state)
{
    (void)state;
    static const char json[] = "{}";
    char elsewhere;
    uint64_t before = counted_in_all();
    const gdnn_route *newest = gdnn_routes_newest();
    execute(&elsewhere, 1);
    execute(NULL, 1);
    descriptor plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, (cudnnBackendAttributeName_t)405, (cudnnBackendAttributeType_t)24, sizeof json, json);
    finalize(plan);
    execute(plan, 1);
    assert_false(has_graph(plan));
    destroy(plan);

    /* A graph and JSON: which of them counts is cuDNN's to know. */
    descriptor graph = forward_graph(2), heuristics = heuristics_of(graph),
               config = read_back(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    set(plan, (cudnnBackendAttributeName_t)405, (cudnnBackendAttributeType_t)24, sizeof json, json);
    finalize(plan);
    execute(plan, 1);
    assert_false(has_graph(plan));
    destroy(plan);

    /* One that cuDNN did not finalise. */
    plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    library.answer = CUDNN_STATUS_NOT_SUPPORTED;
    finalize(plan);
    library.answer = CUDNN_STATUS_SUCCESS;
    execute(plan, 1);
    assert_false(has_graph(plan));
    destroy(plan);
    destroy(config);
    destroy(heuristics);
    destroy(graph);
    assert_int_equal(counted_in_all(), before);
    assert_ptr_equal(gdnn_routes_newest(), newest);
}

static void assert_arguments(const void *a, const void *b, const void *c, const void *d,
                             const void *e, const void *f)
{
    const void *const expected[] = {a, b, c, d, e, f};
    assert_memory_equal(library_arguments, expected, sizeof expected);
}

/* Statuses that are not ours, arguments that make no sense. */
static void calls_arrive_as_they_were_made(void **state)
{
    (void)state;
#define P(number) ((void *)(uintptr_t)(number))
    library.answer = (cudnnStatus_t)4711;
    assert_int_equal(gdnn_cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)99, P(3)),
                     4711);
    assert_arguments(P(99), P(3), NULL, NULL, NULL, NULL);
    assert_int_equal(gdnn_cudnnBackendSetAttribute(P(1), (cudnnBackendAttributeName_t)2,
                                                   (cudnnBackendAttributeType_t)3, -4, P(5)),
                     4711);
    assert_arguments(P(1), P(2), P(3), P(-4), P(5), NULL);
    assert_int_equal(gdnn_cudnnBackendGetAttribute(P(1), (cudnnBackendAttributeName_t)2,
                                                   (cudnnBackendAttributeType_t)3, -4, P(5), P(6)),
                     4711);
    assert_arguments(P(1), P(2), P(3), P(-4), P(5), P(6));
    assert_int_equal(gdnn_cudnnBackendFinalize(P(8)), 4711);
    assert_arguments(P(8), NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(gdnn_cudnnBackendInitialize(P(10)), 4711);
    assert_arguments(P(10), NULL, NULL, NULL, NULL, NULL);
    assert_int_equal(gdnn_cudnnBackendExecute(P(1), P(2), P(3)), 4711);
    assert_arguments(P(1), P(2), P(3), NULL, NULL, NULL);
#undef P
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, nothing_is_left)
    /* Routes stay: the first test knows of no others. */
    const struct CMUnitTest tests[] = {
        TEST(a_deviceless_plan_has_a_route),
        TEST(heuristics_fill_configurations),
        TEST(counts_that_say_little),
        TEST(graphs_are_read_back),
        TEST(filled_from_what_is_not_known),
        TEST(a_graph_that_is_not_finalised_is_not_used),
        TEST(float32_is_tf32_by_the_note),
        TEST(a_plan_with_a_handle_asks_the_driver),
        TEST(plans_of_other_graphs_are_counted_by_reason),
        TEST(plans_that_are_not_known),
        TEST(calls_arrive_as_they_were_made),
    };
    strcpy(trace_path, "/tmp/gdnn-trace-XXXXXX");
    int file = mkstemp(trace_path);
    if (file < 0)
        return 2;
    close(file);
    setenv("GROUPDNN_TRACE", trace_path, 1);
    unsetenv("GROUPDNN_STATS");
    unsetenv("GROUPDNN_MODE");
    unsetenv("NVIDIA_TF32_OVERRIDE");
    gdnn_driver_use("/nonexistent/libcuda.so.1");
    int failed = cmocka_run_group_tests_name("graph_plan", tests, NULL, NULL);
    unlink(trace_path);
    return failed;
}
