#include "graph_list.h"
#include "report.h"
#include <stdio.h>

static const char *mode_name(cudnnBackendHeurMode_t mode)
{
    switch (mode) {
    case CUDNN_HEUR_MODE_INSTANT: return "INSTANT";
    case CUDNN_HEUR_MODE_B: return "B";
    case CUDNN_HEUR_MODE_FALLBACK: return "FALLBACK";
    case CUDNN_HEUR_MODE_A: return "A";
    default: return "?";
    }
}

/* cuDNN first says how many there may be, then fills as many as there are. */
static bool read_results(const graph_descriptor *heuristics, graph_list *list)
{
    int64_t most = 0, count = 0;
    if (!GRAPH_GET(heuristics, ENGINEHEUR_RESULTS, BACKEND_DESCRIPTOR, 0, &most, NULL))
        return false;
    if (most > GRAPH_LIST_MOST - list->count)
        most = GRAPH_LIST_MOST - list->count;
    cudnnBackendDescriptor_t filled[GRAPH_LIST_MOST];
    graph_descriptor *made = list->config + list->count;
    bool done = true;
    int created = 0;
    for (; done && created < most; created++) {
        done = GRAPH_CREATE(&made[created], ENGINECFG);
        filled[created] = made[created].it;
    }
    done =
        done && GRAPH_GET(heuristics, ENGINEHEUR_RESULTS, BACKEND_DESCRIPTOR, most, &count, filled);
    if (!done)
        count = 0;
    for (int i = (int)count; i < created; i++)
        graph_destroy(&made[i]);
    list->count += (int)count;
    return done;
}

bool graph_list_ask(const graph_descriptor *graph, const graph_target *target,
                    cudnnBackendHeurMode_t mode, graph_list *list)
{
    graph_descriptor heuristics = {0};
    const int before = list->count;
    const bool done = GRAPH_CREATE(&heuristics, ENGINEHEUR) &&
                      GRAPH_SET_ONE(&heuristics, ENGINEHEUR_OPERATION_GRAPH, graph) &&
                      GRAPH_SET(&heuristics, ENGINEHEUR_MODE, HEUR_MODE, 1, &mode) &&
                      GRAPH_SET_PROPERTIES(&heuristics, ENGINEHEUR, target) &&
                      graph_finalize(&heuristics) && read_results(&heuristics, list);
    show("list=%s:%d", mode_name(mode), list->count - before);
    graph_destroy(&heuristics);
    return done;
}

static bool excluded(cudnnBackendNumericalNote_t note, const graph_options *options)
{
    return note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS ||
           (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && options->no_tensor_core) ||
           (note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC && options->deterministic);
}

static bool wanted(const graph_descriptor *config, const graph_options *options, bool *answer)
{
    graph_descriptor engine = {0};
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t one = 0, count = 0;
    const bool done =
        GRAPH_CREATE(&engine, ENGINE) &&
        GRAPH_GET(config, ENGINECFG_ENGINE, BACKEND_DESCRIPTOR, 1, &one, &engine.it) &&
        GRAPH_GET(&engine, ENGINE_NUMERICAL_NOTE, NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                  &count, notes);
    *answer = true;
    if (done)
        show("config=");
    for (int64_t i = 0; done && i < count; i++) {
        printf("%s%d", i ? "," : "", (int)notes[i]);
        if (excluded(notes[i], options))
            *answer = false;
    }
    if (done)
        show("%s", *answer ? "kept" : "dropped");
    graph_destroy(&engine);
    return done;
}

bool graph_list_filter(graph_list *list, const graph_options *options)
{
    int kept = 0;
    bool done = true;
    for (int i = 0; i < list->count; i++) {
        bool answer;
        done = wanted(&list->config[i], options, &answer) && done;
        if (answer)
            list->config[kept++] = list->config[i];
        else
            graph_destroy(&list->config[i]);
    }
    list->count = kept;
    return done;
}

void graph_list_destroy(graph_list *list)
{
    for (int i = 0; i < list->count; i++)
        graph_destroy(&list->config[i]);
    list->count = 0;
}
