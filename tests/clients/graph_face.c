#include "graph_face.h"
#include "graph_target.h"
#include "report.h"
#include <stdio.h>
#include <string.h>

bool graph_face_begin(int argc, char **argv, const graph_style *style, graph_face *face)
{
    memset(face, 0, sizeof *face);
    face->style = *style;
    face->exit_status = 2;
    if (!graph_options_read(argc, argv, &face->options))
        return false;
    face->style.early = face->options.early;
    face->style.group_axis = face->options.group_axis;
    if (face->options.one_axis)
        face->style.one_axis = SIZE_ONE_NONE;
    if (graph_target(face->options.gpu, &face->target))
        return true;
    face->exit_status = 3;
    report_end();
    fprintf(stderr,
            "%s: cuDNN does not take the properties of a GPU: it must be NVIDIA's, 9.8 or later\n",
            argv[0]);
    return false;
}

void graph_face_build(graph_face *face, const graph_list *list, int most)
{
    for (int i = 0; i < list->count && face->plans < most; i++)
        if ((face->options.plan < 0 || face->options.plan == i) &&
            graph_plan_build(&list->config[i], &face->target, &face->plan[face->plans]))
            face->plans++;
}

int graph_face_end(graph_face *face)
{
    for (int i = 0; i < face->plans; i++)
        graph_plan_destroy(&face->plan[i]);
    graph_destroy(&face->target);
    const int calls = report_end();
    printf("%d calls, %d plans\n", calls, face->plans);
    return face->plans ? 0 : 1;
}
