/* What the clients of the graph interface have in common: their command line, the GPU they plan for, the plans they
 * make and execute. */
#ifndef GDNN_CLIENT_GRAPH_FACE_H
#define GDNN_CLIENT_GRAPH_FACE_H

#include "graph_build.h"
#include "graph_list.h"
#include "graph_options.h"
#include "graph_plan.h"
#include "graph_run.h"

enum { GRAPH_PLANS_MOST = GRAPH_LIST_MOST };

typedef struct graph_face {
    graph_options options;
    graph_style style;
    graph_target target;
    graph_run run; /* with --run */
    bool ran;      /* the plan that was chosen has been executed */
    int plans;
    graph_plan plan[GRAPH_PLANS_MOST];
    int exit_status;
} graph_face;

/* False: the program ends with face->exit_status: 2, the command line is wrong; 3, cuDNN refuses the GPU, or there is
 * none. */
bool graph_face_begin(int argc, char **argv, const graph_style *style, graph_face *face);

/* Builds plans of the configurations, until `most` are there; only number --plan where that is given. Plans that
 * cannot be built are passed over. */
void graph_face_build(graph_face *face, const graph_list *list, int most);

/* Builds plans in turn, until one is there that, with --run, could also be executed. */
void graph_face_try(graph_face *face, const graph_list *list);

/* With --run, and unless one has been executed: executes every plan `trials` times, and chooses the first that could
 * be; then executes that. */
void graph_face_run(graph_face *face, int trials);

/* Writes what --dump asks for, destroys everything and prints the last line. Returns the exit status: 0; 1, there is no
 * plan, or none could be executed, or a result is wrong; 2, --dump cannot be written. */
int graph_face_end(graph_face *face);

#endif
