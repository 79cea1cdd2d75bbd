/* The two kinds of measures of `groupdnn bench`. */
#ifndef BENCH_H
#define BENCH_H

#include "budget.h"
#include "compare.h"
#include "cudnn_calls.h"
#include "statistics.h"

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
void bench_counts_cells(const bench_counts *b, FILE *out, bool measured);
void bench_counts_members(const bench_counts *b, json *j, bool measured);
void bench_counts_end(const bench_counts *b, FILE *out, json *j);

/* The first few different reasons. */
typedef struct bench_reasons {
    int count;
    char text[4][512];
} bench_reasons;

/* On a GPU: time, beside cuDNN's in the same process and the same loop. */
typedef struct bench_times {
    cudnn_calls cudnn;
    bool has_cudnn;
    bool real; /* the driver is NVIDIA's, so that times mean something */
    /* Of the last row that measured, in ms; NaN where something was not timed. */
    spread ours, legacy, graph;
    const char *kernel; /* that was timed; NULL: none */
    double cudnn_ms;    /* the faster of the two */
    double floor_us, gbps, ratio;
    /* Of all rows. */
    geomean ratios[3], all; /* by direction */
    int timed, beside;
    bench_reasons refused; /* why cuDNN does not run a problem one way or the other */
    bench_reasons untimed; /* why a row was not timed */
} bench_times;

/* Opens cuDNN, and says on `out` which. */
void bench_times_begin(bench_times *b, FILE *out, const session *s);

/* Times `conv`, whole, and has cuDNN run the trial's problem for `result`. GDNN_FAILED: the driver refused something. */
gdnn_status bench_times_row(bench_times *b, session *s, const trial *t, const gdnn_conv *conv,
                            trial_result *result);
void bench_times_head(FILE *out);
void bench_times_cells(const bench_times *b, FILE *out, bool measured);
void bench_times_members(const bench_times *b, json *j, bool measured);

/* Also closes cuDNN. */
void bench_times_end(bench_times *b, FILE *out, json *j);

#endif
