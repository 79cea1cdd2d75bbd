#include "timer.h"

#include "error.h"

/* Calls of a sample and before it, how long a sample should take, and how long all samples of a row, in ms. */
enum { MOST_CALLS = 16, MOST_LEAD = 32, LEAST_SAMPLES = 3 };
static const double sample_ms = 0.4, lead_ms = 2, row_ms = 400;

/* How long the host may take to enqueue a call, and how fast memset is at most: so much of it is enqueued first. */
static const double enqueue_us = 12, memset_gbs = 4000;
enum { MOST_MEMSETS = 16 };

static gdnn_status check(CUresult result, const char *call)
{
    return gdnn_driver_check(result, call);
}

gdnn_status timer_open(timer *t, session *s, size_t l2_bytes, double bytes)
{
    *t = (timer){.s = s, .lead = 1};
    if (bytes > 0 && (double)l2_bytes / bytes > 1)
        t->lead =
            (double)l2_bytes / bytes > MOST_LEAD ? MOST_LEAD : (int)((double)l2_bytes / bytes);
    gdnn_status status =
        check(s->driver->cuEventCreate(&t->begin, CU_EVENT_DEFAULT), "cuEventCreate");
    if (status != GDNN_OK)
        t->begin = NULL;
    if (status == GDNN_OK)
        status = check(s->driver->cuEventCreate(&t->end, CU_EVENT_DEFAULT), "cuEventCreate");
    if (status != GDNN_OK || !s->real_time)
        return status;
    t->filler_bytes = 4 * l2_bytes > (64u << 20) ? 4 * l2_bytes : 64u << 20;
    CUresult result = s->driver->cuMemAlloc(&t->filler, t->filler_bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return gdnn_fail(GDNN_UNSUPPORTED, "%zu bytes do not fit into the device's memory",
                         t->filler_bytes);
    return check(result, "cuMemAlloc");
}

/* Gives the stream work for as long as it takes to enqueue so many calls. */
static gdnn_status keep_busy(timer *t, int calls)
{
    if (!t->filler)
        return GDNN_OK;
    double one_us = (double)t->filler_bytes / memset_gbs * 1e-3;
    int count = 1 + (int)(calls * enqueue_us / one_us);
    gdnn_status status = GDNN_OK;
    for (int i = 0; i < count && i < MOST_MEMSETS && status == GDNN_OK; i++)
        status = check(t->s->driver->cuMemsetD8Async(t->filler, 0, t->filler_bytes, t->s->stream),
                       "cuMemsetD8Async");
    return status;
}

static gdnn_status enqueue(timed *one, int calls)
{
    gdnn_status status = GDNN_OK;
    for (int i = 0; i < calls && status == GDNN_OK; i++) {
        status = one->enqueue(one->context, one->next);
        one->next = (one->next + 1) & 0xffff;
    }
    return status;
}

/* The time of `calls` calls after `lead` others. */
static gdnn_status measure(timer *t, timed *one, int lead, int calls, double *ms)
{
    const gdnn_driver *cu = t->s->driver;
    float elapsed = 0;
    gdnn_status status = keep_busy(t, lead + calls);
    if (status == GDNN_OK)
        status = enqueue(one, lead);
    if (status == GDNN_OK)
        status = check(cu->cuEventRecord(t->begin, t->s->stream), "cuEventRecord");
    if (status == GDNN_OK)
        status = enqueue(one, calls);
    if (status == GDNN_OK)
        status = check(cu->cuEventRecord(t->end, t->s->stream), "cuEventRecord");
    gdnn_status waited = session_wait(t->s);
    if (status == GDNN_OK)
        status = waited;
    if (status == GDNN_OK)
        status = check(cu->cuEventElapsedTime(&elapsed, t->begin, t->end), "cuEventElapsedTime");
    *ms = (double)elapsed / calls;
    return status;
}

static int between(double value, int least, int most)
{
    return value < least ? least : value > most ? most : (int)value;
}

static int calls_of(const timer *t, const timed *one)
{
    return t->s->real_time ? between(sample_ms / one->ms, 1, MOST_CALLS) : 1;
}

static int lead_of(const timer *t, const timed *one)
{
    return t->s->real_time ? between(lead_ms / one->ms, 1, t->lead) : 0;
}

gdnn_status timer_try(timer *t, timed *one)
{
    double first = 0;
    gdnn_status status = measure(t, one, 0, 1, &first); /* loads code, and finds out what fails */
    if (status == GDNN_OK)
        status = measure(t, one, t->s->real_time, 1, &one->ms);
    if (status == GDNN_OK && t->s->real_time && one->ms < lead_ms) /* longer ones need no mean */
        status = measure(t, one, lead_of(t, one), calls_of(t, one), &one->ms);
    return status;
}

gdnn_status timer_run(timer *t, timed *const list[], int count)
{
    double round_ms = 0;
    for (int i = 0; i < count; i++)
        if (list[i])
            round_ms += (lead_of(t, list[i]) + calls_of(t, list[i])) * list[i]->ms;
    int rounds =
        t->s->real_time ? between(row_ms / round_ms, LEAST_SAMPLES, TIMER_SAMPLES) : LEAST_SAMPLES;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            timed *one = list[i];
            if (!one)
                continue;
            gdnn_status status =
                measure(t, one, lead_of(t, one), calls_of(t, one), &one->samples[one->count]);
            if (status != GDNN_OK)
                return status;
            one->count++;
        }
    return GDNN_OK;
}

void timer_close(timer *t)
{
    if (t->begin)
        t->s->driver->cuEventDestroy(t->begin);
    if (t->end)
        t->s->driver->cuEventDestroy(t->end);
    if (t->filler)
        t->s->driver->cuMemFree(t->filler);
    *t = (timer){.s = t->s};
}
