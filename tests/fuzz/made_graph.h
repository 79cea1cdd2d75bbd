/* Graphs that a fuzzer makes: convolutions with what may follow them. */
#ifndef GDNN_FUZZ_MADE_GRAPH_H
#define GDNN_FUZZ_MADE_GRAPH_H

#include "input.h"

/* Unique ids of the tensors that the last graph has in memory. */
extern int64_t uids[5];
extern int tensors;

/* Makes last_graph of what the next bytes say. */
void make_graph(void);

#endif
