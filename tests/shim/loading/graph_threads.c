/* The graph interface from many threads at once, with ThreadSanitizer in the drop-in's sources, on the double of the
 * driver and a made-up cuDNN: a plan that all share, plans that one thread makes and another executes and destroys, and
 * descriptors that come and go. Each thread has its handle, stream, memory and variant pack.
 * Arguments: the double, and `race` to have a race that must be reported. The mode is that of the environment. */
#include "api.h"
#include "double_fixture.h"
#include "graph_library.h"
#include "graph_table.h"
#include "options.h"
#include <pthread.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { THREADS = 32, ROUNDS = 8, OTHERS = 30, EXECUTES = 3 };

/* A thread's own; its handle is the address of this. */
typedef struct worker {
    CUstream stream;
    memory data;
    descriptor pack;
} worker;

static pthread_barrier_t together;
static worker workers[THREADS];
static descriptor shared_plan;
static _Atomic descriptor passed_on;
static bool races;
static int unguarded;

static CUstream stream_of(cudnnHandle_t handle)
{
    return handle ? ((worker *)(void *)handle)->stream : NULL;
}

static cudnnStatus_t get_stream(cudnnHandle_t handle, CUstream *stream)
{
    *stream = stream_of(handle);
    return CUDNN_STATUS_SUCCESS;
}

/* What cuDNN would compute: the example of the fixture. */
static cudnnStatus_t execute(cudnnHandle_t handle, descriptor plan, descriptor pack)
{
    static const float y[8] = {10, 20, 30, 40, -5, -6, -7, -8};
    const worker *w = (const void *)handle;
    (void)plan, (void)pack;
    library.executed++;
    CHECK(!cu->cuMemcpyHtoDAsync(w->data.y, y, sizeof y, w->stream));
    return CUDNN_STATUS_SUCCESS;
}

void *__real_gdnn_real(gdnn_api which);
void *__wrap_gdnn_real(gdnn_api which);

/* The made-up library has one stream for all handles, and computes nothing. */
void *__wrap_gdnn_real(gdnn_api which)
{
    return which == GDNN_API_cudnnGetStream        ? (void *)get_stream
           : which == GDNN_API_cudnnBackendExecute ? (void *)execute
                                                   : __real_gdnn_real(which);
}

/* The graph of the fixture's example, with a handle. */
static descriptor make_example(const worker *w)
{
    const void *handle = w;
    descriptor parts[] = {make_tensor('x', 1, 2, 2, 2), make_tensor('w', 2, 1, 1, 1),
                          make_tensor('y', 1, 2, 2, 2), make_convolution_padded(0)},
               operation = create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR),
               graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, parts[0]);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, parts[1]);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, parts[2]);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, parts[3]);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        destroy(parts[i]);
    finalize(operation);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_one(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    finalize(graph);
    destroy(operation);
    return graph;
}

static descriptor make_plan_of(const worker *w, descriptor config)
{
    const void *handle = w;
    descriptor plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finalize(plan);
    return plan;
}

/* A plan of the first configuration of its list, and a configuration that lives on. */
static descriptor make_example_plan(const worker *w, descriptor *config)
{
    descriptor graph = make_example(w), heuristics = create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR),
               configs[] = {create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
                            create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)};
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    finalize(heuristics);
    destroy(graph);
    get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, COUNT_OF(configs), NULL, configs);
    destroy(heuristics);
    descriptor plan = make_plan_of(w, configs[0]);
    destroy(configs[0]);
    *config = configs[1];
    return plan;
}

/* Another plan of what the plan was made of, which is destroyed. */
static descriptor remake(const worker *w, descriptor plan)
{
    descriptor config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    get(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 1, NULL, &config);
    destroy(plan);
    plan = make_plan_of(w, config);
    destroy(config);
    return plan;
}

static descriptor make_pack(const worker *w)
{
    static const int64_t uids[] = {'y', 'x', 'w'};
    const gdnn_tensors t = tensors_of(&w->data);
    void *const pointers[] = {t.y, t.x, t.w}, *workspace = NULL;
    descriptor pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
    set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids);
    set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finalize(pack);
    return pack;
}

/* Others write and read their own memory meanwhile. */
static void run(worker *w, descriptor plan)
{
    static const float nothing[8];
    CHECK(!cu->cuMemcpyHtoDAsync(w->data.y, nothing, sizeof nothing, w->stream));
    CHECK(gdnn_cudnnBackendExecute((cudnnHandle_t)(void *)w, plan, w->pack) ==
          CUDNN_STATUS_SUCCESS);
    CHECK(!cu->cuStreamSynchronize(w->stream));
    check_result(&w->data);
}

static void come_and_go(int i)
{
    descriptor tensor = make_tensor(i, 1 + i % 3, 2, 2, 2),
               pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    destroy(i % 2 ? tensor : pack);
    destroy(i % 2 ? pack : tensor);
}

static void *work(void *own)
{
    worker *w = own;
    CHECK(!cu->cuCtxPushCurrent(contexts[0]));
    CHECK(!cu->cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING));
    w->data = allocate();
    w->pack = make_pack(w);
    pthread_barrier_wait(&together);
    if (races)
        unguarded++;
    for (int round = 0; round < ROUNDS; round++) {
        descriptor config, plan = make_example_plan(w, &config);
        run(w, shared_plan);
        run(w, plan);
        plan = atomic_exchange(&passed_on, plan);
        if (plan) {
            plan = remake(w, plan);
            run(w, plan);
            destroy(plan);
        }
        destroy(config);
        for (int i = 0; i < OTHERS; i++)
            come_and_go(i);
    }
    destroy(w->pack);
    return NULL;
}

/* All plans are of one problem, and ours. */
static void check_counts(void)
{
    uint64_t (*launches)(void) = double_symbol("gdnn_fake_launches");
    const int runs = THREADS * ROUNDS * EXECUTES - 1; /* one plan was never passed on to anybody */
    const gdnn_run_mode mode = gdnn_options_get()->mode;
    const bool ours = mode == GDNN_MODE_FORCE || mode == GDNN_MODE_VERIFY;
    const gdnn_route *route = gdnn_routes_newest();
    CHECK(route && !route->next && route->calls == (uint64_t)runs);
    CHECK(library.executed == (mode == GDNN_MODE_FORCE ? 0 : runs));
    CHECK(launches() == (ours ? (uint64_t)runs : 0));
    CHECK(mode != GDNN_MODE_VERIFY || (route->compared == (uint64_t)runs && route->differed == 0));
    CHECK(gdnn_graph_table_entries() == 0 && !library.seen_at_destroy);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc < 2)
        return 2;
    driver_path = argv[1];
    races = argc > 2 && !strcmp(argv[2], "race");
    graph_library_reset();
    library.type = CUDNN_DATA_FLOAT;
    library.workspace = 0;
    library.reuses = true;
    open_devices(1);
    descriptor config;
    shared_plan = make_example_plan(&workers[0], &config);
    destroy(config);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, work, &workers[i]));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    destroy(shared_plan);
    destroy(atomic_exchange(&passed_on, NULL));
    check_counts();
    graph_library_reset();
    return 0;
}
