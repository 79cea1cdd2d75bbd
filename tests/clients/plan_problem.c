/* Reads texts of plans, one a line, and says what the drop-in makes of each, a line: unique ids of x, w, y, z and bias,
 * then the problem; or why it is none. */
#include "graph_json.h"
#include "graph_problem.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer(const char *text, size_t length)
{
    static gdnn_graph graph;
    gdnn_graph_problem problem;
    char line[1024];
    if (!gdnn_graph_json_read(text, length, &graph)) {
        puts("no plan");
        return;
    }
    const gdnn_reason reason = gdnn_graph_problem_any(&graph, &problem);
    if (reason != GDNN_REASON_TAKEN) {
        puts(gdnn_reason_name(reason));
        return;
    }
    gdnn_conv_format(&problem.conv, line, sizeof line);
    printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s\n", problem.x, problem.w,
           problem.y, problem.z, problem.bias, line);
}

int main(void)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&text, &room, stdin)) > 0)
        answer(text, (size_t)length);
    free(text);
    return 0;
}
