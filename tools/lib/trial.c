#include "trial.h"

#include "device_reference.h"
#include "error.h"
#include "plan.h"
#include "problem.h"
#include "reference.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor on the device and its bytes on the host. */
typedef struct side {
    tensor shape;
    size_t bytes;
    void *image; /* what the device got; NULL: the problem has no such tensor */
    buffer memory;
} side;

/* A trial under way. */
typedef struct run {
    session *s;
    const trial *t;
    trial_result *result;
    side sides[TENSORS];
    buffer workspace;
    double *magnitude;
} run;

static gdnn_status no_memory(run *r, double bytes, double available)
{
    r->result->reason = "memory";
    return gdnn_fail(GDNN_UNSUPPORTED,
                     "the trial needs %.1f GiB of host memory for the reference and has %.1f",
                     bytes * 0x1p-30, available * 0x1p-30);
}

/* Bytes that the kernel would give without swapping; a huge number if it does not say. */
static double available_memory(void)
{
    double kilobytes = 1e18;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file)
        return kilobytes;
    while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lf", &kilobytes) != 1)
        continue;
    fclose(file);
    return kilobytes * 1024;
}

/* Refuses what would drive the machine into swapping, before anything is allocated: Linux grants
 * more than it has, and ends the process later. */
static gdnn_status check_memory(run *r)
{
    double bytes = 0;
    for (tensor_name i = 0; i < TENSORS; i++) {
        if (!tensor_used(r->t->conv, i))
            continue;
        tensor shape = tensor_of(r->t->conv, i);
        double elements = (double)tensor_elements(&shape);
        int arrays = i == r->result->written ? 4 : 1; /* values, got, ref, magnitude */
        double images = r->s->emulated ? 3 : 2; /* one here, a copy to compare, the device's */
        bytes += elements * sizeof(double) * arrays + (double)tensor_bytes(&shape) * images;
    }
    double available = available_memory();
    return bytes < available ? GDNN_OK : no_memory(r, bytes, available);
}

/* Makes what one tensor holds and its bytes. Reading the values back from the bytes rounds them to
 * the type, and settles what a tensor with overlapping elements holds. */
static gdnn_status make_side(run *r, tensor_name name)
{
    static const fill_stream streams[TENSORS] = {FILL_X, FILL_W, FILL_Y, FILL_Z, FILL_BIAS};
    const gdnn_conv *conv = r->t->conv;
    side *side = &r->sides[name];
    bool written = name == r->result->written;
    if (!tensor_used(conv, name))
        return GDNN_OK;

    side->shape = tensor_of(conv, name);
    side->bytes = tensor_bytes(&side->shape);
    side->image = malloc(side->bytes);
    if (!side->image)
        return no_memory(r, (double)side->bytes, available_memory());
    memset(side->image, 0xff, side->bytes);
    if (written && conv->beta == 0)
        return GDNN_OK; /* it stays NaN: nobody may read it */

    int64_t count = tensor_elements(&side->shape);
    double *values = malloc((size_t)count * sizeof *values);
    r->result->values[name] = values;
    if (!values)
        return no_memory(r, (double)count * sizeof *values, available_memory());
    if (r->t->given[name])
        memcpy(values, r->t->given[name], (size_t)count * sizeof *values);
    else
        fill_values(values, count, r->t->fill, r->t->seed, streams[name], conv->dtype);
    tensor_scatter(&side->shape, values, side->image);
    tensor_gather(&side->shape, side->image, values);
    return GDNN_OK;
}

/* Allocates on the device and sends the images. */
static gdnn_status send(run *r, size_t workspace)
{
    size_t shift = (size_t)r->t->shift * gdnn_dtype_size(r->t->conv->dtype);
    gdnn_status status = GDNN_OK;
    for (tensor_name i = 0; i < TENSORS && status == GDNN_OK; i++) {
        side *side = &r->sides[i];
        if (!side->image)
            continue;
        status = buffer_open(r->s, &side->memory, side->bytes, shift);
        if (status == GDNN_OK)
            status = buffer_write(r->s, &side->memory, side->image);
    }
    if (status == GDNN_OK && workspace)
        status = buffer_open(r->s, &r->workspace, workspace, 0);
    if (status == GDNN_UNSUPPORTED)
        r->result->reason = "memory";
    return status == GDNN_OK ? session_wait(r->s) : status;
}

static void *address(const side *side)
{
    return side->image ? buffer_address(&side->memory) : NULL;
}

static gdnn_status launch(run *r, const gdnn_plan *plan)
{
    const gdnn_tensors tensors = {address(&r->sides[TENSOR_X]), address(&r->sides[TENSOR_W]),
                                  address(&r->sides[TENSOR_Y]), address(&r->sides[TENSOR_Z]),
                                  address(&r->sides[TENSOR_BIAS])};
    long long before = session_launches(r->s);
    session_counts from = {0}, to = {0};
    session_read_counts(r->s, &from);
    gdnn_status status =
        gdnn_plan_run(plan, &tensors,
                      r->workspace.allocation ? buffer_address(&r->workspace) : NULL, r->s->stream);
    if (status == GDNN_OK)
        status = session_wait(r->s);
    int promised = r->result->decision.launch.launches;
    r->result->launches = before < 0 ? promised : (int)(session_launches(r->s) - before);
    r->result->counted = session_read_counts(r->s, &to);
#define GDNN_COUNTER(name, meaning) r->result->counts.name = to.name - from.name;
#include "counters.def"
#undef GDNN_COUNTER
    return status;
}

/* Remembers the first thing that went wrong. */
static void damage(run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void damage(run *r, const char *format, ...)
{
    if (*r->result->damage)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->result->damage, sizeof r->result->damage, format, arguments);
    va_end(arguments);
}

/* Brings a tensor back: an input must be what it was, and of what is written the elements count,
 * which are taken out, and all else must be untouched. */
static gdnn_status receive(run *r, tensor_name name)
{
    side *side = &r->sides[name];
    const char *label = tensor_label(r->t->conv->dir, name);
    if (!side->image)
        return GDNN_OK;
    void *back = malloc(side->bytes);
    if (!back)
        return no_memory(r, (double)side->bytes, available_memory());
    bool intact = false;
    gdnn_status status = buffer_read(r->s, &side->memory, back, &intact);
    if (status == GDNN_OK && name == r->result->written) {
        tensor_gather(&side->shape, back, r->result->got);
        tensor_erase(&side->shape, back);
        tensor_erase(&side->shape, side->image);
        if (memcmp(back, side->image, side->bytes) != 0)
            damage(r, "%s was written between its elements", label);
    } else if (status == GDNN_OK && memcmp(back, side->image, side->bytes) != 0) {
        damage(r, "%s is an input and was changed", label);
    }
    if (status == GDNN_OK && !intact)
        damage(r, "%s was written before its first or after its last element", label);
    free(back);
    return status;
}

static gdnn_status receive_all(run *r)
{
    gdnn_status status = GDNN_OK;
    for (tensor_name i = 0; i < TENSORS && status == GDNN_OK; i++)
        status = receive(r, i);
    if (status == GDNN_OK && r->workspace.allocation) {
        bool intact = false;
        void *back = malloc(r->workspace.bytes);
        status = back ? buffer_read(r->s, &r->workspace, back, &intact)
                      : no_memory(r, (double)r->workspace.bytes, available_memory());
        if (status == GDNN_OK && !intact)
            damage(r, "the workspace was written outside of what the plan asked for");
        free(back);
    }
    return status;
}

static gdnn_status compute_reference(run *r, const gdnn_reference *reference)
{
    const gdnn_conv *conv = r->t->conv;
    if (r->t->device_reference && conv->dtype != GDNN_F64)
        return device_reference_run(r->s, conv, reference);
    gdnn_reference_run(conv, reference);
    return GDNN_OK;
}

/* Computes the reference from the values that the kernel got, and compares. */
static gdnn_status compare(run *r)
{
    trial_result *result = r->result;
    tensor_name written = result->written;
    size_t bytes = (size_t)tensor_elements(&r->sides[written].shape) * sizeof *result->ref;
    gdnn_reference reference = {.z = result->values[TENSOR_Z],
                                .bias = result->values[TENSOR_BIAS],
                                .magnitude = r->magnitude};
    double **roles[] = {&reference.x, &reference.w, &reference.y};
    for (int i = 0; i < 3; i++)
        *roles[i] = result->values[i];
    *roles[written] = result->ref;
    if (result->values[written])
        memcpy(result->ref, result->values[written], bytes);
    else
        memset(result->ref, 0xff, bytes);
    gdnn_status status = compute_reference(r, &reference);
    if (status == GDNN_UNSUPPORTED)
        result->reason = "memory";
    if (status != GDNN_OK)
        return status;
    result->error = measure_result(r->t->conv, result->got, result->ref, r->magnitude);

    if (result->launches != result->decision.launch.launches)
        damage(r, "%d launches were made instead of %d", result->launches,
               result->decision.launch.launches);
    result->pass = result->error.pass && !*result->damage;
    return GDNN_OK;
}

/* Everything between the plan and its end. */
static gdnn_status run_plan(run *r, const gdnn_plan *plan)
{
    gdnn_status status = check_memory(r);
    for (tensor_name i = 0; i < TENSORS && status == GDNN_OK; i++)
        status = make_side(r, i);
    if (status != GDNN_OK)
        return status;
    size_t bytes = (size_t)tensor_elements(&r->sides[r->result->written].shape) * sizeof(double);
    r->result->got = malloc(bytes);
    r->result->ref = malloc(bytes);
    r->magnitude = malloc(bytes);
    if (!r->result->got || !r->result->ref || !r->magnitude)
        return no_memory(r, 3.0 * (double)bytes, available_memory());
    status = send(r, gdnn_plan_workspace(plan));
    if (status == GDNN_OK)
        status = launch(r, plan);
    if (status == GDNN_OK)
        status = receive_all(r);
    return status == GDNN_OK ? compare(r) : status;
}

gdnn_status trial_run(session *s, const trial *t, trial_result *result)
{
    *result = (trial_result){.written = (tensor_name)gdnn_written(t->conv->dir),
                             .cudnn_err_l2 = NAN,
                             .vs_cudnn_l2 = NAN};
    run r = {.s = s, .t = t, .result = result};
    gdnn_plan *plan;
    gdnn_status status =
        gdnn_plan_make(&plan, t->conv, t->workspace, t->options, &result->decision);
    result->reason = gdnn_reason_name(result->decision.reason);
    if (status != GDNN_OK)
        return status;
    status = run_plan(&r, plan);
    gdnn_plan_destroy(plan);
    for (int i = 0; i < TENSORS; i++) {
        buffer_close(s, &r.sides[i].memory);
        free(r.sides[i].image);
    }
    buffer_close(s, &r.workspace);
    free(r.magnitude);
    return status;
}

void trial_release(trial_result *result)
{
    for (int i = 0; i < TENSORS; i++)
        free(result->values[i]);
    free(result->got);
    free(result->ref);
    *result = (trial_result){.reason = NULL};
}
