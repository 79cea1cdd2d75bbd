#include "graph_config.h"
#include "api.h"
#include "graph_api.h"

typedef cudnnBackendDescriptor_t descriptor;

/* What a plan's text says of a knob that its configuration leaves out. */
enum { NOT_CHOSEN = -1 };

/* Knobs as cuDNN has them. Asked how many there are, it says 0: they must be there before they are filled. */
typedef struct choices {
    int made, filled;
    descriptor it[GDNN_GRAPH_KNOBS];
} choices;

static bool get(descriptor from, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                int64_t requested, int64_t *count, void *elements)
{
    *count = 0;
    return GDNN_REAL(cudnnBackendGetAttribute)(from, name, type, requested, count, elements) ==
               CUDNN_STATUS_SUCCESS &&
           *count >= 0 && *count <= requested;
}

static bool get_number(descriptor from, cudnnBackendAttributeName_t name, int64_t *number)
{
    int64_t count;
    return get(from, name, CUDNN_TYPE_INT64, 1, &count, number) && count == 1;
}

descriptor gdnn_graph_part(descriptor from, cudnnBackendAttributeName_t name,
                           cudnnBackendDescriptorType_t type)
{
    descriptor part = NULL;
    int64_t count;
    if (!from || GDNN_REAL(cudnnBackendCreateDescriptor)(type, &part) != CUDNN_STATUS_SUCCESS)
        return NULL;
    if (get(from, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &part) && count == 1)
        return part;
    gdnn_graph_part_drop(part);
    return NULL;
}

void gdnn_graph_part_drop(descriptor part)
{
    if (part)
        GDNN_REAL(cudnnBackendDestroyDescriptor)(part);
}

void gdnn_graph_drop_text(void)
{
    char text[256];
    GDNN_REAL(cudnnGetLastErrorString)(text, sizeof text);
}

static descriptor engine_of(descriptor config)
{
    return gdnn_graph_part(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
}

static void drop_choices(choices *knobs)
{
    while (knobs->made)
        gdnn_graph_part_drop(knobs->it[--knobs->made]);
}

/* False: cuDNN does not tell, and nothing need be dropped. */
static bool get_choices(descriptor config, choices *knobs)
{
    int64_t count;
    for (knobs->made = 0; knobs->made < GDNN_GRAPH_KNOBS; knobs->made++)
        if (GDNN_REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                                    &knobs->it[knobs->made]) !=
            CUDNN_STATUS_SUCCESS)
            break;
    /* Where all the room is used there may be more. */
    if (knobs->made == GDNN_GRAPH_KNOBS &&
        get(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            GDNN_GRAPH_KNOBS, &count, knobs->it) &&
        count < GDNN_GRAPH_KNOBS) {
        knobs->filled = (int)count;
        return true;
    }
    drop_choices(knobs);
    return false;
}

/* Puts the knob where its type belongs. */
static void insert(gdnn_graph_config *facts, gdnn_graph_knob knob)
{
    int at = facts->knobs++;
    for (; at > 0 && facts->knob[at - 1].type > knob.type; at--)
        facts->knob[at] = facts->knob[at - 1];
    facts->knob[at] = knob;
}

static bool read_knobs(const choices *knobs, gdnn_graph_config *facts)
{
    facts->knobs = 0;
    for (int i = 0; i < knobs->filled; i++) {
        gdnn_graph_knob knob = {0};
        int64_t count;
        if (!get(knobs->it[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &count,
                 &knob.type) ||
            count != 1 || !get_number(knobs->it[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, &knob.value))
            return false;
        insert(facts, knob);
    }
    return true;
}

static bool read_notes(descriptor engine, unsigned *notes)
{
    enum { NOTES = 64, BITS = 8 * sizeof *notes };
    int note[NOTES];
    int64_t count;
    *notes = 0;
    if (!get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, NOTES, &count,
             note))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (note[i] < 0 || note[i] >= BITS)
            return false;
        *notes |= 1u << note[i];
    }
    *notes &= ~(1u << CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP);
    return true;
}

static bool read_facts(descriptor engine, const choices *knobs, gdnn_graph_config *facts)
{
    return get_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, &facts->engine) &&
           read_knobs(knobs, facts) && read_notes(engine, &facts->notes);
}

bool gdnn_graph_config_read(descriptor config, gdnn_graph_config *facts)
{
    choices knobs;
    descriptor engine = engine_of(config);
    bool read = engine && get_choices(config, &knobs);
    if (read) {
        read = read_facts(engine, &knobs, facts);
        drop_choices(&knobs);
    }
    gdnn_graph_part_drop(engine);
    return read;
}

bool gdnn_graph_config_notes(descriptor config, unsigned *notes)
{
    descriptor engine = engine_of(config);
    bool read = engine && read_notes(engine, notes);
    gdnn_graph_part_drop(engine);
    return read;
}

bool gdnn_graph_knobs_same(const gdnn_graph_knob *a, int knobs_a, const gdnn_graph_knob *b,
                           int knobs_b)
{
    int i = 0, j = 0;
    while (i < knobs_a || j < knobs_b) {
        bool in_a = i < knobs_a && (j == knobs_b || a[i].type <= b[j].type),
             in_b = j < knobs_b && (i == knobs_a || b[j].type <= a[i].type);
        if ((in_a ? a[i].value : NOT_CHOSEN) != (in_b ? b[j].value : NOT_CHOSEN))
            return false;
        i += in_a;
        j += in_b;
    }
    return true;
}

bool gdnn_graph_config_same(const gdnn_graph_config *a, const gdnn_graph_config *b)
{
    return a->engine == b->engine && gdnn_graph_knobs_same(a->knob, a->knobs, b->knob, b->knobs);
}

/* Knobs are set also where there are none: others may have been set before. */
static bool make(descriptor config, descriptor engine, const choices *knobs)
{
    return GDNN_REAL(cudnnBackendSetAttribute)(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                               CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                               &engine) == CUDNN_STATUS_SUCCESS &&
           GDNN_REAL(cudnnBackendSetAttribute)(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                               CUDNN_TYPE_BACKEND_DESCRIPTOR, knobs->filled,
                                               knobs->it) == CUDNN_STATUS_SUCCESS &&
           GDNN_REAL(cudnnBackendFinalize)(config) == CUDNN_STATUS_SUCCESS;
}

/* Whether cuDNN tells the same of both. A knob that was not read is not seen in the knobs, but mostly in the
 * workspace. */
static bool equal(descriptor a, descriptor b)
{
    gdnn_graph_config facts_a, facts_b;
    int64_t bytes_a, bytes_b;
    return gdnn_graph_config_read(a, &facts_a) && gdnn_graph_config_read(b, &facts_b) &&
           gdnn_graph_config_same(&facts_a, &facts_b) &&
           get_number(a, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, &bytes_a) &&
           get_number(b, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, &bytes_b) && bytes_a == bytes_b;
}

/* Whether a configuration made of `engine` and `knobs` is `config`: finalised, it could not be undone. */
static bool makes(descriptor config, descriptor engine, const choices *knobs)
{
    descriptor trial;
    if (GDNN_REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &trial) !=
        CUDNN_STATUS_SUCCESS)
        return false;
    bool same = make(trial, engine, knobs) && equal(config, trial);
    gdnn_graph_part_drop(trial);
    return same;
}

bool gdnn_graph_config_clone(descriptor config, descriptor copy)
{
    choices knobs;
    descriptor engine = engine_of(config);
    bool made = engine && get_choices(config, &knobs);
    if (made) {
        made = makes(config, engine, &knobs) && make(copy, engine, &knobs);
        drop_choices(&knobs);
    }
    gdnn_graph_part_drop(engine);
    return made;
}
