/* Bytes as the text of a plan: read within its bounds, the same each time; and as the graph of a problem. */
#include "graph_json.h"
#include "graph_problem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long plans, problems;

static void report(void)
{
    printf("plans %llu, problems %llu\n", plans, problems);
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    atexit(report);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gdnn_graph graph, again;
    gdnn_graph_problem problem;
    memset(&graph, 0x55, sizeof graph);
    memset(&again, 0xaa, sizeof again);
    char *text = malloc(size ? size : 1); /* nothing may be read behind it */
    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    bool read = gdnn_graph_json_read(text, size, &graph);
    if (gdnn_graph_json_read(text, size, &again) != read)
        abort();
    free(text);
    if (!read)
        return 0;
    /* All of it was filled. */
    if (memcmp(&graph, &again, sizeof graph) != 0 || graph.nodes < 0 ||
        graph.nodes > GDNN_GRAPH_NODES)
        abort();
    plans++;
    problems += gdnn_graph_problem_read(&graph, &problem) == GDNN_REASON_TAKEN;
    return 0;
}
