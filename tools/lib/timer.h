/* Timing of calls that enqueue work, by events of the driver.
 *
 * A sample is the time of several calls in a row, divided by their number. Before them the stream is kept busy, by
 * memset and by calls that do not count, until all are enqueued: what is timed is the device, not how fast the host
 * enqueues. Where the driver is no real one, calls are timed one by one. */
#ifndef TIMER_H
#define TIMER_H

#include "session.h"
#include "statistics.h"

enum { TIMER_SAMPLES = 15 };

/* What is timed. */
typedef struct timed {
    /* Enqueues one call on the tensors of `copy`, which counts up. GDNN_FAILED: it was refused. */
    gdnn_status (*enqueue)(void *context, int copy);
    void *context;
    double ms; /* about how long a call takes, once timer_try has run */
    int next;  /* copy */
    int count; /* of samples */
    double samples[TIMER_SAMPLES];
} timed;

typedef struct timer {
    session *s;
    CUevent begin, end;
    CUdeviceptr filler; /* what memset works on */
    size_t filler_bytes;
    int lead; /* calls that do not count */
} timer;

/* For calls that move `bytes` bytes on a device with so much L2 cache.
 * GDNN_FAILED, GDNN_UNSUPPORTED: as rotation_open. */
gdnn_status timer_open(timer *t, session *s, size_t l2_bytes, double bytes);

/* Warms up, and measures about how long a call takes. GDNN_FAILED: a call was refused, or failed. */
gdnn_status timer_try(timer *t, timed *one);

/* Takes samples of all that are not NULL, in turns, so that whatever slows the device down slows all; each was given
 * to timer_try. GDNN_FAILED: a call was refused, or failed. */
gdnn_status timer_run(timer *t, timed *const list[], int count);

void timer_close(timer *t);

#endif
