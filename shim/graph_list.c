#include "graph_list.h"
#include "api.h"
#include "graph_api.h"
#include <stdlib.h>
#include <string.h>

typedef cudnnBackendDescriptor_t descriptor;
typedef struct gdnn_graph_known known_list;

enum {
    ADDED = 4,        /* that a program is told to have room for; no list of cuDNN 9.19 had more */
    FIRSTS = 16,      /* of a list, by the rule */
    KNOWN_MOST = 512, /* configurations of a list that is kept; lists have some tens */
};

/* The notes of those configurations of a list that were the first to pass some filter. */
typedef struct firsts {
    int sets;
    unsigned set[FIRSTS];
} firsts;

/* Passes the next configuration of a list. Whether no earlier one has a subset of its notes. What is not known counts as
 * a subset of everything. */
static bool pass(firsts *passed, bool known, unsigned notes)
{
    if (!known)
        notes = 0;
    for (int i = 0; i < passed->sets; i++)
        if ((passed->set[i] & notes) == passed->set[i])
            return false;
    if (passed->sets == FIRSTS)
        return false;
    passed->set[passed->sets++] = notes;
    return known;
}

/* The same, and whether the configuration is ours. */
static bool mark(firsts *passed, descriptor config, const gdnn_graph_chooser *chooser)
{
    unsigned notes = 0;
    bool known = gdnn_graph_config_notes(config, &notes);
    return pass(passed, known, notes) && chooser->takes(chooser->context, notes);
}

int64_t gdnn_graph_list_most(int64_t most)
{
    return most > 0 ? most + ADDED : most;
}

/* Has cuDNN fill configurations with the first of its list. It goes on until one cannot be filled: NULL, finalised or
 * filled before, of another type. That is a success too: *count is how many came. */
static cudnnStatus_t fill(descriptor heuristics, int64_t requested, int64_t *count,
                          descriptor *configs)
{
    cudnnStatus_t status = GDNN_REAL(cudnnBackendGetAttribute)(
        heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, requested, count,
        configs);
    if (status == CUDNN_STATUS_SUCCESS && *count > requested)
        *count = requested;
    return status;
}

/* Fills configs[0] with cuDNN's first, and the others with its list from the first on. Where *count is 1 the first is
 * there once only. */
static cudnnStatus_t fill_first_twice(descriptor heuristics, int64_t requested, int64_t *count,
                                      descriptor *configs)
{
    int64_t behind = 0;
    cudnnStatus_t status = fill(heuristics, requested - 1, &behind, configs + 1);
    if (status == CUDNN_STATUS_SUCCESS && behind > 0 &&
        gdnn_graph_config_clone(configs[1], configs[0])) {
        *count = behind + 1;
        return status;
    }
    /* cuDNN fills it once more; or it says itself that there is no list, or that configs[0] cannot be filled. */
    if (status == CUDNN_STATUS_SUCCESS)
        status = fill(heuristics, 1, count, configs);
    if (status == CUDNN_STATUS_SUCCESS && *count == 1)
        *count += behind;
    return status;
}

/* Whether cuDNN's first configuration is taken. It is looked at only where that may depend on it: cuDNN finds it in 30
 * microseconds for most graphs, but in 10 milliseconds and more for some. */
static bool takes_first(descriptor heuristics, const gdnn_graph_chooser *chooser)
{
    bool without = chooser->takes(chooser->context, 0),
         with = chooser->takes(chooser->context, 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    if (without == with)
        return with;
    unsigned notes;
    descriptor first = gdnn_graph_part(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    bool taken = gdnn_graph_config_notes(first, &notes) && chooser->takes(chooser->context, notes);
    gdnn_graph_part_drop(first);
    return taken;
}

cudnnStatus_t gdnn_graph_list_get(descriptor heuristics, int64_t requested, int64_t *count,
                                  descriptor *configs, bool changes,
                                  const gdnn_graph_chooser *chooser,
                                  void (*filled)(void *context, descriptor config, bool ours))
{
    int64_t own = 0, begin = 0;
    if (!count)
        count = &own;
    bool front = changes && requested >= 2 && takes_first(heuristics, chooser);
    cudnnStatus_t status = (front ? fill_first_twice : fill)(heuristics, requested, count, configs);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;

    const int64_t end = *count;
    firsts passed = {0};
    if (front && end > 1) {
        filled(chooser->context, configs[0], mark(&passed, configs[1], chooser));
        filled(chooser->context, configs[1], false);
        begin = 2;
    }
    for (int64_t i = begin; i < end; i++) {
        bool ours = mark(&passed, configs[i], chooser);
        filled(chooser->context, configs[i], ours);
        if (ours && changes && *count < requested &&
            gdnn_graph_config_clone(configs[i], configs[*count]))
            ++*count;
    }
    for (int64_t i = end; i < *count; i++)
        filled(chooser->context, configs[i], false);
    return status;
}

/* What is kept of a configuration. */
typedef struct known_config {
    int64_t engine;
    gdnn_graph_knob *knob;
    int knobs;
    bool first; /* by the rule: ours if its notes are taken */
} known_config;

struct gdnn_graph_known {
    int64_t configs;
    known_config config[];
};

static void forget(known_list *list)
{
    for (int64_t i = 0; list && i < list->configs; i++)
        free(list->config[i].knob);
    free(list);
}

/* False: no memory. */
static bool keep(known_list *list, const gdnn_graph_config *facts, bool first)
{
    size_t bytes = (size_t)facts->knobs * sizeof *facts->knob;
    gdnn_graph_knob *knob = bytes ? malloc(bytes) : NULL;
    if (bytes && !knob)
        return false;
    if (bytes)
        memcpy(knob, facts->knob, bytes);
    list->config[list->configs++] = (known_config){facts->engine, knob, facts->knobs, first};
    return true;
}

/* NULL: cuDNN does not tell all, or there is no memory. */
static known_list *know(const descriptor *configs, int64_t count)
{
    gdnn_graph_config facts;
    firsts passed = {0};
    known_list *list = calloc(1, sizeof *list + (size_t)count * sizeof *list->config);
    for (int64_t i = 0; list && i < count; i++)
        if (!gdnn_graph_config_read(configs[i], &facts) ||
            !keep(list, &facts, pass(&passed, true, facts.notes))) {
            forget(list);
            list = NULL;
        }
    return list;
}

/* The list of finalised heuristics. NULL: as above. */
static known_list *read_results(descriptor heuristics)
{
    descriptor configs[KNOWN_MOST];
    int64_t most = 0, count = 0, made = 0;
    known_list *list = NULL;
    if (GDNN_REAL(cudnnBackendGetAttribute)(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                            CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &most,
                                            NULL) != CUDNN_STATUS_SUCCESS)
        return NULL;
    if (most > KNOWN_MOST)
        most = KNOWN_MOST;
    while (made < most &&
           GDNN_REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                                   &configs[made]) == CUDNN_STATUS_SUCCESS)
        made++;
    if (made >= most &&
        (most <= 0 || fill(heuristics, most, &count, configs) == CUDNN_STATUS_SUCCESS))
        list = know(configs, count);
    while (made > 0)
        gdnn_graph_part_drop(configs[--made]);
    return list;
}

static cudnnStatus_t set(descriptor at, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, const void *element)
{
    return GDNN_REAL(cudnnBackendSetAttribute)(at, name, type, 1, element);
}

/* Makes the heuristics of a graph, on the device that `properties` describe; NULL: on the graph's own. */
static cudnnStatus_t make_heuristics(descriptor graph, descriptor properties,
                                     cudnnBackendHeurMode_t mode, descriptor *made)
{
    descriptor heuristics;
    cudnnStatus_t status =
        GDNN_REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    status = set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 &graph);
    if (status == CUDNN_STATUS_SUCCESS)
        status = set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, &mode);
    if (status == CUDNN_STATUS_SUCCESS && properties)
        status = set(heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                     &properties);
    if (status == CUDNN_STATUS_SUCCESS)
        status = GDNN_REAL(cudnnBackendFinalize)(heuristics);
    if (status == CUDNN_STATUS_SUCCESS)
        *made = heuristics;
    else
        gdnn_graph_part_drop(heuristics);
    return status;
}

/* Each NOT_SUPPORTED of cuDNN 9 says more precisely what is not. */
static bool not_supported(cudnnStatus_t status)
{
    return status >= CUDNN_STATUS_NOT_SUPPORTED && status < CUDNN_STATUS_INTERNAL_ERROR;
}

/* The list of a mode; NULL: as above. Heuristics that do not support the graph have an empty one. */
static known_list *read_list(descriptor graph, descriptor properties, cudnnBackendHeurMode_t mode)
{
    descriptor heuristics;
    cudnnStatus_t status = make_heuristics(graph, properties, mode, &heuristics);
    bool unsupported = not_supported(status);
    /* A graph with a handle has a device, and may refuse another. */
    if (status != CUDNN_STATUS_SUCCESS && properties)
        status = make_heuristics(graph, NULL, mode, &heuristics);
    if (status != CUDNN_STATUS_SUCCESS)
        return unsupported || not_supported(status) ? know(NULL, 0) : NULL;
    known_list *list = read_results(heuristics);
    gdnn_graph_part_drop(heuristics);
    return list;
}

static const known_config *find(const known_list *list, const gdnn_graph_config *facts)
{
    for (int64_t i = 0; i < list->configs; i++)
        if (list->config[i].engine == facts->engine &&
            gdnn_graph_knobs_same(list->config[i].knob, list->config[i].knobs, facts->knob,
                                  facts->knobs))
            return &list->config[i];
    return NULL;
}

/* Whether the configuration is the first of some filter, in the first list that holds it. Lists that are not there yet
 * are read. */
static bool is_first(known_list **lists, descriptor engine, const gdnn_graph_config *facts)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A,
                                                   CUDNN_HEUR_MODE_FALLBACK};
    const known_config *found = NULL;
    descriptor graph = NULL, properties = NULL;
    for (int i = 0; i < 3 && !found; i++) {
        if (!lists[i] && !graph) {
            graph = gdnn_graph_part(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                                    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
            properties = gdnn_graph_part(engine, CUDNN_ATTR_ENGINE_DEVICEPROP,
                                         CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
        }
        if (!lists[i] && graph)
            lists[i] = read_list(graph, properties, modes[i]);
        if (!lists[i])
            break;
        found = find(lists[i], facts);
    }
    if (graph) /* cuDNN leaves some even where it succeeds */
        gdnn_graph_drop_text();
    gdnn_graph_part_drop(properties);
    gdnn_graph_part_drop(graph);
    return found && found->first;
}

void gdnn_graph_lists_begin(gdnn_graph_lists *lists)
{
    pthread_mutex_init(&lists->lock, NULL);
    memset(lists->list, 0, sizeof lists->list);
}

static void forget_all(known_list **lists)
{
    for (int i = 0; i < 3; i++)
        forget(lists[i]);
}

void gdnn_graph_lists_end(gdnn_graph_lists *lists)
{
    forget_all(lists->list);
    pthread_mutex_destroy(&lists->lock);
}

bool gdnn_graph_lists_choose(gdnn_graph_lists *lists, descriptor config,
                             const gdnn_graph_chooser *chooser)
{
    gdnn_graph_config facts;
    bool first;
    /* Lists cost milliseconds: first what costs nothing. */
    if (!gdnn_graph_config_read(config, &facts) || !chooser->takes(chooser->context, facts.notes))
        return false;
    descriptor engine =
        gdnn_graph_part(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (pthread_mutex_trylock(&lists->lock) == 0) {
        first = is_first(lists->list, engine, &facts);
        pthread_mutex_unlock(&lists->lock);
    } else {
        known_list *again[3] = {NULL, NULL, NULL};
        first = is_first(again, engine, &facts);
        forget_all(again);
    }
    gdnn_graph_part_drop(engine);
    return first;
}
