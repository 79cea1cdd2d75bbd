/* A problem by cuDNN's graph interface: the plans that its heuristics name first. */
#ifndef CUDNN_GRAPH_H
#define CUDNN_GRAPH_H

#include "cudnn_calls.h"
#include "rotation.h"

enum { GRAPH_PLANS_A_MODE = 4, GRAPH_PLANS = 2 * GRAPH_PLANS_A_MODE };

typedef struct cudnn_graph {
    const cudnn_calls *calls;
    const rotation *memory;
    gdnn_conv conv;                    /* as cuDNN is asked for it */
    cudnnBackendDescriptor_t made[10]; /* what the graph consists of, and it */
    int made_count;
    cudnnBackendDescriptor_t *packs; /* one for each copy of the tensors */
    cudnnBackendDescriptor_t plans[GRAPH_PLANS];
    int plan_count;
    int plan; /* which one is run */
} cudnn_graph;

/* Builds the graph, and plans from the first configurations of the modes A and B that can be built, need no more
 * workspace than `memory` has, and compute as exactly as the problem asks. To be given to cudnn_graph_close whatever
 * comes back. GDNN_UNSUPPORTED: there is no plan; gdnn_last_error says why. */
gdnn_status cudnn_graph_open(cudnn_graph *g, const cudnn_calls *calls, const gdnn_conv *conv,
                             const rotation *memory);

/* As `timed` has it: the context is the cudnn_graph. */
gdnn_status cudnn_graph_enqueue(void *context, int copy);

void cudnn_graph_close(cudnn_graph *g);

#endif
