#include "graph_plan.h"
#include "report.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First asked for their number, with nowhere to put them. */
static bool read_notes(const graph_descriptor *engine, graph_plan *plan)
{
    cudnnBackendNumericalNote_t numerical[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    cudnnBackendBehaviorNote_t behavior[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
    int64_t count = 0;
    if (!GRAPH_GET(engine, ENGINE_NUMERICAL_NOTE, NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                   &count, NULL) ||
        !GRAPH_GET(engine, ENGINE_NUMERICAL_NOTE, NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                   &count, numerical))
        return false;
    for (int64_t i = 0; i < count; i++) {
        show("note=%d", (int)numerical[i]);
        if (numerical[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE)
            plan->tensor_core = true;
    }
    if (!GRAPH_GET(engine, ENGINE_BEHAVIOR_NOTE, BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT,
                   &count, NULL) ||
        !GRAPH_GET(engine, ENGINE_BEHAVIOR_NOTE, BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT,
                   &count, behavior))
        return false;
    for (int64_t i = 0; i < count; i++)
        show("behavior=%d", (int)behavior[i]);
    return true;
}

static bool read_knob(const graph_descriptor *knob, char *tag, size_t room)
{
    cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;
    int64_t value = -2;
    if (!GRAPH_GET(knob, KNOB_CHOICE_KNOB_TYPE, KNOB_TYPE, 1, NULL, &type) ||
        !GRAPH_GET(knob, KNOB_CHOICE_KNOB_VALUE, INT64, 1, NULL, &value))
        return false;
    const size_t length = strlen(tag);
    snprintf(tag + length, room - length, "_k%d=%" PRId64, (int)type, value);
    return true;
}

static bool read_tag(const graph_descriptor *config, const graph_descriptor *engine,
                     graph_plan *plan)
{
    graph_descriptor knob[CUDNN_KNOB_TYPE_COUNTS] = {{0}};
    cudnnBackendDescriptor_t filled[CUDNN_KNOB_TYPE_COUNTS];
    int64_t one = 0, number = -1, count = 0;
    bool done = true;
    for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS && done; i++) {
        done = GRAPH_CREATE(&knob[i], KNOB_CHOICE);
        filled[i] = knob[i].it;
    }
    done = done && GRAPH_GET(engine, ENGINE_GLOBAL_INDEX, INT64, 1, &one, &number);
    snprintf(plan->tag, sizeof plan->tag, "eng%" PRId64, number);
    done = done && GRAPH_GET(config, ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR,
                             CUDNN_KNOB_TYPE_COUNTS, &count, filled);
    for (int64_t i = 0; i < count && done; i++)
        done = read_knob(&knob[i], plan->tag, sizeof plan->tag);
    for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; i++)
        graph_destroy(&knob[i]);
    return done;
}

static bool read_json(const graph_descriptor *plan)
{
    int64_t length = 0;
    if (!GRAPH_GET(plan, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, 0, &length, NULL))
        return false;
    char *text = calloc((size_t)length + 1, 1);
    const bool got =
        text && GRAPH_GET(plan, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, length, &length, text);
    if (got)
        show("json=%s", text);
    free(text);
    return got;
}

static bool read_plan(const graph_descriptor *config, graph_plan *plan)
{
    graph_descriptor engine = {0};
    int64_t one = 0;
    const bool done =
        GRAPH_CREATE(&engine, ENGINE) &&
        GRAPH_GET(config, ENGINECFG_ENGINE, BACKEND_DESCRIPTOR, 1, &one, &engine.it) &&
        read_notes(&engine, plan) && read_tag(config, &engine, plan) &&
        GRAPH_GET(&plan->plan, EXECUTION_PLAN_WORKSPACE_SIZE, INT64, 1, NULL, &plan->workspace);
    if (done)
        show("plan=%s workspace=%" PRId64, plan->tag, plan->workspace);
    graph_destroy(&engine);
    return done && read_json(&plan->plan);
}

bool graph_plan_build(const graph_descriptor *config, const graph_target *target, graph_plan *plan)
{
    *plan = (graph_plan){.workspace = -1};
    const bool done = GRAPH_CREATE(&plan->plan, EXECUTION_PLAN) &&
                      GRAPH_SET_ONE(&plan->plan, EXECUTION_PLAN_ENGINE_CONFIG, config) &&
                      GRAPH_SET_TARGET(&plan->plan, EXECUTION_PLAN, target) &&
                      graph_finalize(&plan->plan) && read_plan(config, plan);
    if (!done)
        graph_plan_destroy(plan);
    return done;
}

bool graph_plan_restore(const char *text, const graph_target *target, graph_plan *plan)
{
    graph_descriptor config = {0};
    int64_t one = 0;
    *plan = (graph_plan){.workspace = -1};
    const bool done = GRAPH_CREATE(&plan->plan, EXECUTION_PLAN) &&
                      GRAPH_SET_TARGET(&plan->plan, EXECUTION_PLAN, target) &&
                      GRAPH_SET(&plan->plan, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR,
                                (int64_t)strlen(text), text) &&
                      graph_finalize(&plan->plan) && GRAPH_CREATE(&config, ENGINECFG) &&
                      GRAPH_GET(&plan->plan, EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR, 1,
                                &one, &config.it) &&
                      read_plan(&config, plan);
    graph_destroy(&config);
    if (!done)
        graph_plan_destroy(plan);
    return done;
}

void graph_plan_destroy(graph_plan *plan)
{
    graph_destroy(&plan->plan);
}

/* What there is to choose is asked for first, as frameworks do. */
static bool read_choices(const graph_descriptor *engine)
{
    graph_descriptor info[CUDNN_KNOB_TYPE_COUNTS] = {{0}};
    cudnnBackendDescriptor_t filled[CUDNN_KNOB_TYPE_COUNTS];
    int64_t count = 0, low, high, step;
    bool done = true;
    for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS && done; i++) {
        done = GRAPH_CREATE(&info[i], KNOB_INFO);
        filled[i] = info[i].it;
    }
    done = done && GRAPH_GET(engine, ENGINE_KNOB_INFO, BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS,
                             &count, filled);
    for (int64_t i = 0; i < count && done; i++) {
        cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;
        done = GRAPH_GET(&info[i], KNOB_INFO_TYPE, KNOB_TYPE, 1, NULL, &type) &&
               GRAPH_GET(&info[i], KNOB_INFO_MAXIMUM_VALUE, INT64, 1, NULL, &high) &&
               GRAPH_GET(&info[i], KNOB_INFO_MINIMUM_VALUE, INT64, 1, NULL, &low) &&
               GRAPH_GET(&info[i], KNOB_INFO_STRIDE, INT64, 1, NULL, &step);
    }
    for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; i++)
        graph_destroy(&info[i]);
    return done;
}

static bool make_engine(int64_t number, const graph_descriptor *graph, const graph_target *target,
                        graph_descriptor *engine)
{
    return GRAPH_CREATE(engine, ENGINE) && GRAPH_SET_ONE(engine, ENGINE_OPERATION_GRAPH, graph) &&
           GRAPH_SET(engine, ENGINE_GLOBAL_INDEX, INT64, 1, &number) &&
           GRAPH_SET_PROPERTIES(engine, ENGINE, target) && graph_finalize(engine) &&
           read_choices(engine);
}

static bool make_knob(const char **tag, graph_descriptor *knob)
{
    char *end;
    const cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)strtol(*tag + 2, &end, 10);
    const int64_t value = *end == '=' ? strtoll(end + 1, &end, 10) : 0;
    *tag = end;
    return GRAPH_CREATE(knob, KNOB_CHOICE) &&
           GRAPH_SET(knob, KNOB_CHOICE_KNOB_TYPE, KNOB_TYPE, 1, &type) &&
           GRAPH_SET(knob, KNOB_CHOICE_KNOB_VALUE, INT64, 1, &value) && graph_finalize(knob);
}

static bool make_config(const char *knobs, const graph_descriptor *engine, graph_descriptor *config)
{
    graph_descriptor knob[CUDNN_KNOB_TYPE_COUNTS] = {{0}};
    cudnnBackendDescriptor_t given[CUDNN_KNOB_TYPE_COUNTS];
    int count = 0;
    bool done = GRAPH_CREATE(config, ENGINECFG) && GRAPH_SET_ONE(config, ENGINECFG_ENGINE, engine);
    while (done && strncmp(knobs, "_k", 2) == 0 && count < CUDNN_KNOB_TYPE_COUNTS) {
        done = make_knob(&knobs, &knob[count]);
        given[count] = knob[count].it;
        count++;
    }
    done = done &&
           (count == 0 ||
            GRAPH_SET(config, ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR, count, given)) &&
           graph_finalize(config);
    for (int i = 0; i < count; i++)
        graph_destroy(&knob[i]);
    return done;
}

bool graph_plan_config(const char *tag, const graph_descriptor *graph, const graph_target *target,
                       graph_descriptor *config)
{
    graph_descriptor engine = {0};
    char *end = NULL;
    const int64_t number = strncmp(tag, "eng", 3) == 0 ? strtoll(tag + 3, &end, 10) : -1;
    const bool done =
        make_engine(number, graph, target, &engine) && make_config(end, &engine, config);
    graph_destroy(&engine);
    if (!done)
        graph_destroy(config);
    return done;
}
