/* Configurations that a program made itself, and the lists of their graph. The library is made up. */
#include "list_program.h"

typedef cudnnBackendDescriptor_t descriptor;

static bool choose(gdnn_graph_lists *lists, const program *p, const list_config *what)
{
    descriptor config = list_made(what);
    bool ours = gdnn_graph_lists_choose(lists, config, &p->chooser);
    list_destroy(config);
    return ours;
}

/* By the first of the lists B, A, FALLBACK that has the configuration. */
static bool should_choose(const program *p, const list_config *what)
{
    static const int modes[] = {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    for (int i = 0; i < 3; i++)
        for (int at = 0; at < library.list[modes[i]].configs; at++)
            if (list_same(&library.list[modes[i]].config[at], what))
                return list_is_ours(p, modes[i], at);
    return false;
}

static void rebuilt_configurations(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int round = 0; round < 200; round++) {
        list_library_reset();
        library.deviceless = round % 3 == 1;
        library.refuses_properties = round % 3 == 2;
        for (int mode = 1; mode < LIST_MODES; mode++)
            list_add_random(mode, &random);
        gdnn_graph_lists lists;
        gdnn_graph_lists_begin(&lists);
        program p;
        program_begin(&p);
        if (round % 2)
            p.refuses[p.refused++] = TENSOR_CORE;
        for (int mode = 1; mode < LIST_MODES; mode++)
            for (int at = 0; at < library.list[mode].configs; at++) {
                const list_config *what = &library.list[mode].config[at];
                assert_int_equal(choose(&lists, &p, what), should_choose(&p, what));
            }
        assert_true(library.reads <= 3);
        const list_config unknown = {.engine = 3, .knobs = 1, .knob = {{9, 9}}};
        assert_false(choose(&lists, &p, &unknown));
        gdnn_graph_lists_end(&lists);
    }
}

static void lists_are_read_as_they_are_needed(void **state)
{
    (void)state;
    gdnn_graph_lists lists;
    program p;
    gdnn_graph_lists_begin(&lists);
    list_add(CUDNN_HEUR_MODE_B, 1, TENSOR_CORE, 1);
    list_add(CUDNN_HEUR_MODE_B, 2, TENSOR_CORE, 1);
    list_add(CUDNN_HEUR_MODE_A, 2, TENSOR_CORE, 1);
    list_add(CUDNN_HEUR_MODE_A, 3, 0, 1);
    list_add(CUDNN_HEUR_MODE_FALLBACK, 4, 0, 1);
    list_add(CUDNN_HEUR_MODE_FALLBACK, 5, 0, 1);
    program_begin(&p);
    assert_true(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_B].config[0]));
    assert_int_equal(library.reads, 1);
    /* The first of A, but in B it stands behind another one. */
    assert_false(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_A].config[0]));
    assert_int_equal(library.reads, 1);
    assert_true(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_A].config[1]));
    assert_int_equal(library.reads, 2);
    assert_true(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_FALLBACK].config[0]));
    assert_false(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_FALLBACK].config[1]));
    assert_int_equal(library.reads, 3);
    gdnn_graph_lists_end(&lists);

    /* What is not taken needs no list. */
    gdnn_graph_lists_begin(&lists);
    p.refuses_all = true;
    assert_false(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_B].config[0]));
    assert_int_equal(library.reads, 3);
    gdnn_graph_lists_end(&lists);
}

static void a_mode_that_does_not_support_the_graph(void **state)
{
    (void)state;
    gdnn_graph_lists lists;
    program p;
    list_add(CUDNN_HEUR_MODE_A, 1, 0, 1);
    list_add(CUDNN_HEUR_MODE_A, 2, 0, 1);
    library.list[CUDNN_HEUR_MODE_B].refused = (cudnnStatus_t)3007;
    gdnn_graph_lists_begin(&lists);
    program_begin(&p);
    assert_true(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_A].config[0]));
    gdnn_graph_lists_end(&lists);

    /* What else goes wrong says nothing about the list, and is asked again. */
    library.list[CUDNN_HEUR_MODE_B].refused = CUDNN_STATUS_INTERNAL_ERROR;
    gdnn_graph_lists_begin(&lists);
    assert_false(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_A].config[0]));
    library.list[CUDNN_HEUR_MODE_B].refused = CUDNN_STATUS_SUCCESS;
    assert_true(choose(&lists, &p, &library.list[CUDNN_HEUR_MODE_A].config[0]));
    gdnn_graph_lists_end(&lists);
}

typedef struct thread {
    pthread_t it;
    gdnn_graph_lists *lists;
    int right;
} thread;

static void *choose_all(void *context)
{
    thread *t = context;
    program p;
    program_begin(&p);
    for (int at = 0; at < 9; at++) {
        const list_config *what = &library.list[CUDNN_HEUR_MODE_A].config[at];
        t->right += choose(t->lists, &p, what) == should_choose(&p, what);
    }
    return NULL;
}

static void lists_of_several_threads(void **state)
{
    (void)state;
    enum { THREADS = 8, ROUNDS = 20 };
    list_add_four(CUDNN_HEUR_MODE_A);
    for (int round = 0; round < ROUNDS; round++) {
        gdnn_graph_lists lists;
        thread threads[THREADS];
        gdnn_graph_lists_begin(&lists);
        for (int i = 0; i < THREADS; i++) {
            threads[i] = (thread){.lists = &lists};
            assert_int_equal(pthread_create(&threads[i].it, NULL, choose_all, &threads[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i].it, NULL);
            assert_int_equal(threads[i].right, 9);
        }
        gdnn_graph_lists_end(&lists);
    }
}

/* As long as another thread reads the lists, and for ever in the child of a process where one did. */
static void lists_that_are_being_read(void **state)
{
    (void)state;
    gdnn_graph_lists lists;
    program p;
    list_add_four(CUDNN_HEUR_MODE_A);
    gdnn_graph_lists_begin(&lists);
    program_begin(&p);
    pthread_mutex_lock(&lists.lock);
    for (int at = 0; at < 9; at++) {
        const list_config *what = &library.list[CUDNN_HEUR_MODE_A].config[at];
        assert_int_equal(choose(&lists, &p, what), should_choose(&p, what));
    }
    for (int i = 0; i < 3; i++)
        assert_null(lists.list[i]);
    pthread_mutex_unlock(&lists.lock);
    gdnn_graph_lists_end(&lists);
}

/* Whichever call or request for memory fails, nothing is ours that would not be, nothing is left, and no wrong list is
 * kept. */
static void choosing_fails(void **state)
{
    (void)state;
    list_add(CUDNN_HEUR_MODE_B, 1, TENSOR_CORE, 1);
    list_add(CUDNN_HEUR_MODE_B, 6, TENSOR_CORE, 1);
    list_add_four(CUDNN_HEUR_MODE_A);
    list_add_four(CUDNN_HEUR_MODE_FALLBACK);
    list_add(CUDNN_HEUR_MODE_FALLBACK, 7, 0, 3);
    const list_config looked_for[] = {
        library.list[CUDNN_HEUR_MODE_B].config[0], library.list[CUDNN_HEUR_MODE_B].config[1],
        library.list[CUDNN_HEUR_MODE_A].config[4], library.list[CUDNN_HEUR_MODE_A].config[8],
        library.list[CUDNN_HEUR_MODE_FALLBACK].config[9]};
    program p;
    program_begin(&p);
    for (size_t i = 0; i < COUNT_OF(looked_for); i++)
        for (int memory = 0; memory < 2; memory++) {
            const bool truth = should_choose(&p, &looked_for[i]);
            bool done = false;
            for (int nth = 1; !done; nth++) {
                gdnn_graph_lists lists;
                gdnn_graph_lists_begin(&lists);
                library.calls = library.requests = 0;
                *(memory ? &library.no_memory : &library.fails) = nth;
                bool ours = choose(&lists, &p, &looked_for[i]);
                done = (memory ? library.requests : library.calls) < nth;
                library.no_memory = library.fails = 0;
                assert_true(truth || !ours);
                assert_true(!done || ours == truth);
                assert_int_equal(library.alive, 0);
                assert_int_equal(choose(&lists, &p, &looked_for[i]), truth);
                gdnn_graph_lists_end(&lists);
            }
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, program_nothing_is_left)
    const struct CMUnitTest tests[] = {TEST(rebuilt_configurations),
                                       TEST(lists_are_read_as_they_are_needed),
                                       TEST(a_mode_that_does_not_support_the_graph),
                                       TEST(lists_of_several_threads),
                                       TEST(lists_that_are_being_read),
                                       TEST(choosing_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
