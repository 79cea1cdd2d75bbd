/* Convolves as XLA does: every plan of the lists B and A is built, and of those with the same engine, knobs and
 * workspace the first is kept; if there is none, the list FALLBACK. All are tried, and one is executed. With --rebuild,
 * the one plan that a stored engine number and knobs stand for; with --restore, the one whose text was stored. */
#include "graph_build.h"
#include "graph_face.h"
#include "graph_list.h"
#include "graph_plan.h"
#include <string.h>

static const graph_style style = {.x = 'x',
                                  .w = 'w',
                                  .y = 'y',
                                  .z = 'z',
                                  .bias = 'b',
                                  .first_virtual = 'c',
                                  .alignment = 32,
                                  .pack = "xwzby",
                                  .rebuilds = true,
                                  .restores = true,
                                  .apart = true,
                                  .scale_in_add = true,
                                  .one_axis = SIZE_ONE_FIRST};

static void drop_equals(graph_face *face)
{
    int kept = 0;
    for (int i = 0; i < face->plans; i++) {
        graph_plan *plan = &face->plan[i];
        int other = 0;
        while (other < kept && (face->plan[other].workspace != plan->workspace ||
                                strcmp(face->plan[other].tag, plan->tag) != 0))
            other++;
        if (other < kept)
            graph_plan_destroy(plan);
        else
            face->plan[kept++] = *plan;
    }
    face->plans = kept;
}

static void plan_list(graph_face *face, const graph_descriptor *graph,
                      const cudnnBackendHeurMode_t *modes, int count)
{
    static graph_list list;
    for (int i = 0; i < count; i++)
        graph_list_ask(graph, &face->target, modes[i], &list);
    graph_list_filter(&list, &face->options);
    graph_face_build(face, &list, list.count);
    graph_list_destroy(&list);
}

static void plan_all(graph_face *face, const graph_descriptor *graph)
{
    static const cudnnBackendHeurMode_t best[] = {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A};
    static const cudnnBackendHeurMode_t fallback[] = {CUDNN_HEUR_MODE_FALLBACK};
    plan_list(face, graph, best, 2);
    if (face->plans == 0)
        plan_list(face, graph, fallback, 1);
    drop_equals(face);
}

static void rebuild(graph_face *face, const graph_descriptor *graph)
{
    graph_list list = {.count = 1};
    if (graph_plan_config(face->options.rebuild, graph, &face->target, &list.config[0]))
        graph_face_build(face, &list, 1);
    graph_list_destroy(&list);
}

static void restore(graph_face *face)
{
    if (graph_plan_restore(face->options.restore, &face->target, &face->plan[0]))
        face->plans = 1;
}

static void plan(graph_face *face)
{
    graph_descriptor graph;
    if (graph_build(&face->options.conv, &face->style, &face->target, &graph)) {
        if (face->options.rebuild)
            rebuild(face, &graph);
        else
            plan_all(face, &graph);
    }
    graph_destroy(&graph);
}

int main(int argc, char **argv)
{
    graph_face face;
    if (!graph_face_begin(argc, argv, &style, &face))
        return face.exit_status;
    if (face.options.restore)
        restore(&face);
    else
        plan(&face);
    graph_face_run(&face, face.options.restore || face.options.rebuild ? 0 : 1);
    return graph_face_end(&face);
}
