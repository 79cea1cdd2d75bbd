/* The heuristics' lists and which of their configurations are ours, on a library that is made up. The rule is checked
 * by what it is for: every filter on numerical notes is tried. */
#include "list_program.h"

typedef cudnnBackendDescriptor_t descriptor;

enum { MODE = CUDNN_HEUR_MODE_B };

static void make_configs(descriptor *configs, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        configs[i] = list_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

static void drop_configs(descriptor *configs, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        list_destroy(configs[i]);
}

static cudnnStatus_t get(program *p, int64_t requested, int64_t *count, descriptor *configs,
                         bool changes)
{
    descriptor heuristics = list_heuristics(MODE);
    cudnnStatus_t status = gdnn_graph_list_get(heuristics, requested, count, configs, changes,
                                               &p->chooser, program_filled);
    list_destroy(heuristics);
    return status;
}

/* Whether what was told is the first `count` of `configs`, each once and in order. */
static void told_all(const program *p, const descriptor *configs, int64_t count)
{
    assert_int_equal(p->told, count);
    for (int64_t i = 0; i < count; i++) {
        assert_ptr_equal(p->config[i], configs[i]);
        assert_non_null(list_look(configs[i]));
    }
}

/* cuDNN's own configurations that are not ours: all of the list as far as there is room, in its order. Copies of those
 * that are ours in place may stand behind. */
static void originals_are_there(const program *p, int64_t front, int64_t count)
{
    const int64_t all = library.list[MODE].configs;
    for (int64_t i = 0; i < count - front && i < all; i++)
        assert_true(list_same(list_look(p->config[front + i]), &library.list[MODE].config[i]));
    bool has_copy[LIST_MOST] = {false};
    for (int64_t i = front + all; i < count; i++) {
        int64_t of = 0;
        while (of < all && (has_copy[of] || !p->ours[front + of] ||
                            !list_same(list_look(p->config[i]), &library.list[MODE].config[of])))
            of++;
        assert_true(of < all);
        has_copy[of] = true;
        assert_false(p->ours[i]);
    }
}

/* Of each filter, the first that it lets through is ours, if its notes are taken, and nothing else is. */
static void filters_find_ours(const program *p)
{
    bool is_first[ROOM] = {false};
    for (unsigned filter = 0; filter < 1u << NOTES; filter++) {
        if (filter & STRICT_NAN)
            continue;
        int first = 0;
        while (first < p->told && list_notes(list_look(p->config[first])) & filter)
            first++;
        if (first == p->told)
            continue;
        is_first[first] = true;
        assert_int_equal(p->ours[first],
                         program_takes((void *)p, list_notes(list_look(p->config[first]))));
    }
    for (int i = 0; i < p->told; i++)
        assert_true(is_first[i] || !p->ours[i]);
}

static void room_for_more(void **state)
{
    (void)state;
    assert_int_equal(gdnn_graph_list_most(0), 0);
    assert_int_equal(gdnn_graph_list_most(1), 5);
    assert_int_equal(gdnn_graph_list_most(83), 87);
}

static void lists_are_changed(void **state)
{
    (void)state;
    enum { REQUESTED = 13 };
    /* Engine and ours, of each. */
    static const int whole[][2] = {{1, 1}, {1, 0}, {1, 0}, {2, 1}, {2, 0}, {3, 1}, {3, 0},
                                   {4, 1}, {4, 0}, {5, 0}, {2, 0}, {3, 0}, {4, 0}};
    program p;
    descriptor configs[REQUESTED];
    int64_t count = -1;
    list_add_four(MODE);
    make_configs(configs, REQUESTED);
    assert_int_equal(get(program_begin(&p), REQUESTED, &count, configs, true),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, REQUESTED);
    told_all(&p, configs, count);
    for (int i = 0; i < REQUESTED; i++) {
        assert_int_equal(list_look(configs[i])->engine, whole[i][0]);
        assert_int_equal(p.ours[i], whole[i][1]);
        /* Copies are made but where cuDNN filled. */
        assert_int_equal(list_was_filled(configs[i]), i > 0 && i < 10);
    }
    assert_int_equal(library.reads, 1);
    drop_configs(configs, REQUESTED);
}

static void lists_are_left_alone(void **state)
{
    (void)state;
    enum { REQUESTED = 13 };
    static const int ours[] = {1, 0, 1, 0, 1, 0, 1, 0, 0};
    program p;
    descriptor configs[REQUESTED];
    int64_t count = -1;
    list_add_four(MODE);
    make_configs(configs, REQUESTED);
    assert_int_equal(get(program_begin(&p), REQUESTED, &count, configs, false),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 9);
    told_all(&p, configs, count);
    for (int i = 0; i < count; i++) {
        assert_true(list_same(list_look(configs[i]), &library.list[MODE].config[i]));
        assert_int_equal(p.ours[i], ours[i]);
    }
    assert_int_equal(library.reads, 1);
    assert_int_equal(library.calls, 1 + 9 * 4);
    drop_configs(configs, REQUESTED);
}

static void one_is_marked(void **state)
{
    (void)state;
    list_add_four(MODE);
    for (int changes = 0; changes < 2; changes++) {
        program p;
        descriptor config;
        int64_t count = -1;
        make_configs(&config, 1);
        assert_int_equal(get(program_begin(&p), 1, &count, &config, changes), CUDNN_STATUS_SUCCESS);
        assert_int_equal(count, 1);
        told_all(&p, &config, 1);
        assert_true(p.ours[0]);
        assert_true(list_was_filled(config));
        assert_int_equal(library.calls, (changes + 1) * (1 + 4));
        drop_configs(&config, 1);
    }
}

/* The first of the list is not taken, and others are: nothing is put in front. */
static void a_first_that_is_not_taken(void **state)
{
    (void)state;
    enum { REQUESTED = 13 };
    static const int whole[][2] = {{1, 0}, {1, 0}, {2, 0}, {2, 0}, {3, 1}, {3, 0},
                                   {4, 1}, {4, 0}, {5, 0}, {3, 0}, {4, 0}};
    program p;
    descriptor configs[REQUESTED];
    int64_t count = -1;
    list_add_four(MODE);
    make_configs(configs, REQUESTED);
    program_begin(&p);
    p.refuses[p.refused++] = TENSOR_CORE | NONDETERMINISTIC;
    p.refuses[p.refused++] = TENSOR_CORE;
    assert_int_equal(get(&p, REQUESTED, &count, configs, true), CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, COUNT_OF(whole));
    told_all(&p, configs, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(list_look(configs[i])->engine, whole[i][0]);
        assert_int_equal(p.ours[i], whole[i][1]);
    }
    assert_int_equal(library.reads, 1);
    drop_configs(configs, REQUESTED);
}

/* It is not taken for another reason than tensor cores: then it stands there twice, and neither is ours. */
static void a_first_that_is_not_taken_after_all(void **state)
{
    (void)state;
    enum { REQUESTED = 13 };
    program p;
    descriptor configs[REQUESTED];
    int64_t count = -1;
    list_add_four(MODE);
    make_configs(configs, REQUESTED);
    program_begin(&p);
    p.refuses[p.refused++] = TENSOR_CORE | NONDETERMINISTIC;
    assert_int_equal(get(&p, REQUESTED, &count, configs, true), CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, REQUESTED);
    told_all(&p, configs, count);
    assert_false(p.ours[0]);
    assert_true(list_same(list_look(configs[0]), list_look(configs[1])));
    originals_are_there(&p, 1, count);
    filters_find_ours(&p);
    drop_configs(configs, REQUESTED);
}

static void nothing_is_taken(void **state)
{
    (void)state;
    enum { REQUESTED = 13 };
    program p;
    descriptor configs[REQUESTED];
    int64_t count = -1;
    list_add_four(MODE);
    make_configs(configs, REQUESTED);
    program_begin(&p)->refuses_all = true;
    assert_int_equal(get(&p, REQUESTED, &count, configs, true), CUDNN_STATUS_SUCCESS);
    assert_int_equal(count, 9);
    told_all(&p, configs, count);
    for (int i = 0; i < count; i++)
        assert_false(p.ours[i]);
    originals_are_there(&p, 0, count);
    drop_configs(configs, REQUESTED);
}

static void an_empty_list(void **state)
{
    (void)state;
    for (int changes = 0; changes < 2; changes++) {
        program p;
        descriptor configs[3];
        int64_t count = -1;
        make_configs(configs, 3);
        assert_int_equal(get(program_begin(&p), 3, &count, configs, changes), CUDNN_STATUS_SUCCESS);
        assert_int_equal(count, 0);
        told_all(&p, configs, 0);
        assert_null(list_look(configs[0]));
        drop_configs(configs, 3);
    }
}

/* Notes that cannot be read may be anything: it is not ours, and no later one either. */
static void unknown_notes(void **state)
{
    (void)state;
    enum { REQUESTED = 8 };
    for (int changes = 0; changes < 2; changes++) {
        program p;
        descriptor configs[REQUESTED];
        int64_t count = -1;
        list_library_reset();
        list_add(MODE, 1, TENSOR_CORE, 1);
        list_add(MODE, 2, UINT64_C(1) << 40 | TENSOR_CORE, 1);
        list_add(MODE, 3, 0, 1);
        make_configs(configs, REQUESTED);
        assert_int_equal(get(program_begin(&p), REQUESTED, &count, configs, changes),
                         CUDNN_STATUS_SUCCESS);
        assert_int_equal(count, 3 + changes);
        for (int i = 0; i < count; i++)
            assert_int_equal(p.ours[i], i == 0);
        drop_configs(configs, REQUESTED);
    }
}

static void random_lists(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const unsigned refused[][2] = {
        {~0u, ~0u}, {TENSOR_CORE, ~0u}, {NONDETERMINISTIC, ~0u}, {TENSOR_CORE, NONDETERMINISTIC}};
    for (int round = 0; round < 40; round++) {
        list_library_reset();
        list_add_random(MODE, &random);
        const int64_t length = library.list[MODE].configs;
        for (size_t which = 0; which < COUNT_OF(refused); which++)
            for (int64_t requested = 1; requested <= length + 6; requested++) {
                program p;
                descriptor configs[ROOM];
                int64_t count = -1;
                make_configs(configs, requested);
                program_begin(&p);
                p.refused = 2;
                memcpy(p.refuses, refused[which], sizeof refused[which]);
                library.reads = 0;
                assert_int_equal(get(&p, requested, requested % 3 ? &count : NULL, configs, true),
                                 CUDNN_STATUS_SUCCESS);
                if (requested % 3)
                    assert_int_equal(count, p.told);
                assert_true(library.reads <= 1);
                told_all(&p, configs, p.told);
                const bool front = p.told > 1 && !list_was_filled(configs[0]);
                assert_true(p.told >= (length < requested ? length : requested));
                originals_are_there(&p, front, p.told);
                filters_find_ours(&p);
                if (front && length && list_is_ours(&p, MODE, 0))
                    assert_true(p.ours[0]);
                if (requested > 1 && length > 0 && list_is_ours(&p, MODE, 0))
                    assert_true(front);
                drop_configs(configs, requested);
            }
    }
}

/* Descriptors that cannot be filled end the list, as they do for cuDNN. */
static void configs_that_cannot_be_filled(void **state)
{
    (void)state;
    enum { REQUESTED = 13 };
    const list_config other = {.engine = 20};
    list_add_four(MODE);
    for (int at = 0; at < REQUESTED; at++) {
        const descriptor spoilt[] = {NULL, list_made(&other),
                                     list_create(CUDNN_BACKEND_TENSOR_DESCRIPTOR)};
        for (size_t kind = 0; kind < COUNT_OF(spoilt); kind++) {
            program p;
            descriptor configs[REQUESTED];
            int64_t count = -1;
            make_configs(configs, REQUESTED);
            list_destroy(configs[at]);
            configs[at] = spoilt[kind];
            assert_int_equal(get(program_begin(&p), REQUESTED, &count, configs, true),
                             CUDNN_STATUS_SUCCESS);
            assert_int_equal(count, at);
            told_all(&p, configs, count);
            drop_configs(configs, REQUESTED);
        }
    }
}

/* Whichever call fails: the program sees cuDNN's failure, or a list where what is ours would be without it. */
static void calls_fail(void **state)
{
    (void)state;
    enum { REQUESTED = 13 };
    list_add_four(MODE);
    for (int first_taken = 0; first_taken < 2; first_taken++)
        for (int changes = 0; changes < 2; changes++) {
            bool done = false;
            for (int nth = 1; !done; nth++) {
                program p;
                descriptor configs[REQUESTED];
                int64_t count = -1;
                program_begin(&p);
                if (!first_taken) {
                    p.refuses[p.refused++] = TENSOR_CORE | NONDETERMINISTIC;
                    p.refuses[p.refused++] = TENSOR_CORE;
                }
                make_configs(configs, REQUESTED);
                library.calls = 0;
                library.fails = nth;
                cudnnStatus_t status = get(&p, REQUESTED, &count, configs, changes);
                done = library.calls < nth;
                library.fails = 0;
                assert_int_equal(library.alive, REQUESTED);
                if (status != CUDNN_STATUS_SUCCESS) {
                    assert_int_equal(status, library.failure);
                    told_all(&p, configs, 0);
                    assert_int_equal(count, -1);
                } else {
                    told_all(&p, configs, count);
                    assert_true(count >= 9);
                    const bool front = list_same(list_look(configs[0]), list_look(configs[1]));
                    originals_are_there(&p, front, count);
                    for (int i = 0; i < count; i++)
                        if (p.ours[i])
                            assert_true(list_is_ours(&p, MODE, i ? i - front : 0));
                }
                drop_configs(configs, REQUESTED);
            }
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, program_nothing_is_left)
    const struct CMUnitTest tests[] = {TEST(room_for_more),
                                       TEST(lists_are_changed),
                                       TEST(lists_are_left_alone),
                                       TEST(one_is_marked),
                                       TEST(a_first_that_is_not_taken),
                                       TEST(a_first_that_is_not_taken_after_all),
                                       TEST(nothing_is_taken),
                                       TEST(an_empty_list),
                                       TEST(unknown_notes),
                                       TEST(random_lists),
                                       TEST(configs_that_cannot_be_filled),
                                       TEST(calls_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
