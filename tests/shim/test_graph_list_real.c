/* The lists of NVIDIA's cuDNN, without a device, as they come and as they are changed. */
#include "graph_list.h"
#include "problem.h"
#include "real_graphs.h"
#include "text.h"
#include <time.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { MOST = 256, NOTES = 10, MODES = 3, TENSOR_CORE = 1 << 0 };

static const cudnnBackendHeurMode_t modes[MODES] = {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A,
                                                    CUDNN_HEUR_MODE_FALLBACK};
static const char *const mode_names[MODES] = {"B", "A", "FALLBACK"};

static const char *const shapes[] = {
    "n=4 c=64 in=14x14 k=64 filter=3x3 pad=1 groups=8",
    "n=8 c=32 in=28x28 k=32 filter=3x3 pad=1 groups=32",
    "n=2 c=64 in=20x24 k=64 filter=3x3 pad=2 dilation=2 groups=16",
    "n=2 c=64 in=28x28 k=64 filter=5x5 pad=2 stride=2 groups=64",
    "n=16 c=128 in=7x7 k=256 filter=3x3 pad=1 groups=4",
};
static const char *const types[] = {"dtype=f16 layout=nhwc", "dtype=bf16 layout=nhwc",
                                    "dtype=f32 layout=nchw", "dtype=f64 layout=nchw"};
static const char *const directions[] = {"fwd", "bwd_data", "bwd_filter"};

/* A list as cuDNN gives it. */
typedef struct list {
    int64_t most, configs;
    gdnn_graph_config config[MOST];
    int64_t workspace[MOST];
} list;

static list lists[MODES];

/* Of one mode over all graphs: milliseconds of a list as it is and as it is changed, and what the changes are. */
static struct measured {
    int count;
    double plain[64], changed[64];
    int in_front, in_place;
} measured[MODES];

static int rebuilt, plans;

typedef struct program {
    gdnn_graph_chooser chooser;
    unsigned refused;
    int told;
    descriptor config[MOST];
    bool ours[MOST];
} program;

/* Refuses the notes `refused`, all of them together; ~0: nothing. */
static bool takes(void *context, unsigned notes)
{
    return notes != ((const program *)context)->refused;
}

static void filled(void *context, descriptor config, bool ours)
{
    program *p = context;
    assert_true(p->told < MOST);
    p->config[p->told] = config;
    p->ours[p->told++] = ours;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void make_configs(descriptor *configs, int64_t count)
{
    assert_true(count <= MOST);
    for (int64_t i = 0; i < count; i++)
        configs[i] = real_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

static void drop_configs(descriptor *configs, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        real_destroy(configs[i]);
}

static int64_t workspace_of(descriptor config)
{
    int64_t bytes = -1, count = 0;
    assert_int_equal(GDNN_REAL(cudnnBackendGetAttribute)(config,
                                                         CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE,
                                                         CUDNN_TYPE_INT64, 1, &count, &bytes),
                     CUDNN_STATUS_SUCCESS);
    return bytes;
}

static cudnnStatus_t results(descriptor heuristics, int64_t requested, int64_t *count,
                             descriptor *configs)
{
    return GDNN_REAL(cudnnBackendGetAttribute)(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                               CUDNN_TYPE_BACKEND_DESCRIPTOR, requested, count,
                                               configs);
}

static void read_list(descriptor graph, int mode)
{
    list *l = &lists[mode];
    descriptor configs[MOST], heuristics = real_heuristics(graph, modes[mode]);
    assert_int_equal(results(heuristics, 0, &l->most, NULL), CUDNN_STATUS_SUCCESS);
    make_configs(configs, l->most);
    double begin = now();
    assert_int_equal(results(heuristics, l->most, &l->configs, configs), CUDNN_STATUS_SUCCESS);
    measured[mode].plain[measured[mode].count] = now() - begin;
    for (int64_t i = 0; i < l->configs; i++) {
        assert_true(gdnn_graph_config_read(configs[i], &l->config[i]));
        l->workspace[i] = workspace_of(configs[i]);
    }
    drop_configs(configs, l->most);
    real_destroy(heuristics);
}

/* Whether some filter lets configuration `at` through first: all are tried. */
static bool wins(const list *l, int64_t at)
{
    for (unsigned filter = 0; filter < 1u << NOTES; filter++) {
        int64_t first = 0;
        while (first < l->configs && l->config[first].notes & filter)
            first++;
        if (first == at)
            return true;
    }
    return false;
}

static void is_config(descriptor config, const list *l, int64_t at)
{
    gdnn_graph_config facts;
    assert_true(gdnn_graph_config_read(config, &facts));
    assert_true(gdnn_graph_config_same(&facts, &l->config[at]));
    assert_int_equal(facts.notes, l->config[at].notes);
    assert_int_equal(workspace_of(config), l->workspace[at]);
}

/* A plan can be made of it, and is of that engine with these knobs. */
static void is_good_for_a_plan(descriptor config, const list *l, int64_t at)
{
    descriptor plan;
    assert_int_equal(real_plan(config, &plan), CUDNN_STATUS_SUCCESS);
    descriptor of = gdnn_graph_part(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    is_config(of, l, at);
    gdnn_graph_part_drop(of);
    real_destroy(plan);
    plans++;
}

/* Of each filter, the first that it lets through is ours, if its notes are taken, and nothing else is. `is` says which
 * of cuDNN's each is. */
static void filters_find_ours(program *p, const list *l, const int64_t *is)
{
    bool is_first[MOST] = {false};
    for (unsigned filter = 0; filter < 1u << NOTES; filter++) {
        int first = 0;
        while (first < p->told && l->config[is[first]].notes & filter)
            first++;
        if (first == p->told)
            continue;
        is_first[first] = true;
        assert_int_equal(p->ours[first], takes(p, l->config[is[first]].notes));
    }
    for (int i = 0; i < p->told; i++)
        assert_true(is_first[i] || !p->ours[i]);
}

/* The changed list of one mode, for a program that has room for `requested`. Every place must be what it should be. */
static void change(descriptor graph, int mode, unsigned refused, int64_t requested, bool measures)
{
    const list *l = &lists[mode];
    struct measured *m = &measured[mode];
    program p = {.chooser = {&p, takes}, .refused = refused};
    descriptor configs[MOST], heuristics = real_heuristics(graph, modes[mode]);
    int64_t count = -1, is[MOST], expected = 0;
    make_configs(configs, requested);
    double begin = now();
    assert_int_equal(
        gdnn_graph_list_get(heuristics, requested, &count, configs, true, &p.chooser, filled),
        CUDNN_STATUS_SUCCESS);
    if (measures)
        m->changed[m->count] = now() - begin;

    const bool front = requested > 1 && l->configs &&
                       takes(&p, takes(&p, 0) == takes(&p, TENSOR_CORE) ? 0 : l->config[0].notes);
    if (front)
        is[expected++] = 0;
    for (int64_t i = 0; i < l->configs && expected < requested; i++)
        is[expected++] = i;
    const int64_t end = expected;
    for (int64_t i = 2 * front; i < end && expected < requested; i++)
        if (wins(l, is[i]) && takes(&p, l->config[is[i]].notes))
            is[expected++] = is[i];
    assert_int_equal(count, expected);
    assert_int_equal(p.told, expected);
    for (int64_t i = 0; i < count; i++) {
        assert_ptr_equal(p.config[i], configs[i]);
        is_config(configs[i], l, is[i]);
    }
    filters_find_ours(&p, l, is);

    if (measures && front) {
        is_good_for_a_plan(configs[0], l, 0);
        m->in_front++;
    }
    if (measures)
        m->in_place += (int)(count - end);
    drop_configs(configs, requested);
    real_destroy(heuristics);
}

/* By the first list that holds the configuration. */
static bool should_choose(const gdnn_graph_config *facts)
{
    for (int mode = 0; mode < MODES; mode++)
        for (int64_t i = 0; i < lists[mode].configs; i++)
            if (gdnn_graph_config_same(&lists[mode].config[i], facts))
                return wins(&lists[mode], i);
    return false;
}

/* Every configuration of every list, made by the program itself from engine and knobs. */
static void rebuild(descriptor graph)
{
    gdnn_graph_lists kept;
    program p = {.chooser = {&p, takes}, .refused = ~0u};
    gdnn_graph_lists_begin(&kept);
    for (int mode = 0; mode < MODES; mode++) {
        descriptor configs[MOST], heuristics = real_heuristics(graph, modes[mode]);
        int64_t count = 0;
        struct measured *m = &measured[mode];
        make_configs(configs, lists[mode].most);
        double begin = now();
        assert_int_equal(results(heuristics, lists[mode].most, &count, configs),
                         CUDNN_STATUS_SUCCESS);
        /* Before the changed list and behind it. */
        m->plain[m->count] = (m->plain[m->count] + now() - begin) / 2;
        m->count++;
        real_destroy(heuristics);
        for (int64_t i = 0; i < count; i++) {
            descriptor made = real_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
            assert_true(gdnn_graph_config_clone(configs[i], made));
            assert_int_equal(gdnn_graph_lists_choose(&kept, made, &p.chooser),
                             should_choose(&lists[mode].config[i]));
            rebuilt++;
            real_destroy(made);
        }
        drop_configs(configs, lists[mode].most);
    }
    gdnn_graph_lists_end(&kept);
}

static void of_problem(const char *line)
{
    gdnn_text text;
    gdnn_conv conv;
    bool empty;
    assert_int_equal(gdnn_text_parse(line, &text, &empty), GDNN_OK);
    assert_int_equal(gdnn_text_finish(&text, &conv), GDNN_OK);
    descriptor graph = real_graph(&conv);
    for (int mode = 0; mode < MODES; mode++) {
        read_list(graph, mode);
        const int64_t most = gdnn_graph_list_most(lists[mode].most);
        change(graph, mode, ~0u, most, true);
        change(graph, mode, lists[mode].config[0].notes, most, false);
        change(graph, mode, ~0u, 2, false);
        change(graph, mode, ~0u, 1, false);
    }
    rebuild(graph);
    real_destroy(graph);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static const char *library;

static void lists_of_grouped_graphs(void **state)
{
    (void)state;
    real_graphs_open(library);
    for (size_t s = 0; s < COUNT_OF(shapes); s++)
        for (size_t t = 0; t < COUNT_OF(types); t++)
            for (size_t d = 0; d < COUNT_OF(directions); d++) {
                char line[256];
                snprintf(line, sizeof line, "%s %s dir=%s", shapes[s], types[t], directions[d]);
                of_problem(line);
            }
    for (int mode = 0; mode < MODES; mode++) {
        struct measured *m = &measured[mode];
        print_message("# %s: %d lists; %d with ours in front, %d more in place; "
                      "median as it is %.3f ms, changed %.3f ms\n",
                      mode_names[mode], m->count, m->in_front, m->in_place,
                      median(m->plain, m->count), median(m->changed, m->count));
    }
    print_message("# %d rebuilt configurations, %d plans\n", rebuilt, plans);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        printf("Bail out! usage: %s CUDNN\n", argv[0]);
        return 1;
    }
    library = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_of_grouped_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
