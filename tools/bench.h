/* The two kinds of measures of `groupdnn bench`. */
#ifndef BENCH_H
#define BENCH_H

#include "budget.h"
#include "compare.h"

/* On the emulated device: what a launch did, beside the budgets. */
typedef struct bench_counts {
    session_counts counts;
    bool counted; /* by the device, in the last row that ran */
    double floor; /* bytes */
    cost costs[COSTS];
    int missed, counted_rows; /* of all rows */
} bench_counts;

void bench_counts_row(bench_counts *b, const gdnn_conv *conv, const gdnn_conv *from,
                      const trial_result *result);
void bench_counts_head(FILE *out);
void bench_counts_cells(const bench_counts *b, FILE *out, bool ran);
void bench_counts_members(const bench_counts *b, json *j, bool ran);
void bench_counts_end(const bench_counts *b, FILE *out, json *j);

#endif
