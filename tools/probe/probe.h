/* What the parts of gpu-probe share: the device, how a kernel is run and timed, and the rows of the
 * report. */
#ifndef PROBE_H
#define PROBE_H

#include "json.h"
#include "session.h"
#include <stdint.h>

typedef enum outcome {
    OUTCOME_MEASURED,
    OUTCOME_RIGHT,  /* it was only seen to compute what it should */
    OUTCOME_WRONG,  /* it does not; `text` says where */
    OUTCOME_SKIPPED /* `text` says why */
} outcome;

typedef struct row {
    const char *section;
    char name[64];
    outcome outcome;
    char text[160];
    const char *unit;
    double median, spread; /* of the samples; spread: their middle half, relative to the median */
    double assumed; /* what the plans of the kernels take for granted, in `unit`; 0: nothing */
    double mhz;     /* clock of the multiprocessors meanwhile; 0: not known */
} row;

enum { MOST_ROWS = 64 };

typedef struct probe {
    session session;
    CUlibrary library;
    CUevent begin, end;
    bool quick;      /* everything runs once, and small: nothing is timed */
    double deadline; /* of probe_now; what has not begun by then is skipped */
    row rows[MOST_ROWS];
    int row_count;
    /* The first failure; from then on nothing is run, and no row added. gdnn_last_error has the
     * sentence. */
    gdnn_status status;
} probe;

/* Seconds of a clock that only goes forward. */
double probe_now(void);

/* Opens a device and the kernels; p->status says whether that worked. */
void probe_open(probe *p, session_choice choice);
void probe_close(probe *p);

/* Device memory, which probe_free takes back. What does not fit is a failure. */
buffer probe_memory(probe *p, size_t bytes);
void probe_free(probe *p, buffer *b);
void probe_put(probe *p, buffer *b, const void *from);
void probe_get(probe *p, const buffer *b, void *to);

/* A launch. Arguments are given by address, and read at each launch. */
typedef struct kernel {
    const char *name; /* without probe_ */
    unsigned blocks, threads;
    unsigned shared; /* dynamic shared memory; probe_run permits that much */
    void *arguments[6];
    /* Each launch has another piece of the data: *place grows by `step`, and begins again where
     * step more would be beyond `end`. NULL: all have the same. */
    size_t *place, step, end;
    const buffer *clocks; /* gets the clocks of each block, an int64_t; NULL: no such thing */
    CUfunction function;  /* filled at the first run */
} kernel;

/* Dynamic shared memory that lets `blocks` blocks, and no more, be on a multiprocessor at a time,
 * so that they spread evenly; `fixed` is what each has of static shared memory. */
unsigned probe_shared_for(const probe *p, unsigned blocks, unsigned fixed);

/* Runs it once and waits. */
void probe_run(probe *p, kernel *k);

/* What a row is to say. */
typedef struct measure {
    const char *section, *name, *unit;
    /* Of the unit times seconds, what a launch does; of a multiprocessor and the unit times clocks
     * if per_clock. 0: the row is the time of a launch, in us. */
    double amount;
    bool per_clock;
    bool host; /* what the host takes to enqueue is measured */
    double assumed;
} measure;

/* Adds a row: times launches of `k` in a row, unless `right` is false: then a run before has shown
 * that the kernel computes nonsense. Takes about 50 ms. */
void probe_measure(probe *p, kernel *k, const measure *m, bool right);

/* Adds a row that says whether something is as it should be: `wrong` is empty, or says where not. */
void probe_check(probe *p, const char *section, const char *name, const char *wrong);

void probe_skip(probe *p, const char *section, const char *name, const char *why);

/* The parts. */
void probe_layouts(probe *p);
void probe_launches(probe *p);
void probe_rates(probe *p);
void probe_shared(probe *p);
void probe_streams(probe *p);

/* The report: on `out`, as a table, and as JSON lines. */
void probe_print(const probe *p, FILE *out);
void probe_write(const probe *p, json *j);

#endif
