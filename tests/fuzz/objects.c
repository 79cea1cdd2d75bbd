#include "objects.h"
#include <stdlib.h>
#include <string.h>

typedef struct attribute {
    struct attribute *next;
    int name, type;
    int64_t count;
    _Alignas(8) unsigned char value[]; /* elements; of descriptors pointers to objects */
} attribute;

struct library_object {
    int holders, type;
    bool finalized;
    attribute *first;
};

enum { ANY_OPERATION = -2 };

typedef struct rule {
    int name, of, type, most, element;
    bool needed;
} rule;

static const rule rules[] = {
#define ATTRIBUTE(name, of, type, most, element, needed)                                           \
    {CUDNN_ATTR_##name, CUDNN_BACKEND_##of##_DESCRIPTOR, CUDNN_TYPE_##type, most, element, needed},
#include "attributes.def"
#undef ATTRIBUTE
};
enum { RULES = sizeof rules / sizeof *rules };

cudnnBackendAttributeName_t library_attribute_name;

static int objects;

int objects_left(void)
{
    return objects;
}

static const rule *rule_of(int name)
{
    for (int i = 0; i < RULES; i++)
        if (rules[i].name == name)
            return &rules[i];
    return NULL;
}

bool object_exists(int type)
{
    return type >= 0 && type < 40 && type != 9;
}

library_object *object_make(int type)
{
    library_object *made = calloc(1, sizeof *made);
    if (!made)
        fault("no memory");
    made->holders = 1;
    made->type = type;
    objects++;
    return made;
}

void object_hold(library_object *object)
{
    object->holders++;
}

static void free_attribute(attribute *a)
{
    library_object *held;
    for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < a->count; i++) {
        memcpy(&held, a->value + i * (int64_t)sizeof held, sizeof held);
        object_drop(held);
    }
    free(a);
}

void object_drop(library_object *object)
{
    if (--object->holders)
        return;
    for (attribute *a = object->first, *next; a; a = next) {
        next = a->next;
        free_attribute(a);
    }
    free(object);
    objects--;
}

int library_type(const library_object *object)
{
    return object->type;
}

bool library_finalized(const library_object *object)
{
    return object->finalized;
}

static const attribute *find(const library_object *object, int name)
{
    const attribute *a = object->first;
    while (a && a->name != name)
        a = a->next;
    return a;
}

const void *library_value(const library_object *object, cudnnBackendAttributeName_t name, int *type,
                          int64_t *count)
{
    const attribute *a = find(object, name);
    if (a && type)
        *type = a->type;
    if (a && count)
        *count = a->count;
    return a ? a->value : NULL;
}

const library_object *library_element(const library_object *object,
                                      cudnnBackendAttributeName_t name, int64_t index)
{
    const attribute *a = find(object, name);
    return a && a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && index < a->count
               ? ((library_object *const *)(const void *)a->value)[index]
               : NULL;
}

static bool is_operation(int type)
{
    return type >= CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
           type < CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
}

bool object_accepts(const library_object *object, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    const rule *r = rule_of(name);
    bool single = r && r->type == CUDNN_TYPE_DOUBLE && type == CUDNN_TYPE_FLOAT;
    bool none = name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES;
    return r && r->of == object->type && ((int)type == r->type || single) && elements &&
           count >= !none && count <= r->most;
}

bool object_may_hold(cudnnBackendAttributeName_t name, const library_object *element)
{
    int wanted = rule_of(name)->element;
    return wanted == ANY_OPERATION ? is_operation(element->type) : element->type == wanted;
}

static size_t bytes_of(int type)
{
    switch (type) {
    case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
    case CUDNN_TYPE_CHAR: return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    default: return 4;
    }
}

void object_set(library_object *object, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    size_t bytes = (size_t)count * bytes_of(type);
    attribute *a = malloc(sizeof *a + bytes);
    if (!a)
        fault("no memory");
    *a = (attribute){.name = name, .type = (int)type, .count = count};
    if (bytes)
        memcpy(a->value, elements, bytes);
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; i++)
        object_hold(((library_object *const *)elements)[i]);
    attribute **at = &object->first;
    while (*at && (*at)->name != (int)name)
        at = &(*at)->next;
    attribute *before = *at;
    a->next = before ? before->next : NULL;
    *at = a;
    if (before)
        free_attribute(before);
}

cudnnStatus_t object_finalize(library_object *object, bool lenient)
{
    bool restored = find(object, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    if (object->finalized)
        return CUDNN_STATUS_BAD_PARAM;
    for (int i = 0; i < RULES && !lenient && !restored; i++)
        if (rules[i].of == object->type && rules[i].needed && !find(object, rules[i].name))
            return CUDNN_STATUS_BAD_PARAM;
    object->finalized = true;
    return CUDNN_STATUS_SUCCESS;
}

bool object_has(const library_object *object, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type)
{
    const rule *r = rule_of(name);
    switch ((int)name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        return object->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
               type == CUDNN_TYPE_BACKEND_DESCRIPTOR;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        return object->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR && type == CUDNN_TYPE_NUMERICAL_NOTE;
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        return object->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && type == CUDNN_TYPE_INT64;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        return object->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && type == CUDNN_TYPE_INT64;
    default: return r && r->of == object->type && r->type == (int)type;
    }
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a + b + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ (z >> 31);
}

/* Bit n: the engine has the numerical note n. */
static unsigned notes_of(const library_object *engine)
{
    const int64_t *index =
        engine ? library_value(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, NULL, NULL) : NULL;
    return index ? (unsigned)(mix(library.lists, (uint64_t)*index) & mix(77, (uint64_t)*index) &
                              0x20f)
                 : 0;
}

static int64_t workspace_of(const library_object *config)
{
    const library_object *engine = library_element(config, CUDNN_ATTR_ENGINECFG_ENGINE, 0);
    return engine ? 4096 * (int64_t)(notes_of(engine) & 3) : 0;
}

cudnnStatus_t object_get(const library_object *object, cudnnBackendAttributeName_t name,
                         int64_t requested, int64_t *count, void *elements)
{
    const library_object *config =
        library_element(object, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 0);
    const attribute *a = find(object, name);
    int notes[32];
    int64_t number, there = 1;
    const void *value = &number;
    size_t bytes = sizeof number;
    switch ((int)name) {
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        there = 0;
        for (int note = 0; note < 32; note++)
            if (notes_of(object) >> note & 1)
                notes[there++] = note;
        value = notes;
        bytes = sizeof *notes;
        break;
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE: number = workspace_of(object); break;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        number = config ? workspace_of(config) : 0;
        break;
    default:
        if (!a)
            return CUDNN_STATUS_BAD_PARAM;
        value = a->value;
        there = a->count;
        bytes = bytes_of(a->type);
        break;
    }
    int64_t filled = there < requested ? there : requested;
    if (elements && filled)
        memcpy(elements, value, (size_t)filled * bytes);
    if (count)
        *count = there;
    return CUDNN_STATUS_SUCCESS;
}

library_object *object_element(const library_object *object, int64_t index)
{
    library_object *element =
        (library_object *)library_element(object, library_attribute_name, index);
    object_hold(element);
    return element;
}

/* What is in number `index` of a list. */
typedef struct entry {
    int64_t engine, value;
    int knob; /* negative: none */
} entry;

static uint64_t list_of(const library_object *heuristics)
{
    const int *mode = library_value(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, NULL, NULL);
    return mix(library.lists, mode ? (uint64_t)*mode : 0);
}

int64_t library_list_size(const library_object *heuristics)
{
    return library_element(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 0)
               ? (int64_t)(list_of(heuristics) % (LIBRARY_LIST + 1))
               : 0;
}

static entry entry_of(const library_object *heuristics, int64_t index)
{
    uint64_t random = mix(list_of(heuristics), (uint64_t)index);
    return (entry){.engine = random % 5, .value = index, .knob = (int)(random / 5 % 4) - 1};
}

static library_object *finished(library_object *object)
{
    object->finalized = true;
    return object;
}

static void give(library_object *object, cudnnBackendAttributeName_t name, library_object *element)
{
    object_set(object, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &element);
    object_drop(element);
}

library_object *object_listed(const library_object *heuristics, int64_t index)
{
    const entry e = entry_of(heuristics, index);
    library_object *graph = (library_object *)library_element(
                       heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 0),
                   *engine = object_make(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
                   *config = object_make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    object_set(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    object_set(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &e.engine);
    give(config, CUDNN_ATTR_ENGINECFG_ENGINE, finished(engine));
    if (e.knob >= 0) {
        library_object *knob = object_make(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        object_set(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &e.knob);
        object_set(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &e.value);
        give(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, finished(knob));
    } else {
        object_set(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, "");
    }
    return finished(config);
}

bool library_in_list(const library_object *heuristics, int64_t index, const library_object *config)
{
    const entry e = entry_of(heuristics, index);
    const library_object *engine = library_element(config, CUDNN_ATTR_ENGINECFG_ENGINE, 0),
                         *knob = library_element(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, 0);
    if (!engine || library_element(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, 0) !=
                       library_element(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 0))
        return false;
    const int64_t *number = library_value(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, NULL, NULL);
    if (!number || *number != e.engine || !knob != (e.knob < 0))
        return false;
    if (!knob)
        return true;
    const int *type = library_value(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, NULL, NULL);
    const int64_t *value = library_value(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, NULL, NULL);
    return type && value && *type == e.knob && *value == e.value;
}
