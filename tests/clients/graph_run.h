/* Execution of plans. */
#ifndef GDNN_CLIENT_GRAPH_RUN_H
#define GDNN_CLIENT_GRAPH_RUN_H

#include "graph_build.h"
#include "graph_data.h"
#include "graph_memory.h"
#include "graph_plan.h"
#include "graph_tensor.h"

typedef struct graph_run graph_run;

/* What a plan is executed with: tensors by their unique ids, and scratch memory, NULL where it needs none. */
typedef struct graph_arguments {
    int count;
    int64_t uid[GRAPH_ROLES];
    void *pointer[GRAPH_ROLES];
    void *workspace;
} graph_arguments;

/* Executes a plan on run->handle. */
typedef cudnnStatus_t graph_executor(const graph_run *run, const graph_plan *plan,
                                     const graph_arguments *arguments);

struct graph_run {
    graph_style style;
    cudnnHandle_t handle;
    cudaStream_t stream;
    graph_data data;
    graph_tensor tensor[GRAPH_ROLES];
    graph_memory memory[2][GRAPH_ROLES]; /* executions take turns with them */
    int executions, wrong;
    graph_executor *execute;
    void *context; /* the executor's */
};

/* Makes data and a stream, which `handle` gets; that stays the caller's. A device must be open. Plans are executed by
 * cudnnBackendExecute unless the caller sets run->execute. */
void graph_run_begin(graph_run *run, const gdnn_conv *conv, const graph_style *style,
                     cudnnHandle_t handle);
void graph_run_end(graph_run *run);

/* Changes to a new stream. */
void graph_run_change_stream(graph_run *run);

/* Executes the plan, in a line of its own says whether the result is right, and keeps it in run->data. False if it
 * was not executed; then the line says whether everything is as it was. Counts what is wrong. */
bool graph_run_plan(graph_run *run, const graph_plan *plan);

#endif
