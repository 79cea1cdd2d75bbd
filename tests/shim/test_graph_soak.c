/* Very many descriptors, and very many threads: nothing grows, nothing is torn, nobody waits for ever. */
#include "child.h"
#include "driver.h"
#include "graph_library.h"
#include "graph_table.h"
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { THREADS = 32 };

static int setup(void **state)
{
    (void)state;
    graph_library_reset();
    return 0;
}

/* What is set or filled twice gives up what it had. */
static void make_and_run_a_plan(void)
{
    descriptor operation = make_forward(4), graph = make_graph(1, &operation),
               engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
               config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    destroy(operation);
    set_one(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    set_one(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    destroy(engine);
    descriptor plan = make_plan(graph);
    get(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 1, NULL, &config);
    get(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 1, NULL, &config);
    destroy(config);
    assert_int_equal(gdnn_cudnnBackendExecute(NULL, plan, NULL), CUDNN_STATUS_SUCCESS);
    destroy(plan);
}

/* Bytes that malloc has given out; a sanitizer's malloc does not say. */
static size_t allocated(void)
{
    return mallinfo2().uordblks;
}

static void a_million_descriptors_leave_nothing(void **state)
{
    (void)state;
    make_and_run_a_plan();
    for (int i = 0; i < 1000; i++)
        destroy(create(CUDNN_BACKEND_TENSOR_DESCRIPTOR));
    size_t before = allocated();
    for (int i = 0; i < 20000; i++)
        make_and_run_a_plan();
    for (int i = 0; i < 800000; i++)
        destroy(create(i % 2 ? CUDNN_BACKEND_TENSOR_DESCRIPTOR
                             : CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR));
    assert_int_equal(gdnn_graph_table_entries(), 0);
    /* The tables of addresses are made at need and kept. */
    if (allocated() > before + 64 * 1024)
        fail_msg("%zu bytes more than before", allocated() - before);
}

/* Programs do not do this, but what they do is among it: every thread sets, gets, finalises, destroys and executes the
 * same few descriptors of all types with elements of all sorts. */
static char places[64];

static descriptor any_place(uint64_t *random)
{
    return &places[test_pick(random, 0, COUNT_OF(places) - 1)];
}

static void any_call(uint64_t *random)
{
    static const short names[] = {0,   1,   3,    100,  101,  102,  105,  106, 201, 202, 300,
                                  400, 401, 407,  700,  702,  703,  704,  705, 710, 715, 750,
                                  751, 752, 755,  800,  801,  803,  901,  902, 903, 904, 906,
                                  907, 913, 1000, 1001, 1003, 1010, 1300, 405};
    static const signed char types[] = {0, 1, 2, 3, 4, 5, 6, 7, 14, 15, 15, 15, 15, 20};
    descriptor d = any_place(random), elements[10];
    int64_t count = test_pick(random, -1, 10);
    cudnnBackendAttributeName_t name =
        (cudnnBackendAttributeName_t)names[test_pick(random, 0, COUNT_OF(names) - 1)];
    cudnnBackendAttributeType_t type =
        (cudnnBackendAttributeType_t)types[test_pick(random, 0, COUNT_OF(types) - 1)];
    for (size_t i = 0; i < COUNT_OF(elements); i++)
        elements[i] = any_place(random);
    if (test_pick(random, 0, 1))
        count = 1;
    gdnn_graph graph;
    gdnn_graph_fate fate;
    gdnn_graph_pack pack;
    gdnn_graph_parts parts;
    switch (test_pick(random, 0, 9)) {
    case 0: gdnn_graph_created((cudnnBackendDescriptorType_t)test_pick(random, 0, 20), d); break;
    case 1: gdnn_graph_forget(d); break;
    case 2:
        if (gdnn_graph_finalized(d, &parts))
            gdnn_graph_plan_made(d, &parts);
        break;
    case 3:
        fate = gdnn_graph_fate_of(d);
        gdnn_graph_plan_count(&fate);
        break;
    case 4:
        test_pick(random, 0, 1) ? gdnn_graph_of(d, &graph) : gdnn_graph_pack_of(d, &pack);
        break;
    case 5:
        gdnn_graph_got(d, name, type, count, test_pick(random, 0, 1) ? &count : NULL,
                       test_pick(random, 0, 7) ? elements : NULL);
        break;
    default: gdnn_graph_set(d, name, type, count, test_pick(random, 0, 7) ? elements : NULL); break;
    }
}

static void clear_places(void)
{
    for (size_t i = 0; i < COUNT_OF(places); i++)
        gdnn_graph_forget(&places[i]);
}

static uint64_t seed;
static descriptor shared_plan;
static void *_Atomic passed_on;

/* Its own graphs, a plan that all share, and plans that others made and that it destroys. */
static void *use_plans(void *number)
{
    uint64_t random = seed + (uint64_t)(uintptr_t)number;
    for (int i = 0; i < 60; i++) {
        descriptor operation = make_forward(1 << test_pick(&random, 0, 3)),
                   plan = make_plan(make_graph(1, &operation));
        destroy(operation);
        gdnn_cudnnBackendExecute(NULL, shared_plan, NULL);
        gdnn_cudnnBackendExecute(NULL, plan, NULL);
        plan = atomic_exchange(&passed_on, plan);
        if (plan) {
            gdnn_cudnnBackendExecute(NULL, plan, NULL);
            destroy(plan);
        }
        for (int n = 0; n < 300; n++)
            any_call(&random);
    }
    return NULL;
}

static uint64_t calls_of_routes(void)
{
    uint64_t calls = 0;
    for (const gdnn_route *route = gdnn_routes_newest(); route; route = route->next)
        calls += atomic_load(&route->calls);
    return calls;
}

static void many_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    descriptor operation = make_forward(16);
    shared_plan = make_plan(make_graph(1, &operation));
    const gdnn_route *route = gdnn_routes_newest();
    assert_int_equal(route->key.conv.groups, 16);
    destroy(operation);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, use_plans, (void *)(uintptr_t)t), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(route->calls, THREADS * 60);
    assert_int_equal(library.executed, THREADS * 60 * 3 - 1);
    assert_true(calls_of_routes() + gdnn_routes_counted(GDNN_FWD, GDNN_REASON_NOT_GROUPED) >=
                THREADS * 60 * 3 - 1);
    destroy(shared_plan);
    destroy(atomic_exchange(&passed_on, NULL));
    clear_places();
    assert_int_equal(gdnn_graph_table_entries(), 0);
    assert_false(library.seen_at_destroy);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#ifndef SANITIZED /* a sanitizer's allocator does not know forks: a child finds it locked for ever */
static _Atomic bool stop;

static void *storm(void *number)
{
    uint64_t random = seed + (uint64_t)(uintptr_t)number;
    while (!atomic_load(&stop))
        any_call(&random);
    return NULL;
}

/* Each child finds a table that it can use, whatever the other threads were doing. */
static void forks_in_a_storm(void **state)
{
    (void)state;
    enum { STORMS = 4, FORKS = 40 };
    pthread_t threads[STORMS];
    for (int t = 0; t < STORMS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, storm, (void *)(uintptr_t)t), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (!child) {
            alarm(30);
            uint64_t random = seed + (uint64_t)i;
            for (int n = 0; n < 3000; n++)
                any_call(&random);
            clear_places();
            _exit(gdnn_graph_table_entries() != 0);
        }
        assert_int_equal(child_wait(child), 0);
    }
    atomic_store(&stop, true);
    for (int t = 0; t < STORMS; t++)
        pthread_join(threads[t], NULL);
    clear_places();
    assert_int_equal(gdnn_graph_table_entries(), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_million_descriptors_leave_nothing, setup),
        cmocka_unit_test_setup(many_threads, setup),
#ifndef SANITIZED
        cmocka_unit_test_setup(forks_in_a_storm, setup),
#endif
    };
    seed = test_seed();
    unsetenv("GROUPDNN_TRACE");
    unsetenv("GROUPDNN_STATS");
    gdnn_driver_use("/nonexistent/libcuda.so.1");
    int failed = cmocka_run_group_tests_name("graph_soak", tests, NULL, NULL);
    graph_library_reset();
    return failed;
}
