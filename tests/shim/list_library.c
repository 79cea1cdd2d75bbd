#include "list_library.h"

list_library library;

typedef enum state { FRESH, FINALIZED, FILLED } state;

/* Descriptors come from malloc, so that a sanitizer sees it if somebody looks into one that is gone. */
typedef struct object {
    cudnnBackendDescriptorType_t type;
    state state;
    bool has_engine, has_graph, has_mode, has_properties;
    list_config config; /* of an engine: its number alone */
    int type_of_knob;
    int64_t value_of_knob;
    int mode;
} object;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return ++library.requests == library.no_memory ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return ++library.requests == library.no_memory ? NULL : __real_calloc(count, bytes);
}

void list_library_reset(void)
{
    library = (list_library){.above = 2, .failure = CUDNN_STATUS_INTERNAL_ERROR};
}

static bool fails(void)
{
    return ++library.calls == library.fails;
}

static cudnnStatus_t illegal(cudnnStatus_t status)
{
    library.illegal++;
    return status;
}

static object *make(cudnnBackendDescriptorType_t type)
{
    object *made = __real_calloc(1, sizeof *made);
    made->type = type;
    library.alive++;
    return made;
}

static cudnnStatus_t create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor)
{
    if (fails())
        return library.failure;
    *descriptor = make(type);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t destroy(cudnnBackendDescriptor_t descriptor)
{
    bool failing = fails();
    library.alive--;
    free(descriptor);
    return failing ? library.failure : CUDNN_STATUS_SUCCESS;
}

static bool usable(const object *o, cudnnBackendDescriptorType_t type)
{
    return o && o->type == type && o->state != FRESH;
}

static cudnnStatus_t set_knobs(object *o, int64_t count, const cudnnBackendDescriptor_t *knobs)
{
    o->config.knobs = (int)count;
    for (int i = 0; i < count; i++) {
        const object *knob = knobs[i];
        if (!usable(knob, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR))
            return illegal(CUDNN_STATUS_BAD_PARAM);
        o->config.knob[i].type = knob->type_of_knob;
        o->config.knob[i].value = knob->value_of_knob;
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set_config(object *o, cudnnBackendAttributeName_t name, int64_t count,
                                const void *elements)
{
    const cudnnBackendDescriptor_t *elements_ = elements;
    if (name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)
        return set_knobs(o, count, elements_);
    if (name != CUDNN_ATTR_ENGINECFG_ENGINE || count != 1 ||
        !usable(elements_[0], CUDNN_BACKEND_ENGINE_DESCRIPTOR))
        return illegal(CUDNN_STATUS_BAD_PARAM);
    o->has_engine = true;
    o->config.engine = ((const object *)elements_[0])->config.engine;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set_heuristics(object *o, cudnnBackendAttributeName_t name, int64_t count,
                                    const void *elements)
{
    const cudnnBackendDescriptor_t *elements_ = elements;
    if (name == CUDNN_ATTR_ENGINEHEUR_MODE && count == 1) {
        memcpy(&o->mode, elements, sizeof o->mode);
        o->has_mode = true;
    } else if (name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH && count == 1 &&
               usable(elements_[0], CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)) {
        o->has_graph = true;
    } else if (name == CUDNN_ATTR_ENGINEHEUR_DEVICEPROP && count == 1 &&
               usable(elements_[0], CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)) {
        o->has_properties = true;
    } else {
        return illegal(CUDNN_STATUS_BAD_PARAM);
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    object *o = descriptor;
    (void)type;
    if (fails())
        return library.failure;
    if (!o)
        return (cudnnStatus_t)2002; /* as BAD_PARAM, more precisely */
    if (o->state != FRESH)
        return CUDNN_STATUS_BAD_PARAM;
    switch (o->type) {
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return set_config(o, name, count, elements);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return set_heuristics(o, name, count, elements);
    default: return CUDNN_STATUS_BAD_PARAM;
    }
}

static cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor)
{
    object *o = descriptor;
    if (fails())
        return library.failure;
    if (!o || o->state != FRESH)
        return illegal(CUDNN_STATUS_BAD_PARAM);
    if (o->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) {
        if (!o->has_engine)
            return illegal(CUDNN_STATUS_BAD_PARAM);
        if (library.other_knobs && o->config.knobs)
            o->config.knob[0].value++;
    } else if (o->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
        if (!o->has_graph || !o->has_mode)
            return illegal(CUDNN_STATUS_BAD_PARAM);
        if (library.refuses_properties && o->has_properties)
            return CUDNN_STATUS_NOT_SUPPORTED;
        if (library.deviceless && !o->has_properties)
            o->mode = 0;
        if (library.list[o->mode].refused)
            return library.list[o->mode].refused;
    }
    o->state = FINALIZED;
    return CUDNN_STATUS_SUCCESS;
}

static object *fill(cudnnBackendDescriptor_t element, cudnnBackendDescriptorType_t type)
{
    object *o = element;
    if (!o || o->type != type || o->state != FRESH)
        return NULL;
    o->state = FILLED;
    return o;
}

static int64_t fill_list(const object *heuristics, int64_t requested,
                         cudnnBackendDescriptor_t *configs)
{
    int64_t filled = 0;
    library.reads += requested > 1;
    for (; filled < requested && filled < library.list[heuristics->mode].configs; filled++) {
        object *config = fill(configs[filled], CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        if (!config)
            break;
        config->config = library.list[heuristics->mode].config[filled];
    }
    return filled;
}

static int64_t fill_knobs(const object *config, int64_t requested, cudnnBackendDescriptor_t *knobs)
{
    int64_t filled = 0;
    if (library.hides_knobs && config->state == FILLED)
        return 0;
    for (; filled < requested && filled < config->config.knobs; filled++) {
        object *knob = fill(knobs[filled], CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        if (!knob)
            break;
        knob->type_of_knob = config->config.knob[filled].type;
        knob->value_of_knob = config->config.knob[filled].value;
    }
    return filled;
}

static int64_t fill_notes(const object *engine, int64_t requested, int *notes)
{
    int64_t filled = 0;
    for (int note = 0; note < 64; note++)
        if (library.notes[engine->config.engine] >> note & 1 && filled < requested)
            notes[filled++] = note;
    return filled;
}

static int64_t fill_part(int64_t engine, cudnnBackendDescriptor_t element,
                         cudnnBackendDescriptorType_t type)
{
    object *part = fill(element, type);
    if (part)
        part->config.engine = engine;
    return part != NULL;
}

static int64_t workspace_of(const list_config *config)
{
    int64_t bytes = config->engine << 32;
    if (library.no_workspace)
        return 0;
    for (int i = 0; i < config->knobs; i++)
        bytes += config->knob[i].type * 1000 + config->knob[i].value;
    return bytes;
}

static cudnnStatus_t number(int64_t value, int64_t *count, void *elements)
{
    memcpy(elements, &value, sizeof value);
    *count = 1;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t requested, int64_t *count,
                         void *elements)
{
    object *o = descriptor;
    int64_t filled = 0;
    (void)type;
    if (fails())
        return library.failure;
    if (!o)
        return CUDNN_STATUS_BAD_PARAM;
    if (o->state == FRESH)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (!count)
        count = &filled;
    switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        *count = requested == 0 || !elements ? library.list[o->mode].configs + library.above
                                             : fill_list(o, requested, elements);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
        *count = requested == 0 ? 0 : fill_knobs(o, requested, elements);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINECFG_ENGINE:
        *count = fill_part(o->config.engine, *(cudnnBackendDescriptor_t *)elements,
                           CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_OPERATION_GRAPH:
        *count = fill_part(0, *(cudnnBackendDescriptor_t *)elements,
                           CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_DEVICEPROP:
        if (!library.deviceless && !library.refuses_properties)
            return CUDNN_STATUS_NOT_SUPPORTED;
        *count = fill_part(0, *(cudnnBackendDescriptor_t *)elements,
                           CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        *count = fill_notes(o, requested, elements);
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
        memcpy(elements, &o->type_of_knob, sizeof o->type_of_knob);
        *count = 1;
        return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE: return number(o->value_of_knob, count, elements);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX: return number(o->config.engine, count, elements);
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        return number(workspace_of(&o->config), count, elements);
    default: return illegal(CUDNN_STATUS_BAD_PARAM);
    }
}

static void get_text(char *text, size_t size)
{
    if (size)
        *text = '\0';
}

void *gdnn_real(gdnn_api which)
{
    switch (which) {
    case GDNN_API_cudnnBackendCreateDescriptor: return (void *)create;
    case GDNN_API_cudnnBackendDestroyDescriptor: return (void *)destroy;
    case GDNN_API_cudnnBackendFinalize: return (void *)finalize;
    case GDNN_API_cudnnBackendSetAttribute: return (void *)set;
    case GDNN_API_cudnnBackendGetAttribute: return (void *)get;
    case GDNN_API_cudnnGetLastErrorString: return (void *)get_text;
    default: fail_msg("function %d was not expected", which); return NULL;
    }
}

cudnnBackendDescriptor_t list_create(cudnnBackendDescriptorType_t type)
{
    return make(type);
}

cudnnBackendDescriptor_t list_heuristics(int mode)
{
    object *heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics->mode = mode;
    heuristics->state = FINALIZED;
    return heuristics;
}

cudnnBackendDescriptor_t list_made(const list_config *what)
{
    object *config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    config->config = *what;
    config->state = FINALIZED;
    return config;
}

void list_destroy(cudnnBackendDescriptor_t descriptor)
{
    library.alive -= descriptor != NULL;
    free(descriptor);
}

const list_config *list_look(cudnnBackendDescriptor_t config)
{
    const object *o = config;
    return usable(o, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) ? &o->config : NULL;
}

bool list_was_filled(cudnnBackendDescriptor_t config)
{
    return ((const object *)config)->state == FILLED;
}

bool list_same(const list_config *a, const list_config *b)
{
    if (a->engine != b->engine || a->knobs != b->knobs)
        return false;
    for (int i = 0; i < a->knobs; i++)
        if (a->knob[i].type != b->knob[i].type || a->knob[i].value != b->knob[i].value)
            return false;
    return true;
}
