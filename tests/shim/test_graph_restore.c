/* Plans that were restored from cuDNN's text, on the double of the driver: the graph of the text is known as the
 * program's own would be. */
#include "double_fixture.h"
#include "graph_library.h"
#include "plan_texts.h"

typedef cudnnBackendDescriptor_t descriptor;

static const cudnnHandle_t handle = (cudnnHandle_t)7;

static descriptor restore(const char *text, bool with_handle)
{
    descriptor plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    library.text = text;
    if (with_handle)
        set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, (int64_t)strlen(text),
        text);
    finalize(plan);
    return plan;
}

static descriptor part(descriptor from, cudnnBackendAttributeName_t name,
                       cudnnBackendDescriptorType_t type)
{
    descriptor to = create(type);
    int64_t count;
    get(from, name, 1, &count, &to);
    destroy(from);
    return to;
}

/* Where a configuration comes from that the heuristics gave for the graph of the plan's engine. */
static gdnn_graph_origin origin_in_list(descriptor plan)
{
    descriptor config = part(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                             CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
               engine = part(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR),
               graph = part(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                            CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR),
               heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    finalize(heuristics);
    destroy(graph);
    config = part(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    gdnn_graph_origin origin;
    gdnn_graph_shared_drop(gdnn_graph_hold(config, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &origin));
    destroy(config);
    return origin;
}

static void begin(void)
{
    setenv("GROUPDNN_MODE", "force", 1);
    graph_library_reset();
    open_devices(1);
}

IN_CHILD(every_text_is_a_problem)
{
    begin();
    for (int i = 0; i < PLAN_TEXTS; i++) {
        descriptor plan = restore(plan_texts[i].text, true);
        gdnn_graph_fate fate = gdnn_graph_fate_of(plan);
        const gdnn_graph_problem *problem = &plan_texts[i].problem;
        CHECK(fate.convolution && fate.route);
        CHECK(fate.route->key.device == 0 && fate.route->reason == GDNN_REASON_GRAPH_PLAN);
        CHECK(fate.dir == problem->conv.dir && fate.route->key.conv.groups == problem->conv.groups);
        CHECK(fate.x == problem->x && fate.w == problem->w && fate.y == problem->y);
        CHECK(fate.z == problem->z && fate.bias == problem->bias);
        destroy(plan);
    }
}

IN_CHILD(its_graph_has_the_handle_of_the_plan)
{
    begin();
    const char *text = plan_text_of("pytorch");
    CHECK(origin_in_list(restore(text, true)) == GDNN_GRAPH_MARKED);
    CHECK(origin_in_list(restore(text, false)) == GDNN_GRAPH_LISTED);
}

IN_CHILD(other_texts_are_no_problem)
{
    begin();
    const char *const texts[] = {"{}", "", "[1, 2", "{\"operationGraph\": {}}"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        descriptor plan = restore(texts[i], true);
        CHECK(!gdnn_graph_fate_of(plan).convolution);
        destroy(plan);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        printf("Bail out! usage: %s DOUBLE OLD_DRIVER TEXTS\n", argv[0]);
        return 1;
    }
    double_paths(argc - 1, argv);
    plan_texts_load(argv[3]);
    unsetenv("GROUPDNN_TRACE");
    unsetenv("GROUPDNN_STATS");
    unsetenv("NVIDIA_TF32_OVERRIDE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_is_a_problem),
        cmocka_unit_test(its_graph_has_the_handle_of_the_plan),
        cmocka_unit_test(other_texts_are_no_problem),
    };
    int failed = cmocka_run_group_tests_name("graph_restore", tests, NULL, NULL);
    plan_texts_free();
    return failed;
}
