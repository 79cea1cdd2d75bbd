/* Loading and launching kernels. */
#ifndef GDNN_LAUNCH_H
#define GDNN_LAUNCH_H

#include "conv_args.h"
#include "cuda_types.h"
#include "decide.h"
#include "groupdnn.h"

/* What a run launches, good in every context. */
typedef struct gdnn_functions {
    CUfunction kernel;
    CUfunction finish; /* the second launch; NULL if there is none */
} gdnn_functions;

/* Loads the instances that `shape` names for the current context and raises their limit of dynamic
 * shared memory where needed; *functions are what gdnn_launch takes. Each
 * image is loaded once a process and never unloaded. Legal while a stream is being captured.
 * *reason, where it is not GDNN_OK: NO_DRIVER, NO_CONTEXT, NO_IMAGE. GDNN_UNSUPPORTED: this machine
 * cannot run the kernel, for that reason. GDNN_FAILED: the driver refused; *reason is NO_IMAGE. */
gdnn_status gdnn_load(const gdnn_launch_shape *shape, gdnn_functions *functions,
                      gdnn_reason *reason);

/* What the kernel of `shape`, which gdnn_decide made for `conv`, is told about it. */
void gdnn_launch_args(const gdnn_launch_shape *shape, const gdnn_conv *conv, gdnn_args *args);

/* Enqueues the launch, or both. Allocates, locks and synchronises nothing.
 * GDNN_FAILED: the driver refused one; what the problem writes is untouched. */
gdnn_status gdnn_launch(const gdnn_launch_shape *shape, const gdnn_functions *functions,
                        const gdnn_args *args, const gdnn_tensors *tensors, void *workspace,
                        CUstream stream);

#endif
