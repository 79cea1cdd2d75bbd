#include "program.h"
#include "graph.h"
#include "graph_table.h"
#include "launcher.h"
#include "options.h"
#include <string.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { MOST_RESULTS = 64 };

program_counts program;

#define WORD(value)   ((uintptr_t)(value))
#define NUMBER(value) ((uintptr_t)(unsigned)(value)) /* of an enumeration, whatever it is */

static void expect(gdnn_api which, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                   uintptr_t f)
{
    const uintptr_t arguments[] = {a, b, c, d, e, f};
    library_expect(which, arguments, NULL, 0);
}

static void check_passed_on(gdnn_api which, cudnnStatus_t status)
{
    cudnnStatus_t answered;
    if (!library_came(&answered))
        fault("call %d with the program's arguments did not come", which);
    if (answered != status)
        fault("call %d: the program got %d for %d", which, status, answered);
}

descriptor program_create(int type)
{
    descriptor made = NULL;
    expect(GDNN_API_cudnnBackendCreateDescriptor, NUMBER(type), WORD(&made), 0, 0, 0, 0);
    cudnnStatus_t status =
        gdnn_cudnnBackendCreateDescriptor((cudnnBackendDescriptorType_t)type, &made);
    check_passed_on(GDNN_API_cudnnBackendCreateDescriptor, status);
    return status == CUDNN_STATUS_SUCCESS ? made : NULL;
}

void program_destroy(descriptor d)
{
    expect(GDNN_API_cudnnBackendDestroyDescriptor, WORD(d), 0, 0, 0, 0, 0);
    check_passed_on(GDNN_API_cudnnBackendDestroyDescriptor, gdnn_cudnnBackendDestroyDescriptor(d));
}

void program_initialize(descriptor d)
{
    expect(GDNN_API_cudnnBackendInitialize, WORD(d), 0, 0, 0, 0, 0);
    check_passed_on(GDNN_API_cudnnBackendInitialize, gdnn_cudnnBackendInitialize(d));
}

void program_finalize(descriptor d)
{
    expect(GDNN_API_cudnnBackendFinalize, WORD(d), 0, 0, 0, 0, 0);
    check_passed_on(GDNN_API_cudnnBackendFinalize, gdnn_cudnnBackendFinalize(d));
}

void program_set(descriptor d, int name, int type, int64_t count, const void *elements)
{
    expect(GDNN_API_cudnnBackendSetAttribute, WORD(d), NUMBER(name), NUMBER(type), WORD(count),
           WORD(elements), 0);
    check_passed_on(GDNN_API_cudnnBackendSetAttribute,
                    gdnn_cudnnBackendSetAttribute(d, (cudnnBackendAttributeName_t)name,
                                                  (cudnnBackendAttributeType_t)type, count,
                                                  elements));
}

static bool is_blank_config(descriptor d)
{
    const library_object *object = library_object_of(d);
    return object && library_type(object) == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR &&
           !library_finalized(object);
}

/* Whether all can be filled, each for itself. */
static bool are_proper(int64_t requested, const descriptor *configs)
{
    for (int64_t i = 0; i < requested; i++) {
        if (!is_blank_config(configs[i]))
            return false;
        for (int64_t j = 0; j < i; j++)
            if (configs[j] == configs[i])
                return false;
    }
    return true;
}

/* All of the library's list is there, in its order, as far as there was room; others are copies of what came before. */
static void check_list(const library_object *heuristics, int64_t requested, const int64_t *count,
                       const descriptor *configs)
{
    int64_t size = library_list_size(heuristics), met = 0, filled = 0;
    bool observes = gdnn_options_get()->mode == GDNN_MODE_OBSERVE;
    while (filled < requested && !is_blank_config(configs[filled]))
        filled++;
    for (int64_t i = filled; i < requested; i++)
        if (!is_blank_config(configs[i]))
            fault("configuration %lld is filled behind one that is not", (long long)i);
    if (count && *count != filled)
        fault("%lld configurations are filled, but there are said to be %lld", (long long)filled,
              (long long)*count);
    for (int64_t i = 0; i < filled; i++) {
        const library_object *config = library_object_of(configs[i]);
        int64_t at = met;
        if (met < size && library_in_list(heuristics, met, config)) {
            met++;
            continue;
        }
        do
            at--;
        while (at >= 0 && !library_in_list(heuristics, at, config));
        if (at < 0 || observes)
            fault("configuration %lld is none of the list", (long long)i);
        program.marked++;
    }
    if (met < size && met + 1 < requested)
        fault("%lld configurations of a list of %lld are there, with room for %lld", (long long)met,
              (long long)size, (long long)requested);
}

static void get_results(descriptor d, int64_t requested, int64_t *count, descriptor *configs)
{
    const uintptr_t arguments[] = {WORD(d),
                                   CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                   WORD(requested),
                                   WORD(count),
                                   WORD(configs)};
    bool fills = configs && requested > 0 && requested <= MOST_RESULTS;
    bool proper = fills && are_proper(requested, configs);
    bool refuses = library.refuse_in;
    library_expect(GDNN_API_cudnnBackendGetAttribute, arguments, configs, fills ? requested : 0);
    cudnnStatus_t answered, status = gdnn_cudnnBackendGetAttribute(d, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                                   CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                                   requested, count, configs);
    bool came = library_came(&answered);
    if (!came && !fills)
        fault("the program's question for the number of results did not come");
    if (came && !proper && answered != status)
        fault("the program got %d for %d", status, answered);
    if (!refuses && !came && status != CUDNN_STATUS_SUCCESS)
        fault("results were refused with %d by nobody", status);
    if (status == CUDNN_STATUS_SUCCESS && proper)
        check_list(library_object_of(d), requested, count, configs);
}

void program_get(descriptor d, int name, int type, int64_t requested, int64_t *count,
                 void *elements)
{
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS && type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        get_results(d, requested, count, elements);
        return;
    }
    expect(GDNN_API_cudnnBackendGetAttribute, WORD(d), NUMBER(name), NUMBER(type), WORD(requested),
           WORD(count), WORD(elements));
    check_passed_on(GDNN_API_cudnnBackendGetAttribute,
                    gdnn_cudnnBackendGetAttribute(d, (cudnnBackendAttributeName_t)name,
                                                  (cudnnBackendAttributeType_t)type, requested,
                                                  count, elements));
}

/* The object of a finalised descriptor. */
static const library_object *finished(descriptor d, int type)
{
    const library_object *object = library_object_of(d);
    if (!object || library_type(object) != type || !library_finalized(object))
        fault("launched for a descriptor that is no finalised one of type %d", type);
    return object;
}

static void check_launch(cudnnHandle_t handle, descriptor plan, descriptor variant_pack)
{
    const launch *l = &launcher.last;
    bool turned = false;
    if (!library_stream(handle) || l->stream != library_stream(handle))
        fault("launched in another stream than the handle's");
    program.checked += meaning_check(finished(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
                                     finished(variant_pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR),
                                     l, program.executes, &turned);
    program.special += strncmp(l->kernel, "gdnn_direct_", strlen("gdnn_direct_")) != 0;
    program.turned += turned;
    program.finished += launcher.launches == 2;
}

void program_execute(cudnnHandle_t handle, descriptor plan, descriptor variant_pack)
{
    launcher.launches = 0;
    expect(GDNN_API_cudnnBackendExecute, WORD(handle), WORD(plan), WORD(variant_pack), 0, 0, 0);
    cudnnStatus_t answered, status = gdnn_cudnnBackendExecute(handle, plan, variant_pack);
    bool came = library_came(&answered);
    program.executes++;
    program.launches += (unsigned)launcher.launches;
    if (came + (launcher.launches > 0) != 1 || launcher.launches > 2)
        fault("%d launches, and %d executes of the library", launcher.launches, came);
    if (status != (came ? answered : CUDNN_STATUS_SUCCESS))
        fault("the program got %d of an execute", status);
    if (launcher.launches)
        check_launch(handle, plan, variant_pack);
}

void program_check_end(void)
{
    library_forget();
    if (library_left())
        fault("%d descriptors of the library are left", library_left());
    if (gdnn_graph_table_entries())
        fault("%d descriptors are known that were destroyed", gdnn_graph_table_entries());
}
