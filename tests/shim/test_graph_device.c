/* graph_plan on the double of the driver: plans that were made with a handle are decided for the current device. */
#include "double_fixture.h"
#include "graph_library.h"

typedef cudnnBackendDescriptor_t descriptor;

/* A plan with a handle, or a deviceless one, is made and destroyed. */
static gdnn_graph_fate plan_fate(bool with_handle, int64_t groups)
{
    static const cudnnHandle_t handle = (cudnnHandle_t)7;
    descriptor operation = make_forward(groups), graph = make_graph(1, &operation),
               heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR),
               config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
               plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    finalize(heuristics);
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, NULL, &config);
    if (with_handle)
        set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finalize(plan);
    gdnn_graph_fate fate = gdnn_graph_fate_of(plan);
    destroy(plan);
    destroy(config);
    destroy(heuristics);
    destroy(graph);
    destroy(operation);
    CHECK(fate.convolution && fate.dir == GDNN_FWD);
    return fate;
}

static const gdnn_route *plan_route(bool with_handle, int64_t groups)
{
    gdnn_graph_fate fate = plan_fate(with_handle, groups);
    CHECK(fate.route);
    return fate.route;
}

/* Decided for this once. */
static gdnn_reason plan_reason(int64_t groups)
{
    gdnn_graph_fate fate = plan_fate(true, groups);
    CHECK(!fate.route);
    return fate.reason;
}

static void begin(const char *mode)
{
    setenv("GROUPDNN_MODE", mode, 1);
    setenv("GDNN_FAKE_DEVICES", "2", 1);
    graph_library_reset();
    open_devices(2);
}

IN_CHILD(force_would_take)
{
    begin("force");
    const gdnn_route *route = plan_route(true, 4);
    CHECK(route->reason == GDNN_REASON_GRAPH_PLAN && route->key.device == 0);
    CHECK(route->shape.kernel && !route->functions.kernel); /* known, and not loaded */
    CHECK(plan_route(true, 4) == route);
    const gdnn_route *deviceless = plan_route(false, 4);
    CHECK(deviceless != route && deviceless->key.device == -1 &&
          deviceless->reason == GDNN_REASON_GRAPH_PLAN);
}

IN_CHILD(on_needs_evidence)
{
    begin("on");
    CHECK(plan_route(true, 4)->reason == GDNN_REASON_NO_EVIDENCE);
}

IN_CHILD(each_device_has_its_route)
{
    begin("force");
    CUcontext popped;
    const gdnn_route *first = plan_route(true, 4);
    CHECK(!cu->cuCtxPopCurrent(&popped) && !cu->cuCtxPushCurrent(contexts[1]));
    const gdnn_route *second = plan_route(true, 4);
    CHECK(first->key.device == 0 && second->key.device == 1);
}

/* The next plan may find a context. */
IN_CHILD(without_a_context)
{
    begin("force");
    CUcontext popped;
    CHECK(!cu->cuCtxPopCurrent(&popped));
    CHECK(plan_reason(4) == GDNN_REASON_NO_CONTEXT);
    CHECK(!cu->cuCtxPushCurrent(popped));
    CHECK(plan_route(true, 4)->reason == GDNN_REASON_GRAPH_PLAN);
}

IN_CHILD(a_device_that_cannot_be_read_is_tried_again)
{
    begin("force");
    fail_next("cuDeviceGetAttribute:1:999");
    CHECK(plan_reason(4) == GDNN_REASON_NO_DRIVER);
    fail_next("");
    CHECK(plan_route(true, 4)->reason == GDNN_REASON_GRAPH_PLAN);
}

/* The driver is not even opened. */
IN_CHILD(deviceless_plans_need_no_driver)
{
    setenv("GROUPDNN_MODE", "force", 1);
    graph_library_reset();
    gdnn_driver_use("/nonexistent/libcuda.so.1");
    CHECK(plan_route(false, 4)->reason == GDNN_REASON_GRAPH_PLAN);
}

int main(int argc, char **argv)
{
    double_paths(argc, argv);
    unsetenv("GROUPDNN_TRACE");
    unsetenv("GROUPDNN_STATS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_would_take),
        cmocka_unit_test(on_needs_evidence),
        cmocka_unit_test(each_device_has_its_route),
        cmocka_unit_test(without_a_context),
        cmocka_unit_test(a_device_that_cannot_be_read_is_tried_again),
        cmocka_unit_test(deviceless_plans_need_no_driver),
    };
    return cmocka_run_group_tests_name("graph_device", tests, NULL, NULL);
}
