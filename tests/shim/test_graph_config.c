/* Facts and copies of engines' configurations, on a library that is made up. */
#include "graph_config.h"
#include "list_library.h"

typedef cudnnBackendDescriptor_t descriptor;

static const list_config three = {.engine = 7, .knobs = 3, .knob = {{12, 5}, {2, -1}, {25, 1}}};
static const list_config none = {.engine = 7};

static int setup(void **state)
{
    (void)state;
    list_library_reset();
    library.notes[7] = 1 << 0 | 1 << 4 | 1 << 9;
    library.list[1].configs = 2;
    library.list[1].config[0] = three;
    library.list[1].config[1] = none;
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    if (library.alive)
        print_message("# %d descriptors are left\n", library.alive);
    if (library.illegal)
        print_message("# %d illegal calls\n", library.illegal);
    return library.alive != 0 || library.illegal != 0;
}

static descriptor fresh(void)
{
    return list_create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

/* The first configurations of the list, filled by cuDNN. */
static void fill(int count, descriptor *configs)
{
    descriptor heuristics = list_heuristics(1);
    int64_t came = 0;
    for (int i = 0; i < count; i++)
        configs[i] = fresh();
    assert_int_equal(GDNN_REAL(cudnnBackendGetAttribute)(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
                                                         &came, configs),
                     CUDNN_STATUS_SUCCESS);
    assert_int_equal(came, count);
    list_destroy(heuristics);
}

static void drop(int count, descriptor *configs)
{
    for (int i = 0; i < count; i++)
        list_destroy(configs[i]);
}

static void facts_are_read(void **state)
{
    (void)state;
    descriptor configs[2];
    gdnn_graph_config facts;
    fill(2, configs);
    assert_true(gdnn_graph_config_read(configs[0], &facts));
    assert_int_equal(facts.engine, 7);
    assert_int_equal(facts.knobs, 3);
    const int types[] = {2, 12, 25}, values[] = {-1, 5, 1};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(facts.knob[i].type, types[i]);
        assert_int_equal(facts.knob[i].value, values[i]);
    }
    assert_int_equal(facts.notes, 1 << 0 | 1 << 4);

    unsigned notes = 0;
    assert_true(gdnn_graph_config_notes(configs[0], &notes));
    assert_int_equal(notes, 1 << 0 | 1 << 4);

    assert_true(gdnn_graph_config_read(configs[1], &facts));
    assert_int_equal(facts.knobs, 0);
    drop(2, configs);
}

static void what_cannot_be_kept_is_not_read(void **state)
{
    (void)state;
    gdnn_graph_config facts;
    unsigned notes;
    list_config many = none;
    for (many.knobs = 63; many.knobs <= LIST_KNOBS; many.knobs++) {
        for (int i = 0; i < many.knobs; i++)
            many.knob[i].type = many.knobs - i;
        descriptor config = list_made(&many);
        assert_int_equal(gdnn_graph_config_read(config, &facts), many.knobs < GDNN_GRAPH_KNOBS);
        list_destroy(config);
    }
    descriptor config = list_made(&none);
    library.notes[7] = UINT64_C(1) << 31;
    assert_true(gdnn_graph_config_notes(config, &notes));
    assert_true(notes == 1u << 31);
    library.notes[7] = UINT64_C(1) << 32;
    assert_false(gdnn_graph_config_notes(config, &notes));
    assert_false(gdnn_graph_config_read(config, &facts));
    list_destroy(config);

    assert_false(gdnn_graph_config_read(NULL, &facts));
    descriptor empty = fresh();
    assert_false(gdnn_graph_config_read(empty, &facts));
    assert_false(gdnn_graph_config_notes(empty, &notes));
    list_destroy(empty);
}

static void same_means_engine_and_knobs(void **state)
{
    (void)state;
    gdnn_graph_config a = {.engine = 1, .knobs = 2, .knob = {{1, 2}, {3, 4}}, .notes = 1}, b = a;
    b.notes = 0;
    b.knob[2].type = 99;
    assert_true(gdnn_graph_config_same(&a, &b));
    b.engine = 2;
    assert_false(gdnn_graph_config_same(&a, &b));
    b = a;
    b.knobs = 1;
    assert_false(gdnn_graph_config_same(&a, &b));
    b = a;
    b.knob[1].value = 5;
    assert_false(gdnn_graph_config_same(&a, &b));
    b = a;
    b.knob[0].type = 0;
    assert_false(gdnn_graph_config_same(&a, &b));

    /* A knob that is left out is one of -1. */
    const gdnn_graph_config less = {.engine = 1, .knobs = 1, .knob = {{3, 4}}},
                            first = {.engine = 1, .knobs = 2, .knob = {{1, -1}, {3, 4}}},
                            last = {.engine = 1, .knobs = 2, .knob = {{3, 4}, {7, -1}}},
                            other = {.engine = 1, .knobs = 2, .knob = {{3, 4}, {7, 0}}};
    const gdnn_graph_config *same[] = {&less, &first, &last};
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        for (size_t j = 0; j < COUNT_OF(same); j++)
            assert_true(gdnn_graph_config_same(same[i], same[j]));
        assert_false(gdnn_graph_config_same(same[i], &other));
        assert_false(gdnn_graph_config_same(&other, same[i]));
    }
}

/* cuDNN fills a list as far as descriptors can be filled. */
static bool can_be_filled(descriptor config)
{
    descriptor heuristics = list_heuristics(1);
    int64_t came = 0;
    library.fails = 0;
    GDNN_REAL(cudnnBackendGetAttribute)
    (heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &came, &config);
    list_destroy(heuristics);
    return came == 1 && list_same(list_look(config), &three);
}

static void copies_are_the_same(void **state)
{
    (void)state;
    descriptor configs[2];
    fill(2, configs);
    for (int i = 0; i < 2; i++) {
        descriptor copy = fresh();
        assert_true(gdnn_graph_config_clone(configs[i], copy));
        assert_true(list_same(list_look(copy), list_look(configs[i])));
        assert_false(list_was_filled(copy));
        list_destroy(copy);
    }
    drop(2, configs);
}

static void what_was_set_before_does_not_stay(void **state)
{
    (void)state;
    descriptor configs[2], copy = fresh();
    fill(2, configs);
    descriptor engine =
        gdnn_graph_part(configs[0], CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    descriptor knob = list_create(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    GDNN_REAL(cudnnBackendFinalize)(knob);
    GDNN_REAL(cudnnBackendSetAttribute)
    (copy, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &knob);
    assert_true(gdnn_graph_config_clone(configs[1], copy));
    assert_true(list_same(list_look(copy), &none));
    list_destroy(engine);
    list_destroy(knob);
    list_destroy(copy);
    drop(2, configs);
}

static void others_are_no_copies(void **state)
{
    (void)state;
    descriptor configs[2], copy = fresh();
    fill(2, configs);
    library.hides_knobs = true;
    assert_false(gdnn_graph_config_clone(configs[0], copy));
    library.hides_knobs = false;
    library.other_knobs = library.no_workspace = true;
    assert_false(gdnn_graph_config_clone(configs[0], copy));
    library.other_knobs = library.no_workspace = false;
    assert_false(gdnn_graph_config_clone(copy, configs[0]));
    assert_false(gdnn_graph_config_clone(configs[0], configs[1]));
    assert_false(gdnn_graph_config_clone(configs[0], NULL));
    assert_false(gdnn_graph_config_clone(NULL, copy));
    assert_true(can_be_filled(copy));
    list_destroy(copy);
    drop(2, configs);
}

/* Whichever call fails: nothing is left, and the copy is one or can still be filled. */
static void calls_fail(void **state)
{
    (void)state;
    descriptor config;
    fill(1, &config);
    const int alive = library.alive;
    bool done = false;
    for (int nth = 1; !done; nth++) {
        descriptor copy = fresh();
        library.calls = 0;
        library.fails = nth;
        bool made = gdnn_graph_config_clone(config, copy);
        done = library.calls < nth;
        assert_int_equal(library.alive, alive + 1);
        if (made)
            assert_true(list_same(list_look(copy), &three));
        else
            assert_true(can_be_filled(copy));
        list_destroy(copy);
    }
    gdnn_graph_config facts;
    unsigned notes;
    done = false;
    for (int nth = 1; !done; nth++) {
        library.calls = 0;
        library.fails = nth;
        if (gdnn_graph_config_read(config, &facts)) {
            assert_int_equal(facts.knobs, 3);
            assert_int_equal(facts.notes, 1 << 0 | 1 << 4);
        }
        done = library.calls < nth;
        library.calls = 0;
        if (gdnn_graph_config_notes(config, &notes))
            assert_int_equal(notes, 1 << 0 | 1 << 4);
        assert_int_equal(library.alive, alive);
    }
    list_destroy(config);
}

static void parts(void **state)
{
    (void)state;
    assert_null(
        gdnn_graph_part(NULL, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
    descriptor config = list_made(&three), empty = fresh();
    descriptor engine =
        gdnn_graph_part(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    assert_non_null(engine);
    assert_null(
        gdnn_graph_part(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    assert_null(
        gdnn_graph_part(empty, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
    assert_null(
        gdnn_graph_part(engine, CUDNN_ATTR_ENGINE_DEVICEPROP, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR));
    gdnn_graph_part_drop(engine);
    gdnn_graph_part_drop(NULL);
    list_destroy(config);
    list_destroy(empty);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, nothing_is_left)
    const struct CMUnitTest tests[] = {TEST(facts_are_read),
                                       TEST(what_cannot_be_kept_is_not_read),
                                       TEST(same_means_engine_and_knobs),
                                       TEST(copies_are_the_same),
                                       TEST(what_was_set_before_does_not_stay),
                                       TEST(others_are_no_copies),
                                       TEST(calls_fail),
                                       TEST(parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
