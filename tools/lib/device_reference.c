#include "device_reference.h"

#include "enums.h"
#include "error.h"
#include "half.h"
#include "plan.h"
#include "problem.h"
#include "tensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tensors of a problem in float64, packed: their memory is their values in logical order. */
typedef struct wide {
    session *s;
    gdnn_conv conv;
    buffer memory[TENSORS];
} wide;

static double factor(const gdnn_conv *conv, double value)
{
    return gdnn_round_to(conv->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32, value);
}

static gdnn_status widen(const gdnn_conv *conv, gdnn_conv *to)
{
    *to = *conv;
    to->alpha = factor(conv, conv->alpha);
    to->beta = factor(conv, conv->beta);
    to->alpha2 = factor(conv, conv->alpha2);
    to->dtype = to->acc = GDNN_F64;
    to->math = GDNN_MATH_F32;
    return gdnn_conv_set_layout(to, GDNN_NCHW);
}

static gdnn_status open_memory(wide *w)
{
    gdnn_status status = GDNN_OK;
    for (tensor_name i = 0; i < TENSORS && status == GDNN_OK; i++) {
        if (!tensor_used(&w->conv, i))
            continue;
        const tensor shape = tensor_of(&w->conv, i);
        status = buffer_open(w->s, &w->memory[i], tensor_bytes(&shape), 0);
    }
    return status;
}

/* Sends the values, or their absolute values. */
static gdnn_status send(wide *w, const double *const values[TENSORS], bool absolute)
{
    gdnn_status status = GDNN_OK;
    for (int i = 0; i < TENSORS && status == GDNN_OK; i++) {
        const size_t bytes = w->memory[i].bytes;
        if (!bytes || !values[i] || (i == (int)gdnn_written(w->conv.dir) && w->conv.beta == 0))
            continue;
        double *copy = absolute ? malloc(bytes) : NULL;
        if (absolute && !copy)
            return gdnn_fail(GDNN_UNSUPPORTED, "%zu bytes do not fit into memory", bytes);
        for (size_t n = 0; copy && n < bytes / sizeof *copy; n++)
            copy[n] = fabs(values[i][n]);
        status = buffer_write(w->s, &w->memory[i], copy ? copy : values[i]);
        if (status == GDNN_OK)
            status = session_wait(w->s);
        free(copy);
    }
    return status;
}

static void *address(const buffer *b)
{
    return b->allocation ? buffer_address(b) : NULL;
}

/* Runs the kernel for `conv`, which has the sizes of w->conv, and brings the result to `to`. */
static gdnn_status run(wide *w, const gdnn_conv *conv, double *to)
{
    gdnn_options options;
    gdnn_plan *plan;
    bool intact;
    gdnn_options_init(&options);
    options.mode = GDNN_MODE_FORCE;
    snprintf(options.kernel, sizeof options.kernel, "direct_%s",
             gdnn_enum_word(GDNN_ENUM_dir, (int)conv->dir));
    gdnn_status status = gdnn_plan_make(&plan, conv, 0, &options, NULL);
    if (status != GDNN_OK)
        return status;
    const gdnn_tensors tensors = {address(&w->memory[TENSOR_X]), address(&w->memory[TENSOR_W]),
                                  address(&w->memory[TENSOR_Y]), address(&w->memory[TENSOR_Z]),
                                  address(&w->memory[TENSOR_BIAS])};
    status = gdnn_plan_run(plan, &tensors, NULL, w->s->stream);
    if (status == GDNN_OK)
        status = buffer_read(w->s, &w->memory[gdnn_written(conv->dir)], to, &intact);
    if (status == GDNN_OK && !intact)
        status = gdnn_fail(GDNN_FAILED, "the float64 kernel wrote beside its output");
    gdnn_plan_destroy(plan);
    return status;
}

/* The problem whose result is the sum of the absolute values of all terms. */
static gdnn_conv of_magnitudes(const gdnn_conv *conv)
{
    gdnn_conv result = *conv;
    result.alpha = fabs(conv->alpha);
    result.beta = fabs(conv->beta);
    result.alpha2 = fabs(conv->alpha2);
    result.act = GDNN_ACT_NONE;
    return result;
}

gdnn_status device_reference_run(session *s, const gdnn_conv *conv, const gdnn_reference *r)
{
    wide w = {.s = s};
    double *const written[] = {r->x, r->w, r->y};
    const double *const values[TENSORS] = {r->x, r->w, r->y, r->z, r->bias};
    gdnn_status status = widen(conv, &w.conv);
    if (status == GDNN_OK)
        status = open_memory(&w);
    if (status == GDNN_OK && r->magnitude) {
        const gdnn_conv magnitudes = of_magnitudes(&w.conv);
        status = send(&w, values, true);
        if (status == GDNN_OK)
            status = run(&w, &magnitudes, r->magnitude);
    }
    if (status == GDNN_OK)
        status = send(&w, values, false);
    if (status == GDNN_OK)
        status = run(&w, &w.conv, written[gdnn_written(conv->dir)]);
    for (int i = 0; i < TENSORS; i++)
        buffer_close(s, &w.memory[i]);
    return status;
}
