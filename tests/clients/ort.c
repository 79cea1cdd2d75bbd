/* Convolves as ONNX Runtime does (cudnn-frontend's graphs of version 1): the list of mode A, the first configuration
 * that passes the check and can be built. With --benchmark, every one. */
#include "graph_build.h"
#include "graph_face.h"
#include "graph_list.h"

static const graph_style style = {.x = 1,
                                  .w = 2,
                                  .y = 3,
                                  .z = 4,
                                  .bias = 5,
                                  .first_virtual = 6,
                                  .alignment = 16,
                                  .pack = "bzywx",
                                  .z_in_y = Z_IN_Y_IF_ALIKE,
                                  .workspace_first = true,
                                  .float_scale = true,
                                  .one_axis = SIZE_ONE_LAST};

/* Keeps the configurations whose workspace is known; the shared memory need not be. */
static void check_support(graph_list *list)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        int64_t workspace = -1;
        int shared = -1;
        GRAPH_GET(&list->config[i], ENGINECFG_SHARED_MEMORY_USED, INT32, 1, NULL, &shared);
        if (GRAPH_GET(&list->config[i], ENGINECFG_WORKSPACE_SIZE, INT64, 1, NULL, &workspace))
            list->config[kept++] = list->config[i];
        else
            graph_destroy(&list->config[i]);
    }
    list->count = kept;
}

int main(int argc, char **argv)
{
    static graph_list list;
    graph_face face;
    graph_descriptor graph;
    if (!graph_face_begin(argc, argv, &style, &face))
        return face.exit_status;
    if (graph_build(&face.options.conv, &face.style, &face.target, &graph)) {
        graph_list_ask(&graph, &face.target, CUDNN_HEUR_MODE_A, &list);
        graph_list_filter(&list, &face.options);
        check_support(&list);
        graph_face_build(&face, &list, face.options.benchmark ? list.count : 1);
        graph_list_destroy(&list);
        graph_face_run(&face, face.options.benchmark);
    }
    graph_destroy(&graph);
    return graph_face_end(&face);
}
