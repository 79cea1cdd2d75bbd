/* The heuristics' lists of engine configurations. */
#ifndef GDNN_CLIENT_GRAPH_LIST_H
#define GDNN_CLIENT_GRAPH_LIST_H

#include "graph_calls.h"
#include "graph_options.h"
#include "graph_target.h"

enum { GRAPH_LIST_MOST = 256 };

typedef struct graph_list {
    int count;
    graph_descriptor config[GRAPH_LIST_MOST];
} graph_list;

/* Adds what the heuristics of one mode give for the graph. False: cuDNN refuses, and nothing was added. */
bool graph_list_ask(const graph_descriptor *graph, const graph_target *target,
                    cudnnBackendHeurMode_t mode, graph_list *list);

/* Removes what the framework would not use: configurations that round their inputs, and what the options exclude. */
bool graph_list_filter(graph_list *list, const graph_options *options);

void graph_list_destroy(graph_list *list);

#endif
