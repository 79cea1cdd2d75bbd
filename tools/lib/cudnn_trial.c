#include "cudnn_trial.h"

#include "cudnn_graph.h"
#include "cudnn_legacy.h"
#include "error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run under way. */
typedef struct run {
    session *s;
    const gdnn_conv *conv;
    const trial_result *result;
    rotation memory;
    cudnn_legacy legacy;
    cudnn_graph graph;
} run;

/* cuDNN's own trials write into the first copy of the tensors. */
enum { COPY = 1 };

static CUdeviceptr place(const run *r, tensor_name name)
{
    return r->memory.memory + COPY * r->memory.set + r->memory.offset[name];
}

/* Sends what the kernel got; where it got nothing, NaN. */
static gdnn_status send(const run *r, tensor_name name)
{
    tensor shape = tensor_of(r->conv, name);
    const size_t bytes = tensor_bytes(&shape);
    void *image = malloc(bytes);
    if (!image)
        return gdnn_fail(GDNN_UNSUPPORTED, "out of memory");
    memset(image, 0xff, bytes);
    if (r->result->values[name])
        tensor_scatter(&shape, r->result->values[name], image);
    gdnn_status status = gdnn_driver_check(
        r->s->driver->cuMemcpyHtoDAsync(place(r, name), image, bytes, r->s->stream),
        "cuMemcpyHtoDAsync");
    gdnn_status waited = session_wait(r->s);
    free(image);
    return status == GDNN_OK ? waited : status;
}

static gdnn_status receive(const run *r, tensor_name name, double *values)
{
    tensor shape = tensor_of(r->conv, name);
    const size_t bytes = tensor_bytes(&shape);
    void *image = malloc(bytes);
    if (!image)
        return gdnn_fail(GDNN_UNSUPPORTED, "out of memory");
    gdnn_status status = gdnn_driver_check(
        r->s->driver->cuMemcpyDtoHAsync(image, place(r, name), bytes, r->s->stream),
        "cuMemcpyDtoHAsync");
    gdnn_status waited = session_wait(r->s);
    if (status == GDNN_OK)
        status = waited;
    if (status == GDNN_OK)
        tensor_gather(&shape, image, values);
    free(image);
    return status;
}

static gdnn_status execute(run *r, const cudnn_calls *calls)
{
    bool legacy = cudnn_legacy_open(&r->legacy, calls, r->conv, &r->memory) == GDNN_OK;
    gdnn_status status = GDNN_OK;
    if (!legacy)
        status = cudnn_graph_open(&r->graph, calls, r->conv, &r->memory);
    for (tensor_name i = TENSOR_X; i <= TENSOR_Y && status == GDNN_OK; i++)
        status = send(r, i);
    if (status == GDNN_OK)
        status =
            legacy ? cudnn_legacy_enqueue(&r->legacy, COPY) : cudnn_graph_enqueue(&r->graph, COPY);
    return status == GDNN_OK ? session_wait(r->s) : status;
}

static gdnn_status judge(const run *r, trial_result *result)
{
    tensor shape = tensor_of(r->conv, result->written);
    const int64_t count = tensor_elements(&shape);
    double *values = malloc((size_t)count * sizeof *values);
    if (!values)
        return gdnn_fail(GDNN_UNSUPPORTED, "out of memory");
    gdnn_status status = receive(r, result->written, values);
    if (status == GDNN_OK) {
        result->cudnn_err_l2 = relative_l2(values, result->ref, count);
        result->vs_cudnn_l2 = relative_l2(result->got, values, count);
    }
    free(values);
    return status;
}

gdnn_status cudnn_trial(const cudnn_calls *calls, session *s, const gdnn_conv *conv,
                        size_t workspace, trial_result *result)
{
    run r = {.s = s, .conv = conv, .result = result};
    r.legacy.calls = r.graph.calls = calls;
    r.graph.memory = &r.memory;
    gdnn_status status = rotation_open(s, &r.memory, conv, workspace);
    if (status == GDNN_OK && r.memory.copies <= COPY)
        status = gdnn_fail(GDNN_UNSUPPORTED, "two copies of the tensors do not fit into memory");
    if (status == GDNN_OK)
        status = execute(&r, calls);
    if (status == GDNN_OK)
        status = judge(&r, result);
    cudnn_graph_close(&r.graph);
    cudnn_legacy_close(&r.legacy);
    rotation_close(s, &r.memory);
    return status;
}

double relative_l2(const double *a, const double *b, int64_t count)
{
    double error = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) {
            if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))
                continue;
            return INFINITY;
        }
        error += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return error == 0 ? 0 : sqrt(error / size);
}
