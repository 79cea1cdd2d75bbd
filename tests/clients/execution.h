/* Calls that convolve, with data, and a look at the results. */
#ifndef GDNN_CLIENT_EXECUTION_H
#define GDNN_CLIENT_EXECUTION_H

#include "tensor.h"

/* Everything that a call of any of the four functions is given. */
typedef struct arguments {
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t x, y, z, bias;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    cudnnActivationDescriptor_t activation;
    void *x_data, *w_data, *y_data, *z_data, *bias_data;
    const void *alpha, *beta, *alpha2;
    int algo;
    void *workspace;
    size_t workspace_bytes;
} arguments;

/* A problem with descriptors and data made. */
typedef struct execution {
    problem p;
    tensor x, w, y, z, bias;
    arguments a;
    double wide[3];
    float narrow[3];
    void *workspace;
} execution;

/* `handle` stays the caller's. The workspace is what the algorithm asks for; none where it
 * refuses. */
void execution_make(execution *e, const problem *p, cudnnHandle_t handle);
void execution_free(execution *e);

/* Makes the call with `a`, which is e->a or differs from it, and reports it. `stream` is the
 * handle's. Adds to the line whether the written tensor holds what it should, or after a failure
 * whether it is as it was; its bits; and the largest error in units of what is allowed. */
void execution_run(execution *e, const char *what, const arguments *a, cudaStream_t stream);

/* Makes the call and reports it without a look at the data. */
cudnnStatus_t execution_call(execution *e, const char *what, const arguments *a);

/* All of it. */
void execute(const char *what, const problem *p, cudnnHandle_t handle);

/* How many results were wrong so far. */
int executions_wrong(void);

#endif
