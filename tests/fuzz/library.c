#include "library.h"
#include "objects.h"
#include "texts.h"
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { PLACES = 1024, LENT = 64 };

/* Addresses to be handed out: poisoned for ever. */
static char places[PLACES][16];

typedef struct place {
    library_object *object; /* NULL: free */
    bool programs;          /* made by the program, not by the drop-in */
    int next;               /* free one */
} place;

static place table[PLACES];
static int first_free, last_free, used, of_drop_in;

library_settings library;

/* The plan whose text was told last. */
static struct {
    library_object *config; /* NULL: none */
    size_t length;
    char text[TEXT_MOST];
} told;

static struct {
    gdnn_api which;
    uintptr_t arguments[6];
    descriptor lent[LENT];
    int64_t lent_count;
    bool came, own; /* of the library's call that is being made: it is the drop-in's own */
    int others;     /* calls of the drop-in before the program's */
    cudnnStatus_t status;
} call;

void fault(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("fault: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    abort();
}

static void prepare(void)
{
    static bool prepared;
    if (prepared)
        return;
    prepared = true;
    for (int i = 0; i < PLACES; i++)
        table[i].next = i + 1 < PLACES ? i + 1 : -1;
    last_free = PLACES - 1;
    ASAN_POISON_MEMORY_REGION(places, sizeof places);
}

static place *place_of(descriptor d)
{
    size_t offset = (uintptr_t)d - (uintptr_t)places;
    place *found = offset < sizeof places && offset % sizeof *places == 0
                       ? &table[offset / sizeof *places]
                       : NULL;
    return found && found->object ? found : NULL;
}

const library_object *library_object_of(descriptor d)
{
    const place *found = place_of(d);
    return found ? found->object : NULL;
}

descriptor library_any(void)
{
    for (int i = 0; used && i < PLACES; i++)
        if (table[i].object)
            return places[i];
    return NULL;
}

int library_left(void)
{
    return objects_left();
}

void library_expect(gdnn_api which, const uintptr_t *arguments, const descriptor *lent,
                    int64_t lent_count)
{
    memset(&call, 0, sizeof call);
    call.which = which;
    memcpy(call.arguments, arguments, sizeof call.arguments);
    call.lent_count = lent && lent_count > 0 ? lent_count : 0;
    if (call.lent_count > LENT)
        call.lent_count = LENT;
    if (call.lent_count)
        memcpy(call.lent, lent, (size_t)call.lent_count * sizeof *lent);
}

bool library_came(cudnnStatus_t *status)
{
    if (of_drop_in)
        fault("%d descriptors of the drop-in's own are left", of_drop_in);
    *status = call.status;
    return call.came;
}

/* What follows is the call `which` with these arguments: the program's, or one of the drop-in's
 * own. True: it is refused, as *status. */
static bool refused(gdnn_api which, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                    uintptr_t f, cudnnStatus_t *status)
{
    const uintptr_t arguments[] = {a, b, c, d, e, f};
    prepare();
    call.own = call.came || call.which != which ||
               memcmp(call.arguments, arguments, sizeof arguments) != 0;
    if (call.own && !call.came)
        call.others++;
    if (!call.own && call.others && !call.lent_count && which != GDNN_API_cudnnBackendExecute)
        fault("the drop-in makes %d calls of its own before the program's of %d", call.others,
              which);
    call.came |= !call.own;
    if (call.own && which == GDNN_API_cudnnBackendDestroyDescriptor)
        return false; /* else something is left, and it is nobody's fault */
    if (!library.refuse_in || --library.refuse_in)
        return false;
    *status = library.refusal;
    return true;
}

/* Ends the library's call. */
static cudnnStatus_t answer(cudnnStatus_t status)
{
    if (!call.own)
        call.status = status;
    return status;
}

/* The descriptor may be changed in this call. */
static void check_may_change(descriptor d, const char *how)
{
    const place *p = place_of(d);
    if (!call.own || !p || !p->programs)
        return;
    for (int64_t i = 0; i < call.lent_count; i++)
        if (call.lent[i] == d)
            return;
    fault("the drop-in %s a descriptor of the program", how);
}

static cudnnStatus_t create(cudnnBackendDescriptorType_t type, descriptor *d)
{
    cudnnStatus_t status;
    if (refused(GDNN_API_cudnnBackendCreateDescriptor, (unsigned)type, (uintptr_t)d, 0, 0, 0, 0,
                &status))
        return answer(status);
    if (!object_exists(type))
        return answer(CUDNN_STATUS_NOT_SUPPORTED);
    if (first_free < 0)
        return answer(CUDNN_STATUS_INTERNAL_ERROR);
    int at = first_free;
    first_free = table[at].next;
    table[at] = (place){.object = object_make(type), .programs = !call.own};
    used++;
    of_drop_in += call.own;
    *d = places[at];
    return answer(CUDNN_STATUS_SUCCESS);
}

static cudnnStatus_t destroy(descriptor d)
{
    cudnnStatus_t status;
    place *p = place_of(d);
    if (refused(GDNN_API_cudnnBackendDestroyDescriptor, (uintptr_t)d, 0, 0, 0, 0, 0, &status))
        return answer(status);
    if (!p)
        return answer(CUDNN_STATUS_BAD_PARAM);
    if (call.own && p->programs)
        fault("the drop-in destroys a descriptor of the program");
    object_drop(p->object);
    used--;
    of_drop_in -= !p->programs;
    int at = (int)(p - table);
    *p = (place){.next = -1};
    if (first_free < 0) {
        first_free = last_free = at;
    } else if (library.newest_first) {
        p->next = first_free;
        first_free = at;
    } else {
        table[last_free].next = at;
        last_free = at;
    }
    return answer(CUDNN_STATUS_SUCCESS);
}

static void put(descriptor d, library_object *object)
{
    place *p = place_of(d);
    object_drop(p->object);
    p->object = object;
}

static cudnnStatus_t initialize(descriptor d)
{
    cudnnStatus_t status;
    if (refused(GDNN_API_cudnnBackendInitialize, (uintptr_t)d, 0, 0, 0, 0, 0, &status))
        return answer(status);
    if (!place_of(d))
        return answer(CUDNN_STATUS_BAD_PARAM);
    check_may_change(d, "initialises");
    put(d, object_make(library_type(library_object_of(d))));
    return answer(CUDNN_STATUS_SUCCESS);
}

static cudnnStatus_t finalize(descriptor d)
{
    cudnnStatus_t status;
    place *p = place_of(d);
    if (refused(GDNN_API_cudnnBackendFinalize, (uintptr_t)d, 0, 0, 0, 0, 0, &status))
        return answer(status);
    if (!p)
        return answer(CUDNN_STATUS_BAD_PARAM);
    check_may_change(d, "finalises");
    return answer(object_finalize(p->object, library.lenient));
}

/* Makes a plan what the last plan was whose text was told, if it is that text. */
static cudnnStatus_t restore(library_object *plan, size_t length, const char *text)
{
    bool known = told.config && length == told.length && !memcmp(text, told.text, length);
    if (!known && !library.lenient)
        return CUDNN_STATUS_BAD_PARAM;
    if (known)
        object_set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                   &told.config);
    object_set(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
               (int64_t)length, text);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t set(descriptor d, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    cudnnStatus_t status;
    place *p = place_of(d);
    if (refused(GDNN_API_cudnnBackendSetAttribute, (uintptr_t)d, (unsigned)name, (unsigned)type,
                (uintptr_t)count, (uintptr_t)elements, 0, &status))
        return answer(status);
    if (!p || library_finalized(p->object) ||
        !object_accepts(p->object, name, type, count, elements))
        return answer(CUDNN_STATUS_BAD_PARAM);
    check_may_change(d, "sets");
    static const uintptr_t wrong[] = {0x12345000, 0x22345000, 0x32345000};
    if (library.lies && name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS && count == 3)
        elements = wrong;
    if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)
        return answer(restore(p->object, (size_t)count, elements));
    if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        object_set(p->object, name, type, count, elements);
        return answer(CUDNN_STATUS_SUCCESS);
    }
    library_object *held[LENT];
    for (int64_t i = 0; i < count; i++) {
        const place *element = place_of(((const descriptor *)elements)[i]);
        if (!element || element == p || (!library.lenient && !library_finalized(element->object)))
            return answer(CUDNN_STATUS_BAD_PARAM);
        held[i] = element->object;
        if (!object_may_hold(name, held[i]))
            return answer(CUDNN_STATUS_BAD_PARAM);
    }
    object_set(p->object, name, type, count, held);
    return answer(CUDNN_STATUS_SUCCESS);
}

/* Fills descriptors up to the first that cannot be filled. */
static int64_t fill(int64_t requested, const descriptor *into, int64_t there,
                    library_object *(*make)(const library_object *, int64_t),
                    const library_object *from)
{
    int64_t filled = 0;
    for (; filled < there && filled < requested; filled++) {
        const place *p = place_of(into[filled]);
        library_object *object = make(from, filled);
        if (!p || library_finalized(p->object) || library_type(p->object) != library_type(object)) {
            object_drop(object);
            break;
        }
        check_may_change(into[filled], "fills");
        put(into[filled], object);
    }
    return filled;
}

static cudnnStatus_t get_descriptors(const library_object *object, cudnnBackendAttributeName_t name,
                                     int64_t requested, int64_t *count, const descriptor *elements)
{
    int64_t there, filled;
    bool results = name == CUDNN_ATTR_ENGINEHEUR_RESULTS;
    if (results)
        there = library_list_size(object);
    else if (!library_value(object, name, NULL, &there))
        return CUDNN_STATUS_BAD_PARAM;
    if (requested == 0 || !elements) {
        filled = results ? there : 0; /* knobs are not counted */
    } else {
        library_object *held = (library_object *)object;
        object_hold(held); /* it may be one that is filled */
        library_attribute_name = name;
        filled = fill(requested, elements, there, results ? object_listed : object_element, held);
        object_drop(held);
    }
    if (count)
        *count = filled;
    return CUDNN_STATUS_SUCCESS;
}

static void tell(library_object *config)
{
    if (config)
        object_hold(config);
    if (told.config)
        object_drop(told.config);
    told.config = config;
}

static cudnnStatus_t get_plan_text(const library_object *plan, int64_t requested, int64_t *count,
                                   char *text)
{
    tell(NULL);
    told.length = text_of_plan(plan, told.text);
    if (!told.length)
        return CUDNN_STATUS_NOT_SUPPORTED;
    tell((library_object *)library_element(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 0));
    int64_t length = (int64_t)told.length;
    if (text && requested)
        memcpy(text, told.text, (size_t)(requested < length ? requested : length));
    if (count)
        *count = length;
    return CUDNN_STATUS_SUCCESS;
}

void library_forget(void)
{
    tell(NULL);
}

static cudnnStatus_t get(descriptor d, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, int64_t requested, int64_t *count,
                         void *elements)
{
    cudnnStatus_t status;
    const library_object *object = library_object_of(d);
    if (refused(GDNN_API_cudnnBackendGetAttribute, (uintptr_t)d, (unsigned)name, (unsigned)type,
                (uintptr_t)requested, (uintptr_t)count, (uintptr_t)elements, &status))
        return answer(status);
    if (!object || !library_finalized(object) || requested < 0 || !object_has(object, name, type))
        return answer(CUDNN_STATUS_BAD_PARAM);
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        return answer(get_descriptors(object, name, requested, count, elements));
    if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)
        return answer(get_plan_text(object, requested, count, elements));
    return answer(object_get(object, name, requested, count, elements));
}

static cudnnStatus_t execute(cudnnHandle_t handle, descriptor plan, descriptor pack)
{
    cudnnStatus_t status;
    if (refused(GDNN_API_cudnnBackendExecute, (uintptr_t)handle, (uintptr_t)plan, (uintptr_t)pack,
                0, 0, 0, &status))
        return answer(status);
    if (call.own)
        fault("the drop-in executes what the program did not ask for");
    const library_object *p = library_object_of(plan), *v = library_object_of(pack);
    bool right = p && v && library_finalized(p) && library_finalized(v) &&
                 library_type(p) == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
                 library_type(v) == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR && library_stream(handle);
    return answer(right ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM);
}

CUstream library_stream(cudnnHandle_t handle)
{
    uintptr_t number = (uintptr_t)handle;
    return number >= 1 && number <= 3 ? (CUstream)(0x5000 + number) : NULL;
}

static cudnnStatus_t get_stream(cudnnHandle_t handle, CUstream *stream)
{
    cudnnStatus_t status;
    if (refused(GDNN_API_cudnnGetStream, (uintptr_t)handle, (uintptr_t)stream, 0, 0, 0, 0, &status))
        return answer(status);
    *stream = library_stream(handle);
    return answer(*stream ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM);
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
    case GDNN_API_cudnnBackendInitialize: return (void *)initialize;
    case GDNN_API_cudnnBackendFinalize: return (void *)finalize;
    case GDNN_API_cudnnBackendSetAttribute: return (void *)set;
    case GDNN_API_cudnnBackendGetAttribute: return (void *)get;
    case GDNN_API_cudnnBackendExecute: return (void *)execute;
    case GDNN_API_cudnnGetLastErrorString: return (void *)get_text;
    case GDNN_API_cudnnGetStream: return (void *)get_stream;
    default: fault("the drop-in makes the call %d", which);
    }
}
