#include "execution.h"
#include "device.h"
#include "number.h"
#include "report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong_results;

int executions_wrong(void)
{
    return wrong_results;
}

static cudnnTensorDescriptor_t describe(const tensor *t)
{
    cudnnTensorDescriptor_t descriptor;
    cudnnCreateTensorDescriptor(&descriptor);
    cudnnSetTensorNdDescriptor(descriptor, t->type, t->axes, t->size, t->stride);
    return descriptor;
}

static void make_descriptors(execution *e)
{
    const problem *p = &e->p;
    arguments *a = &e->a;
    a->x = describe(&e->x);
    a->y = describe(&e->y);
    cudnnCreateFilterDescriptor(&a->w);
    cudnnSetFilterNdDescriptor(a->w, p->type,
                               p->w == CHANNELS_LAST ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                               e->w.axes, e->w.size);
    cudnnCreateConvolutionDescriptor(&a->conv);
    cudnnSetConvolutionNdDescriptor(a->conv, p->axes, p->pad, p->stride, p->dilation, p->mode,
                                    p->arithmetic);
    cudnnSetConvolutionGroupCount(a->conv, p->said_groups ? p->said_groups : p->groups);
    cudnnSetConvolutionMathType(a->conv, p->math);
    if (p->fused) {
        a->z = describe(&e->z);
        a->bias = describe(&e->bias);
        cudnnCreateActivationDescriptor(&a->activation);
        cudnnSetActivationDescriptor(a->activation, p->activation, CUDNN_NOT_PROPAGATE_NAN,
                                     p->coefficient);
    }
}

static size_t workspace_for(const arguments *a, direction dir)
{
    size_t bytes = 0;
    char text[8];
    switch (dir) {
    case FORWARD:
        cudnnGetConvolutionForwardWorkspaceSize(a->handle, a->x, a->w, a->conv, a->y,
                                                (cudnnConvolutionFwdAlgo_t)a->algo, &bytes);
        break;
    case BACKWARD_DATA:
        cudnnGetConvolutionBackwardDataWorkspaceSize(
            a->handle, a->w, a->y, a->conv, a->x, (cudnnConvolutionBwdDataAlgo_t)a->algo, &bytes);
        break;
    case BACKWARD_FILTER:
        cudnnGetConvolutionBackwardFilterWorkspaceSize(
            a->handle, a->x, a->y, a->conv, a->w, (cudnnConvolutionBwdFilterAlgo_t)a->algo, &bytes);
        break;
    }
    cudnnGetLastErrorString(text, sizeof text); /* not of the call to come */
    return bytes;
}

static void make_data(execution *e)
{
    const problem *p = &e->p;
    int size[5];
    number_seed(17);
    int axes = sizes_of_x(p, size);
    const int poisoned = p->beta == 0;
    tensor_make(&e->x, p->type, axes, size, p->x, poisoned && p->dir == BACKWARD_DATA);
    if (p->special)
        tensor_special(&e->x);
    axes = sizes_of_w(p, size);
    tensor_make(&e->w, p->type, axes, size, p->w, poisoned && p->dir == BACKWARD_FILTER);
    axes = sizes_of_y(p, size);
    tensor_make(&e->y, p->type, axes, size, p->y, poisoned && p->dir == FORWARD && !p->z_is_y);
    if (!p->fused)
        return;
    /* Where alpha2 is 0, z must not be read. */
    tensor_make(&e->z, p->type, axes, size, p->y, p->alpha2 == 0);
    const int bias[5] = {1, p->k, 1, 1, 1};
    tensor_make(&e->bias, p->type, axes, bias, CHANNELS_FIRST, 0);
}

void execution_make(execution *e, const problem *p, cudnnHandle_t handle)
{
    memset(e, 0, sizeof *e);
    e->p = *p;
    make_data(e);
    e->a = (arguments){.handle = handle,
                       .x_data = e->x.device,
                       .w_data = e->w.device,
                       .y_data = e->y.device,
                       .z_data = p->z_is_y ? e->y.device : e->z.device,
                       .bias_data = e->bias.device,
                       .algo = p->algo};
    make_descriptors(e);
    const double factors[3] = {p->alpha, p->beta, p->alpha2};
    for (int i = 0; i < 3; i++) {
        e->wide[i] = factors[i];
        e->narrow[i] = (float)factors[i];
    }
    const int wide = p->type == CUDNN_DATA_DOUBLE;
    e->a.alpha = wide ? (void *)&e->wide[0] : &e->narrow[0];
    e->a.beta = wide ? (void *)&e->wide[1] : &e->narrow[1];
    e->a.alpha2 = wide ? (void *)&e->wide[2] : &e->narrow[2];
    e->a.workspace_bytes = workspace_for(&e->a, p->dir);
    if (e->a.workspace_bytes)
        e->workspace = e->a.workspace = device_new(e->a.workspace_bytes);
}

void execution_free(execution *e)
{
    tensor_free(&e->x);
    tensor_free(&e->w);
    tensor_free(&e->y);
    tensor_free(&e->z);
    tensor_free(&e->bias);
    device_free(e->workspace);
    cudnnDestroyTensorDescriptor(e->a.x);
    cudnnDestroyTensorDescriptor(e->a.y);
    cudnnDestroyFilterDescriptor(e->a.w);
    cudnnDestroyConvolutionDescriptor(e->a.conv);
    if (e->p.fused) {
        cudnnDestroyTensorDescriptor(e->a.z);
        cudnnDestroyTensorDescriptor(e->a.bias);
        cudnnDestroyActivationDescriptor(e->a.activation);
    }
}

static void show_problem(const problem *p)
{
    show("n=%d c=%d k=%d groups=%d/%d type=%d/%d math=%d mode=%d order=%d,%d,%d", p->n, p->c, p->k,
         p->groups, p->said_groups ? p->said_groups : p->groups, (int)p->type, (int)p->arithmetic,
         (int)p->math, (int)p->mode, (int)p->x, (int)p->w, (int)p->y);
    show_ints("in", p->in, p->axes);
    show_ints("filter", p->filter, p->axes);
    show_ints("pad", p->pad, p->axes);
    show_ints("stride", p->stride, p->axes);
    show_ints("dilation", p->dilation, p->axes);
    show("algo=%d alpha=%g beta=%g", p->algo, p->alpha, p->beta);
    if (p->fused)
        show("alpha2=%g activation=%d", p->alpha2, (int)p->activation);
}

cudnnStatus_t execution_call(execution *e, const char *what, const arguments *a)
{
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    if (e->p.fused)
        status = CALL(what, cudnnConvolutionBiasActivationForward(
                                a->handle, a->alpha, a->x, a->x_data, a->w, a->w_data, a->conv,
                                (cudnnConvolutionFwdAlgo_t)a->algo, a->workspace,
                                a->workspace_bytes, a->alpha2, a->z, a->z_data, a->bias,
                                a->bias_data, a->activation, a->y, a->y_data));
    else if (e->p.dir == FORWARD)
        status = CALL(
            what, cudnnConvolutionForward(a->handle, a->alpha, a->x, a->x_data, a->w, a->w_data,
                                          a->conv, (cudnnConvolutionFwdAlgo_t)a->algo, a->workspace,
                                          a->workspace_bytes, a->beta, a->y, a->y_data));
    else if (e->p.dir == BACKWARD_DATA)
        status = CALL(what, cudnnConvolutionBackwardData(
                                a->handle, a->alpha, a->w, a->w_data, a->y, a->y_data, a->conv,
                                (cudnnConvolutionBwdDataAlgo_t)a->algo, a->workspace,
                                a->workspace_bytes, a->beta, a->x, a->x_data));
    else
        status = CALL(what, cudnnConvolutionBackwardFilter(
                                a->handle, a->alpha, a->x, a->x_data, a->y, a->y_data, a->conv,
                                (cudnnConvolutionBwdFilterAlgo_t)a->algo, a->workspace,
                                a->workspace_bytes, a->beta, a->w, a->w_data));
    show_problem(&e->p);
    return status;
}

static tensor *written(execution *e)
{
    switch (e->p.dir) {
    case FORWARD: return &e->y;
    case BACKWARD_DATA: return &e->x;
    case BACKWARD_FILTER: break;
    }
    return &e->w;
}

static void look(execution *e, const char *how, const double *result, const double *bound,
                 cudaStream_t stream)
{
    double worst;
    const int wrong = tensor_wrong(written(e), result, bound, stream, &worst);
    show("%s=%s bits=%016llx worst=%.3g", how, wrong ? "WRONG" : "ok", tensor_bits(written(e)),
         worst);
    wrong_results += wrong != 0;
}

static void check(execution *e, cudaStream_t stream)
{
    const numbers t = {e->x.numbers, e->w.numbers, e->y.numbers,
                       e->p.z_is_y ? e->y.numbers : e->z.numbers, e->bias.numbers};
    const size_t bytes = (size_t)written(e)->elements * sizeof(double);
    double *result = malloc(bytes), *bound = malloc(bytes);
    if (!result || !bound) {
        fprintf(stderr, "calls: no memory for %zu bytes\n", bytes);
        exit(3);
    }
    expect(&e->p, &t, result, bound);
    look(e, "result", result, bound, stream);
    free(result);
    free(bound);
}

static void check_untouched(execution *e, cudaStream_t stream)
{
    double *none = calloc((size_t)written(e)->elements, sizeof *none);
    if (!none) {
        fprintf(stderr, "calls: no memory\n");
        exit(3);
    }
    look(e, "untouched", written(e)->numbers, none, stream);
    free(none);
}

void execution_run(execution *e, const char *what, const arguments *a, cudaStream_t stream)
{
    if (execution_call(e, what, a) == CUDNN_STATUS_SUCCESS)
        check(e, stream);
    else
        check_untouched(e, stream);
}

void execute(const char *what, const problem *p, cudnnHandle_t handle)
{
    execution e;
    execution_make(&e, p, handle);
    execution_run(&e, what, &e.a, NULL);
    execution_free(&e);
}
