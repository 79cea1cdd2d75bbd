/* Convolves as PyTorch does (cudnn-frontend's wrappers of version 0).
 *
 *     pytorch 'PROBLEM'               the first plan that can be built and executed, of the lists INSTANT and FALLBACK
 *     pytorch 'PROBLEM' --benchmark   every plan of both, twice; then the first again */
#include "graph_build.h"
#include "graph_face.h"
#include "graph_list.h"
#include "graph_plan.h"

static const graph_style style = {.x = 'x',
                                  .w = 'w',
                                  .y = 'y',
                                  .z = 'z',
                                  .bias = 'b',
                                  .first_virtual = 'A',
                                  .alignment = 16,
                                  .pack = "xywzb",
                                  .z_in_y = Z_IN_Y_IF_UNREAD,
                                  .one_axis = SIZE_ONE_FIRST};

/* The graph lives no longer than the question. */
static void ask(const graph_face *face, cudnnBackendHeurMode_t mode, graph_list *list)
{
    graph_descriptor graph;
    if (graph_build(&face->options.conv, &face->style, &face->target, &graph))
        graph_list_ask(&graph, &face->target, mode, list);
    graph_destroy(&graph);
}

static void plan_first(graph_face *face)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_INSTANT,
                                                   CUDNN_HEUR_MODE_FALLBACK};
    for (int i = 0; i < 2 && face->plans == 0; i++) {
        static graph_list list;
        ask(face, modes[i], &list);
        graph_list_filter(&list, &face->options);
        graph_face_try(face, &list);
        graph_list_destroy(&list);
    }
}

static void plan_all(graph_face *face)
{
    static graph_list list;
    ask(face, CUDNN_HEUR_MODE_INSTANT, &list);
    ask(face, CUDNN_HEUR_MODE_FALLBACK, &list);
    graph_list_filter(&list, &face->options);
    graph_face_build(face, &list, list.count);
    graph_list_destroy(&list);
    graph_face_run(face, face->options.benchmark ? 2 : 0);
}

int main(int argc, char **argv)
{
    graph_face face;
    if (!graph_face_begin(argc, argv, &style, &face))
        return face.exit_status;
    if (face.options.benchmark || face.options.plan >= 0)
        plan_all(&face);
    else
        plan_first(&face);
    return graph_face_end(&face);
}
