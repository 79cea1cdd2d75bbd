/* What the process did, for its user: GROUPDNN_STATS=1 prints a table at exit, GROUPDNN_TRACE=file
 * writes every distinct problem as it is met. */
#ifndef GDNN_STATS_H
#define GDNN_STATS_H

#include "routes.h"

/* Says that a route was added: the first of each problem (whatever device, algorithm and workspace)
 * becomes a line of the trace, at once and whole. */
void gdnn_trace_route(const gdnn_route *route);

/* Makes sure that the table is printed at exit where GROUPDNN_STATS asks for it; called when cuDNN is first
 * needed, so that a process that never calls it prints nothing, and one without convolutions says so. */
void gdnn_stats_begin(void);

#endif
