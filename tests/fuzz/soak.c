/* Very many descriptors of plans that are ours: graphs, lists with copies, plans, variant packs,
 * launches. Nothing grows. GDNN_TEST_DESCRIPTORS says how many; ten million take half a minute. */
#include "graph_table.h"
#include "launcher.h"
#include "program.h"
#include "unit.h"
#include <malloc.h>
#include <unistd.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { CONFIGS = 4, MOST = 16 + CONFIGS };

/* Descriptors of this turn. */
static descriptor made[MOST];
static int count;
static long long all;

static descriptor make(int type)
{
    descriptor d = program_create(type);
    assert_non_null(d);
    made[count++] = d;
    all++;
    return d;
}

static void set_numbers(descriptor d, int name, int64_t numbers, const int64_t *number)
{
    program_set(d, name, CUDNN_TYPE_INT64, numbers, number);
}

static void set_word(descriptor d, int name, int type, int word)
{
    program_set(d, name, type, 1, &word);
}

static void set_one(descriptor d, int name, descriptor element)
{
    program_set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &element);
}

static void set_handle(descriptor d, int name)
{
    const uintptr_t handle = 1;
    program_set(d, name, CUDNN_TYPE_HANDLE, 1, &handle);
}

static descriptor make_tensor(int64_t uid, int64_t n, int64_t c, int64_t h, int64_t w)
{
    const int64_t size[] = {n, c, h, w}, stride[] = {c * h * w, h * w, w, 1}, alignment = 16;
    descriptor d = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_word(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_HALF);
    set_numbers(d, CUDNN_ATTR_TENSOR_DIMENSIONS, 4, size);
    set_numbers(d, CUDNN_ATTR_TENSOR_STRIDES, 4, stride);
    set_numbers(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, 1, &uid);
    set_numbers(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1, &alignment);
    program_finalize(d);
    return d;
}

static descriptor make_convolution(void)
{
    const int64_t ones[] = {1, 1}, axes = 2;
    descriptor d = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set_word(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    set_word(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
             CUDNN_CROSS_CORRELATION);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 1, &axes);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 2, ones);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 2, ones);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 2, ones);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, 2, ones);
    program_finalize(d);
    return d;
}

static descriptor make_graph(int64_t groups)
{
    descriptor x = make_tensor(1, 1, 8, 2, 3), w = make_tensor(2, 8, 8 / groups, 3, 3),
               y = make_tensor(3, 1, 8, 2, 3), convolution = make_convolution(),
               operation = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR),
               graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution);
    program_finalize(operation);
    set_handle(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
    set_one(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    program_finalize(graph);
    return graph;
}

/* The first configuration of a list with copies. */
static descriptor make_list(descriptor graph)
{
    descriptor heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), configs[CONFIGS];
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set_word(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
    program_finalize(heuristics);
    for (int i = 0; i < CONFIGS; i++)
        configs[i] = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t filled = 0;
    program_get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, CONFIGS,
                &filled, configs);
    assert_int_equal(filled, CONFIGS);
    return configs[0];
}

static descriptor make_plan(descriptor config)
{
    descriptor d = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_handle(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    set_one(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    program_finalize(d);
    return d;
}

static descriptor make_pack(void)
{
    const int64_t uids[] = {3, 1, 2};
    const uintptr_t pointers[] = {0x30000, 0x10000, 0x20000}, workspace = 0x40000;
    descriptor d = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    program_set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
    set_numbers(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 3, uids);
    program_set(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    program_finalize(d);
    return d;
}

static void execute(descriptor plan, descriptor pack)
{
    unsigned long long before = program.launches;
    program_execute((cudnnHandle_t)1, plan, pack);
    assert_int_equal(program.launches, before + 1);
}

/* Makes a plan, and another of what the first was made of; all is destroyed in an order that turns. */
static void turn(int number)
{
    descriptor plan = make_plan(make_list(make_graph(2 << number % 3))), pack = make_pack(),
               config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    execute(plan, pack);
    program_get(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                NULL, &config);
    execute(make_plan(config), pack);
    for (int i = 0; i < count; i++)
        program_destroy(made[(i + number) % count]);
    count = 0;
}

/* Bytes that malloc has given out; a sanitizer's malloc does not say. */
static size_t allocated(void)
{
    return mallinfo2().uordblks;
}

/* Bytes of memory that the process has. */
static size_t resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return (size_t)(pages * sysconf(_SC_PAGESIZE));
}

static void plans_leave_nothing(void **state)
{
    (void)state;
    const char *wanted = getenv("GDNN_TEST_DESCRIPTORS");
    const long long most = wanted ? atoll(wanted) : 1000000;
    for (int i = 0; i < 300; i++)
        turn(i);
    const size_t before = allocated(), resident_before = resident();
    for (int i = 0; all < most; i++)
        turn(i);
    print_message(
        "# %lld descriptors, %llu launches; allocated %zu and %zu, resident %zu and %zu\n", all,
        program.launches, before, allocated(), resident_before, resident());
    assert_int_equal(program.launches, program.executes);
    assert_true(program.marked >= program.executes / 2);
    program_check_end();
    /* The tables of addresses are made at need and kept. */
    if (allocated() > before + 64 * 1024)
        fail_msg("%zu bytes more than before", allocated() - before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_leave_nothing)};
    setenv("GROUPDNN_MODE", "force", 1);
    unsetenv("GROUPDNN_TRACE");
    unsetenv("GROUPDNN_STATS");
    library.lists = 3;
    return cmocka_run_group_tests_name("graph_soak_plans", tests, NULL, NULL);
}
