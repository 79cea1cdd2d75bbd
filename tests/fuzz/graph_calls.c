/* Bytes as calls of cuDNN's graph interface: what programs do, and whatever else can be said. */
#include "launcher.h"
#include "made_graph.h"
#include "texts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Asks the heuristics of a graph, for few or many configurations. */
static void list_configs(void)
{
    static const unsigned char modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B,
                                          CUDNN_HEUR_MODE_FALLBACK, CUDNN_HEUR_MODE_A};
    unsigned how = byte(), odd = byte();
    descriptor heuristics = fresh(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), configs[16] = {0};
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, any(last_graph));
    set_word(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, modes[how & 3]);
    finalize(heuristics);
    int64_t requested = how >> 2 & 15, count = -1;
    for (int64_t i = 0; i < requested; i++)
        configs[i] = fresh(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (odd & 128 && requested)
        configs[odd % 16 % (unsigned)requested] =
            odd & 64 ? NULL : slots[(odd + (unsigned)next_slot) % SLOTS];
    program_get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, requested,
                odd & 32 ? NULL : &count, odd & 16 && odd & 64 ? NULL : configs);
    if (requested)
        last_config = configs[byte() % (unsigned)requested];
    if (odd & 1)
        program_destroy(heuristics);
}

/* Makes a configuration of an engine's number and, maybe, a knob. */
static void build_config(void)
{
    unsigned how = byte();
    descriptor engine = fresh(CUDNN_BACKEND_ENGINE_DESCRIPTOR), graph = any(last_graph);
    set_one(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    set_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, how % 8 % 5);
    finalize(engine);
    last_config = fresh(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_one(last_config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (how & 8) {
        descriptor knob = fresh(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        set_word(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, how >> 4 & 3);
        set_number(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, byte() % LIBRARY_LIST);
        finalize(knob);
        set_one(last_config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knob);
    }
    finalize(last_config);
}

static void make_plan(void)
{
    unsigned how = byte();
    descriptor config = any(last_config);
    last_plan = fresh(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if ((how & 3) != 3)
        set_handle(last_plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, 1 + (how >> 2 & 1));
    set_one(last_plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    if ((how & 0xf0) == 0xf0)
        set_elements(last_plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 9,
                     "{\"a\": {}}", 1);
    finalize(last_plan);
    if (how & 8)
        drop(config);
}

/* Makes a plan of another plan's text. */
static void restore_plan(void)
{
    static char text[TEXT_MOST];
    unsigned how = byte();
    descriptor from = any(last_plan);
    int64_t count = 0, length = 0;
    program_get(from, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0, &length,
                NULL);
    program_get(from, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                (int64_t)sizeof text, &count, text);
    if (how & 16)
        text[byte() * 8 + how / 32] ^= 1; /* for a library that is lenient */
    if (how & 8)
        drop(from);
    last_plan = fresh(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if ((how & 3) != 3)
        set_handle(last_plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, 1 + (how >> 2 & 1));
    program_set(last_plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, length,
                text);
    finalize(last_plan);
}

/* Reads back a plan's configuration, or a configuration's engine. */
static void read_back(void)
{
    unsigned how = byte();
    descriptor from = any(how & 1 ? last_config : last_plan),
               part = fresh(how & 1   ? CUDNN_BACKEND_ENGINE_DESCRIPTOR
                            : how & 2 ? CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR
                                      : CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count = 0;
    program_get(from,
                how & 1 ? CUDNN_ATTR_ENGINECFG_ENGINE : CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, how & 4 ? NULL : &count, &part);
    if (!(how & 1))
        last_config = part;
}

static void make_pack(void)
{
    unsigned how = byte(), odd = byte();
    int64_t uid[7];
    uintptr_t pointer[7], workspace = how & 128 ? 0x7fff0000 : 0;
    int64_t pointers = tensors;
    for (int i = 0; i < tensors; i++) {
        int from = (int)((how + (unsigned)i) % (unsigned)tensors);
        uid[i] = uids[from];
        pointer[i] = 0x10000000u * (unsigned)(from + 1) + 64 * (how >> 3 & 15);
    }
    uid[pointers] = uid[0];
    pointer[pointers] = 0x70000000;
    if (odd & 128 && tensors)
        switch (odd & 7) {
        case 0: uid[odd >> 3 & 3]++; break;
        case 1: pointer[odd >> 3 & 3] += 1 + (odd >> 5); break;
        case 2: pointer[odd >> 3 & 3] = pointer[0]; break;
        case 3: pointer[odd >> 3 & 3] = 0; break;
        case 4: pointers++; break; /* one twice */
        case 5: uid[pointers++] = 99; break;
        case 6: pointers--; break;
        default: break;
        }
    last_pack = fresh(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    if (pointers > 0) {
        set_elements(last_pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                     pointers, pointer, sizeof *pointer);
        set_numbers(last_pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, pointers - (odd == 64), uid);
    }
    set_elements(last_pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace,
                 sizeof workspace);
    if ((odd & 135) != 135)
        finalize(last_pack);
}

static void execute(void)
{
    static const unsigned char handles[] = {1, 2, 3, 1, 2, 0, 9, 1};
    uintptr_t handle = handles[byte() & 7];
    descriptor plan = any(last_plan);
    program_execute((cudnnHandle_t)handle, plan, any(last_pack));
}

/* Names of attributes, some of which there are. */
static int any_name(void)
{
    static const short bases[] = {0, 100, 200, 300, 400, 600, 700, 750, 800, 900, 1000, 1300};
    unsigned base = byte();
    return bases[base % 12] + (int)(byte() % 24);
}

static void any_elements(uint64_t *elements)
{
    unsigned how = byte();
    for (int i = 0; i < ELEMENTS; i++)
        elements[i] =
            how & 1 ? (uint64_t)(uintptr_t)slots[(how / 2 + (unsigned)i) % SLOTS] : byte() & 7;
}

static void set_anything(void)
{
    uint64_t elements[ELEMENTS];
    descriptor d = target();
    int name = any_name(), type = (int)(byte() % 26);
    int64_t count = (int64_t)(byte() % (ELEMENTS + 2)) - 1;
    any_elements(elements);
    program_set(d, name, type, count, byte() & 1 ? NULL : elements);
}

static void get_anything(void)
{
    uint64_t elements[ELEMENTS];
    descriptor d = target();
    int name = any_name();
    unsigned how = byte();
    int type = how & 1 ? CUDNN_TYPE_BACKEND_DESCRIPTOR : (int)(how / 8 % 26);
    int64_t count = 0, requested = (int64_t)(byte() % (ELEMENTS + 2)) - 1;
    any_elements(elements);
    program_get(d, name, type, requested, how & 2 ? NULL : &count, how & 4 ? NULL : elements);
}

static void change_settings(void)
{
    static const short refusals[] = {CUDNN_STATUS_INTERNAL_ERROR, CUDNN_STATUS_BAD_PARAM,
                                     CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_EXECUTION_FAILED};
    unsigned what = byte(), how = byte();
    switch (what % 6) {
    case 0: library.lenient = how & 1; break;
    case 1: library.newest_first = how & 1; break;
    case 2:
        library.refuse_in = (int)how;
        library.refusal = (cudnnStatus_t)refusals[what / 6 % 4];
        break;
    case 3: launcher.no_context = how & 1; break;
    case 4: launcher.refuses_launches = how & 1; break;
    default: library.lists = how; break;
    }
}

static void any_step(void)
{
    unsigned what = byte();
    unsigned when = what & 128 ? byte() : 0;
    spoil = what & 128 ? 1 + (int)(when & 128 ? when % 6 : when % 64) : 0;
    switch (what % 17) {
    case 0: make_graph(); break;
    case 1: list_configs(); break;
    case 2: make_plan(); break;
    case 3: make_pack(); break;
    case 4:
    case 5: execute(); break;
    case 6: build_config(); break;
    case 7: read_back(); break;
    case 8: set_anything(); break;
    case 9: get_anything(); break;
    case 10: change_settings(); break;
    case 11: fresh((int)(byte() % 48)); break;
    case 12: program_destroy(target()); break;
    case 13: program_finalize(target()); break;
    case 14: program_initialize(target()); break;
    case 15: drop(any(last_plan)); break;
    default: restore_plan(); break;
    }
}

static void report(void)
{
    printf("inputs %llu, executes %llu, launches %llu, checked %llu, copies in lists %llu, "
           "special %llu, turned %llu, finished %llu\n",
           program.inputs, program.executes, program.launches, program.checked, program.marked,
           program.special, program.turned, program.finished);
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    setenv("GROUPDNN_MODE", "force", 0);
    atexit(report);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    input_end = data + size;
    memset(&library, 0, sizeof library);
    memset(&launcher, 0, sizeof launcher);
    library.lists = byte();
    library.lenient = library.lists & 128;
    library.lies = getenv("GDNN_FUZZ_LIES"); /* then something must be found */
    spoil = next_slot = tensors = 0;
    last_graph = last_config = last_plan = last_pack = NULL;
    program.inputs++;
    while (input < input_end)
        any_step();
    library.refuse_in = 0;
    for (int i = 0; i < SLOTS; i++) {
        drop(slots[i]);
        slots[i] = NULL;
    }
    for (descriptor d; (d = library_any());) /* whose destruction was refused */
        program_destroy(d);
    program_check_end();
    routes_forget();
    return 0;
}
