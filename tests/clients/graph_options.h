/* The command line that the clients of the graph interface share:
 *
 *     NAME 'PROBLEM' [--plan N] [--filter no-tensor-core,deterministic] [--gpu h200|a100|t4] [--group-axis]
 *          [--one-axis] [--early] [--benchmark] [--rebuild TAG] [--restore JSON] [--run] [--dump DIR] */
#ifndef GDNN_CLIENT_GRAPH_OPTIONS_H
#define GDNN_CLIENT_GRAPH_OPTIONS_H

#include "groupdnn.h"
#include <stdbool.h>

typedef struct graph_options {
    gdnn_conv conv;
    const char *gpu;     /* whose plans are asked for; it need not be there */
    const char *rebuild; /* xla: tag of the plan to be built without heuristics; NULL: none */
    const char *restore; /* xla: text of the plan to be built without a graph; NULL: none */
    const char *dump;    /* folder for what went in and what came out, as .npy; NULL: none */
    int plan;            /* number in the list of the only plan to be built; -1: no such choice */
    bool no_tensor_core; /* filters of the list by numerical notes */
    bool deterministic;
    bool run;        /* execute on the GPU that is there; also with `dump` */
    bool benchmark;  /* pytorch, ort: build every plan, and execute it */
    bool group_axis; /* the groups are an axis of their own in every tensor */
    bool early;      /* destroy what goes into a descriptor before that is finalised */
    bool one_axis;   /* tensors of one spatial axis stay so; else an axis of size 1 is added */
} graph_options;

/* False: the command line is wrong, which standard error says. */
bool graph_options_read(int argc, char **argv, graph_options *options);

#endif
