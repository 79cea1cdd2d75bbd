#include "list_program.h"

bool program_takes(void *context, unsigned notes)
{
    const program *p = context;
    for (int i = 0; i < p->refused; i++)
        if (notes == p->refuses[i])
            return false;
    return !p->refuses_all;
}

void program_filled(void *context, cudnnBackendDescriptor_t config, bool ours)
{
    program *p = context;
    assert_true(p->told < ROOM);
    p->config[p->told] = config;
    p->ours[p->told++] = ours;
}

program *program_begin(program *p)
{
    *p = (program){.chooser = {p, program_takes}};
    return p;
}

int program_setup(void **state)
{
    (void)state;
    list_library_reset();
    return 0;
}

int program_nothing_is_left(void **state)
{
    (void)state;
    if (library.alive)
        print_message("# %d descriptors are left\n", library.alive);
    if (library.illegal)
        print_message("# %d illegal calls\n", library.illegal);
    return library.alive != 0 || library.illegal != 0;
}

void list_add(int mode, int engine, uint64_t notes, int64_t value)
{
    list_config *config = &library.list[mode].config[library.list[mode].configs++];
    library.notes[engine] = notes;
    *config = (list_config){.engine = engine, .knobs = value ? 2 : 0};
    config->knob[0].type = 24;
    config->knob[0].value = value;
    config->knob[1].type = 2;
    config->knob[1].value = engine;
}

unsigned list_notes(const list_config *config)
{
    return (unsigned)library.notes[config->engine] & ~STRICT_NAN;
}

static bool wins(int mode, int at)
{
    for (unsigned filter = 0; filter < 1u << NOTES; filter++) {
        if (filter & STRICT_NAN)
            continue;
        int first = 0;
        while (first < library.list[mode].configs &&
               list_notes(&library.list[mode].config[first]) & filter)
            first++;
        if (first == at)
            return true;
    }
    return false;
}

bool list_is_ours(const program *p, int mode, int at)
{
    return wins(mode, at) && program_takes((void *)p, list_notes(&library.list[mode].config[at]));
}

void list_add_four(int mode)
{
    list_add(mode, 1, TENSOR_CORE | NONDETERMINISTIC, 1);
    list_add(mode, 1, TENSOR_CORE | NONDETERMINISTIC, 2);
    list_add(mode, 2, TENSOR_CORE | STRICT_NAN, 1);
    list_add(mode, 2, TENSOR_CORE | STRICT_NAN, 2);
    list_add(mode, 3, NONDETERMINISTIC, 0);
    list_add(mode, 3, NONDETERMINISTIC, 2);
    list_add(mode, 4, 0, 1);
    list_add(mode, 4, 0, 2);
    list_add(mode, 5, TENSOR_CORE, 1);
}

void list_add_random(int mode, uint64_t *random)
{
    const int length = (int)test_pick(random, 0, 14);
    /* Few notes at a time make many first ones, all of them few. */
    const int few = (int)test_pick(random, 1, NOTES);
    library.list[mode].configs = 0;
    for (int i = 0; i < length; i++) {
        int engine = (int)test_pick(random, 0, LIST_ENGINES - 1);
        uint64_t notes = library.notes[engine];
        if (!notes)
            notes = test_random(random) & test_random(random) & ((1u << few) - 1);
        list_add(mode, engine, notes, test_pick(random, 0, 2));
    }
}
