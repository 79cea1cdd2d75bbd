/* graph_execute on the double of the driver: plans that are ours run our kernel, the others and whatever is odd about a
 * call go to the real library. */
#include "double_fixture.h"
#include "graph_library.h"
#include "graph_types.h"

typedef cudnnBackendDescriptor_t descriptor;

static const cudnnHandle_t handle = (cudnnHandle_t)7;
static memory m;

static uint64_t launches(void)
{
    uint64_t (*count)(void) = double_symbol("gdnn_fake_launches");
    return count();
}

static void begin(const char *mode)
{
    setenv("GROUPDNN_MODE", mode, 1);
    setenv("GDNN_FAKE_DEVICES", "2", 1);
    graph_library_reset();
    library.type = CUDNN_DATA_FLOAT;
    library.workspace = 0;
    open_devices(2);
    CHECK(!cu->cuStreamCreate(&library.stream, CU_STREAM_NON_BLOCKING));
    m = allocate();
}

/* The graph of the fixture's example, with a handle. */
static descriptor example_graph(void)
{
    descriptor x = make_tensor('x', 1, 2, 2, 2), w = make_tensor('w', 2, 1, 1, 1),
               y = make_tensor('y', 1, 2, 2, 2), convolution = make_convolution_padded(0),
               operation = create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR),
               graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution);
    finalize(operation);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_one(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    finalize(graph);
    const descriptor parts[] = {x, w, y, convolution, operation};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        destroy(parts[i]);
    return graph;
}

static descriptor first_config(descriptor graph)
{
    descriptor heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR),
               config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    finalize(heuristics);
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 1, NULL, &config);
    destroy(heuristics);
    return config;
}

static bool plans_get_handles = true;

static descriptor plan_of(descriptor config)
{
    descriptor plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if (plans_get_handles)
        set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finalize(plan);
    return plan;
}

/* A plan of ours, all else gone. */
static descriptor our_plan(void)
{
    descriptor graph = example_graph(), config = first_config(graph), plan = plan_of(config);
    destroy(config);
    destroy(graph);
    return plan;
}

typedef struct pack {
    int64_t uid[4];
    void *pointer[4];
    int64_t uids, pointers;
} pack;

static pack example_pack(void)
{
    gdnn_tensors t = tensors_of(&m);
    return (pack){{'w', 'y', 'x'}, {t.w, t.y, t.x}, 3, 3};
}

static descriptor make_pack(const pack *p)
{
    descriptor made = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    void *workspace = NULL;
    set(made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, p->pointers, p->pointer);
    set(made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, p->uids, p->uid);
    set(made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finalize(made);
    return made;
}

/* Executes and says whether the real library was asked; its answer then is the program's. */
static bool goes_to_real(descriptor plan, descriptor variant_pack)
{
    int before = library.executed;
    uint64_t launched = launches();
    library.answer = CUDNN_STATUS_EXECUTION_FAILED;
    cudnnStatus_t status = gdnn_cudnnBackendExecute(handle, plan, variant_pack);
    library.answer = CUDNN_STATUS_SUCCESS;
    bool asked = library.executed > before;
    CHECK(library.executed - before == asked);
    CHECK(status == (asked ? CUDNN_STATUS_EXECUTION_FAILED : CUDNN_STATUS_SUCCESS));
    CHECK(launches() - launched == !asked);
    return asked;
}

static void check_run(void)
{
    CHECK(!cu->cuStreamSynchronize(library.stream));
    check_result(&m);
}

IN_CHILD(a_marked_plan_runs_our_kernel)
{
    begin("force");
    descriptor plan = our_plan();
    const gdnn_route *route = gdnn_routes_newest();
    CHECK(route && route->reason == GDNN_REASON_TAKEN && route->key.device == 0);
    CHECK(route->functions.kernel); /* before the first call */
    const pack p = example_pack();
    descriptor variant_pack = make_pack(&p);
    CHECK(!goes_to_real(plan, variant_pack));
    check_run();
    CHECK(route->calls == 1 && library.streams_asked == 1);

    /* The stream is asked for each time. */
    CHECK(!cu->cuStreamCreate(&library.stream, CU_STREAM_NON_BLOCKING));
    CHECK(!goes_to_real(plan, variant_pack) && library.streams_asked == 2 && route->calls == 2);
    check_run();
    destroy(variant_pack);
    destroy(plan);
    CHECK(goes_to_real(plan, variant_pack)); /* whatever stands there now */
    CHECK(route->calls == 2);
}

/* NVIDIA's frontend gives the graph alone a handle. */
IN_CHILD(a_plan_has_the_handle_of_its_graph)
{
    begin("force");
    plans_get_handles = false;
    const pack p = example_pack();
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    CHECK(!goes_to_real(plan, variant_pack));
    check_run();
    destroy(variant_pack);
    destroy(plan);
}

/* As a framework does that keeps configurations and times them. */
IN_CHILD(what_is_read_back_from_our_plan_is_ours)
{
    begin("force");
    descriptor plan = our_plan(), config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count;
    get(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 1, &count, &config);
    destroy(plan);
    plan = plan_of(config);
    const pack p = example_pack();
    descriptor variant_pack = make_pack(&p);
    CHECK(!goes_to_real(plan, variant_pack));
    check_run();
    destroy(config);
    destroy(variant_pack);
    destroy(plan);
}

/* The engine of a configuration of ours with other knobs is none of ours. Of this library's lists nothing can be read. */
IN_CHILD(an_engine_is_not_its_configuration)
{
    begin("force");
    descriptor graph = example_graph(), ours = first_config(graph),
               engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
               config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count;
    get(ours, CUDNN_ATTR_ENGINECFG_ENGINE, 1, &count, &engine);
    set_one(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    finalize(config);
    descriptor plan = plan_of(config);
    const pack p = example_pack();
    descriptor variant_pack = make_pack(&p);
    CHECK(goes_to_real(plan, variant_pack));
    CHECK(gdnn_routes_newest()->reason == GDNN_REASON_GRAPH_PLAN);
    const descriptor all[] = {variant_pack, plan, config, engine, ours, graph};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        destroy(all[i]);
}

static int64_t counted_results(void)
{
    descriptor graph = example_graph(), heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    int64_t count = -1;
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    finalize(heuristics);
    library.filled = 5;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 0, &count, NULL);
    destroy(heuristics);
    destroy(graph);
    return count;
}

IN_CHILD(more_results_are_counted)
{
    begin("force");
    CHECK(counted_results() == 5 + 4);
}

/* Only where there will be more. */
IN_CHILD(results_that_are_cudnns_are_counted_by_cudnn)
{
    begin("on");
    CHECK(counted_results() == 5);
}

IN_CHILD(results_of_what_is_disabled_are_counted_by_cudnn)
{
    setenv("GROUPDNN_DISABLE", "fwd", 1);
    begin("force");
    CHECK(counted_results() == 5);
}

/* Nothing is put in front of a list that cuDNN cannot fill as a whole. */
IN_CHILD(lists_with_odd_places_are_cudnns)
{
    begin("force");
    descriptor graph = example_graph(), heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR),
               used = first_config(graph);
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    finalize(heuristics);
    descriptor twice = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR), same[] = {twice, twice};
    library.filled = 0;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 2, NULL, same);
    CHECK(library.results == 2);
    destroy(twice);
    const descriptor odd[] = {NULL, graph, used, &library};
    for (size_t i = 0; i < COUNT_OF(odd); i++)
        for (int at = 0; at < 2; at++) {
            descriptor configs[2] = {odd[i], odd[i]};
            configs[1 - at] = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
            library.filled = 0;
            get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 2, NULL, configs);
            CHECK(library.results == 2);
            destroy(configs[1 - at]);
        }
    descriptor configs[] = {create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                            create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)};
    library.filled = -1;
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, 2, NULL, configs);
    CHECK(library.results == 1);
    const descriptor all[] = {configs[0], configs[1], used, heuristics, graph};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        destroy(all[i]);
}

static void check_odd_pack(const pack *p)
{
    descriptor plan = our_plan(), variant_pack = make_pack(p);
    uint64_t before = gdnn_routes_counted(GDNN_FWD, GDNN_REASON_VARIANT_PACK);
    CHECK(goes_to_real(plan, variant_pack));
    CHECK(gdnn_routes_counted(GDNN_FWD, GDNN_REASON_VARIANT_PACK) == before + 1);
    destroy(variant_pack);
    destroy(plan);
}

IN_CHILD(odd_packs_are_cudnns)
{
    begin("force");
    for (int i = 0; i < 3; i++) {
        pack p = example_pack();
        p.uid[i] = 'q'; /* one is missing */
        check_odd_pack(&p);
        p = example_pack();
        p.pointer[i] = NULL;
        check_odd_pack(&p);
        p = example_pack();
        p.uid[3] = p.uid[i]; /* one is there twice */
        p.pointer[3] = p.pointer[i];
        p.uids = p.pointers = 4;
        check_odd_pack(&p);
    }
    pack p = example_pack();
    p.pointers = 4;
    check_odd_pack(&p);
}

IN_CHILD(packs_with_more_than_pointers_are_cudnns)
{
    begin("force");
    descriptor plan = our_plan(), variant_pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack p = example_pack();
    int64_t uid = 'x';
    set(variant_pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, p.pointer);
    set(variant_pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, p.uid);
    /* Override shapes. */
    set(variant_pack, (cudnnBackendAttributeName_t)1010, CUDNN_TYPE_INT64, 1, &uid);
    finalize(variant_pack);
    CHECK(goes_to_real(plan, variant_pack));
    CHECK(goes_to_real(plan, NULL) && goes_to_real(plan, plan));
    destroy(variant_pack);

    /* One that is not finalised: the real library knows what to say. */
    variant_pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(variant_pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, p.pointer);
    set(variant_pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, p.uid);
    CHECK(goes_to_real(plan, variant_pack));
    destroy(variant_pack);
    destroy(plan);
}

/* Tensors that the problem does not have may be in the pack. */
IN_CHILD(packs_may_hold_more_tensors)
{
    begin("force");
    pack p = example_pack();
    p.uid[3] = 'q';
    p.pointer[3] = &p;
    p.uids = p.pointers = 4;
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    CHECK(!goes_to_real(plan, variant_pack));
    check_run();
    destroy(variant_pack);
    destroy(plan);
}

IN_CHILD(what_is_odd_about_the_memory_is_cudnns)
{
    begin("force");
    pack p = example_pack();
    p.pointer[1] = p.pointer[2]; /* y is x */
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    CHECK(goes_to_real(plan, variant_pack));
    CHECK(gdnn_routes_counted(GDNN_FWD, GDNN_REASON_ALIASED) == 1);
    destroy(variant_pack);
    destroy(plan);
}

IN_CHILD(a_handle_without_a_stream_is_cudnns)
{
    begin("force");
    const pack p = example_pack();
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    library.stream_answer = CUDNN_STATUS_BAD_PARAM;
    CHECK(goes_to_real(plan, variant_pack));
    library.stream_answer = CUDNN_STATUS_SUCCESS;
    CHECK(!goes_to_real(plan, variant_pack));
    check_run();
    destroy(variant_pack);
    destroy(plan);
}

IN_CHILD(a_launch_that_fails_is_cudnns)
{
    begin("force");
    const pack p = example_pack();
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    int before = library.executed;
    fail_next("cuLaunchKernelEx:1:701");
    CHECK(gdnn_cudnnBackendExecute(handle, plan, variant_pack) == CUDNN_STATUS_SUCCESS);
    CHECK(library.executed == before + 1);
    fail_next("");
    destroy(variant_pack);
    destroy(plan);
}

/* A plan may run where another device is the current one. */
IN_CHILD(each_device_has_its_route)
{
    begin("force");
    const pack p = example_pack();
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    const gdnn_route *route = gdnn_routes_newest();
    CUcontext popped;
    CHECK(!cu->cuCtxPopCurrent(&popped) && !cu->cuCtxPushCurrent(contexts[1]));
    CHECK(!cu->cuStreamCreate(&library.stream, CU_STREAM_NON_BLOCKING));
    m = allocate();
    const pack there = example_pack();
    descriptor other = make_pack(&there);
    CHECK(!goes_to_real(plan, other));
    check_run();
    CHECK(gdnn_routes_newest() != route && gdnn_routes_newest()->key.device == 1);
    CHECK(route->calls == 0 && gdnn_routes_newest()->calls == 1);
    CHECK(!cu->cuCtxPopCurrent(&popped));
    CHECK(goes_to_real(plan, variant_pack)); /* no context at all */
    CHECK(gdnn_routes_counted(GDNN_FWD, GDNN_REASON_NO_CONTEXT) == 1);
    destroy(other);
    destroy(variant_pack);
    destroy(plan);
}

/* Without a handle a list is cuDNN's own, and nothing is loaded. */
IN_CHILD(deviceless_lists_are_cudnns)
{
    begin("force");
    descriptor operation = make_forward(4), graph = make_graph(1, &operation),
               config = first_config(graph), plan = plan_of(config);
    const gdnn_route *route = gdnn_routes_newest();
    CHECK(route->reason == GDNN_REASON_GRAPH_PLAN && !route->functions.kernel);
    CHECK(goes_to_real(plan, NULL));
    CHECK(route->calls == 1);
    destroy(plan);
    destroy(config);
    destroy(graph);
    destroy(operation);
}

static void check_forwards(const char *mode, gdnn_reason reason)
{
    begin(mode);
    const pack p = example_pack();
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    const gdnn_route *route = gdnn_routes_newest();
    CHECK(route && route->reason == reason && !route->functions.kernel);
    CHECK(goes_to_real(plan, variant_pack) && route->calls == 1);
    destroy(variant_pack);
    destroy(plan);
}

IN_CHILD(on_needs_evidence)
{
    check_forwards("on", GDNN_REASON_NO_EVIDENCE);
}

IN_CHILD(observe_decides_as_on)
{
    check_forwards("observe", GDNN_REASON_NO_EVIDENCE);
}

IN_CHILD(what_is_disabled_is_cudnns)
{
    setenv("GROUPDNN_DISABLE", "fwd", 1);
    check_forwards("force", GDNN_REASON_DISABLED);
}

IN_CHILD(verify_runs_both)
{
    begin("verify");
    const pack p = example_pack();
    descriptor plan = our_plan(), variant_pack = make_pack(&p);
    const gdnn_route *route = gdnn_routes_newest();
    int before = library.executed;
    CHECK(gdnn_cudnnBackendExecute(handle, plan, variant_pack) == CUDNN_STATUS_SUCCESS);
    CHECK(library.executed == before + 1);
    /* The made-up library computes nothing. */
    CHECK(route->calls == 1 && route->compared == 1 && route->differed == 1);
    destroy(variant_pack);
    destroy(plan);
}

int main(int argc, char **argv)
{
    double_paths(argc, argv);
    unsetenv("GROUPDNN_TRACE");
    unsetenv("GROUPDNN_STATS");
    unsetenv("NVIDIA_TF32_OVERRIDE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marked_plan_runs_our_kernel),
        cmocka_unit_test(a_plan_has_the_handle_of_its_graph),
        cmocka_unit_test(what_is_read_back_from_our_plan_is_ours),
        cmocka_unit_test(an_engine_is_not_its_configuration),
        cmocka_unit_test(more_results_are_counted),
        cmocka_unit_test(results_that_are_cudnns_are_counted_by_cudnn),
        cmocka_unit_test(results_of_what_is_disabled_are_counted_by_cudnn),
        cmocka_unit_test(lists_with_odd_places_are_cudnns),
        cmocka_unit_test(odd_packs_are_cudnns),
        cmocka_unit_test(packs_with_more_than_pointers_are_cudnns),
        cmocka_unit_test(packs_may_hold_more_tensors),
        cmocka_unit_test(what_is_odd_about_the_memory_is_cudnns),
        cmocka_unit_test(a_handle_without_a_stream_is_cudnns),
        cmocka_unit_test(a_launch_that_fails_is_cudnns),
        cmocka_unit_test(each_device_has_its_route),
        cmocka_unit_test(deviceless_lists_are_cudnns),
        cmocka_unit_test(on_needs_evidence),
        cmocka_unit_test(observe_decides_as_on),
        cmocka_unit_test(what_is_disabled_is_cudnns),
        cmocka_unit_test(verify_runs_both),
    };
    return cmocka_run_group_tests_name("graph_execute", tests, NULL, NULL);
}
