/* What the files of the cuDNN double share.
 *
 * The double is a libcudnn.so.9 that needs no GPU: convolutions are the float64 reference, on
 * memory that it copies from and to the device through whatever libcuda.so.1 the process finds. It
 * comes in two flavours:
 *
 *   plain  descriptors of its own; needs nothing of NVIDIA's; no graphs
 *   real   what takes no handle is passed on to NVIDIA's library, and so are graphs, which the
 *          double gives a GPU in place of the handle
 *
 * Statuses are those of cuDNN 9.19, also where they surprise: of several wrong things it says which
 * is found first, and the number of groups that runs follows from the channels of x and w, whatever
 * the descriptor says. Texts of errors are the double's own conditions, empty where NVIDIA's are.
 *
 * Seen without a GPU is what NVIDIA's checks before it needs one: what tests/clients/statuses.txt
 * lists. Guessed is that the forward calls check as backward-data does, and what is wrong about z,
 * bias and activation. Different on purpose: every activation runs, all layouts run, NULL for a
 * result is BAD_PARAM where NVIDIA's crashes, and a stream that is being captured is refused, since
 * work here is done at once.
 *
 * Graphs (`real` only). Heuristics, engines and plans are NVIDIA's, for the GPU of GDNN_DOUBLE_GPU
 * unless the program says which itself. Handles never reach NVIDIA's library; that of a plan may not
 * be NULL, which NVIDIA's lets pass. A plan is executed as what its own text says, in float64,
 * rounded once at the end and not between operations: one convolution as shim/graph_problem.h has
 * it, of any number of groups. All else is NOT_SUPPORTED, and so are variant packs with other shapes
 * than the plan's. Of graphs the double remembers nothing but what is in variant packs, which cannot
 * be read back.
 *
 * NVIDIA's library also opens the double of the driver, finds it wanting, says so on standard error
 * ("Could not load symbol") and goes on without.
 *
 * Environment, read once, at the first call that needs it:
 *
 *   GDNN_DOUBLE_LOG=file    a line for every call that convolves or adds: name, status, stream of
 *                           the handle, bytes of workspace, alpha
 *   GDNN_DOUBLE_FAIL=items  name:n or name:n:status, joined by commas: the n-th call of that
 *                           function does nothing and gives status, or EXECUTION_FAILED. Not for
 *                           what the flavour `real` passes on, but for all of the graph interface
 *   GDNN_DOUBLE_GPU=name    h200 (the default), a100 or t4: for which GPU graphs are planned
 *   GDNN_DOUBLE_REAL=path   NVIDIA's library for the flavour `real`, read when the double is
 *                           loaded; by default the one known at build time
 */
#ifndef GDNN_CUDNN_DOUBLE_H
#define GDNN_CUDNN_DOUBLE_H

#include "../../clients/cudnn_client.h"
#include "groupdnn.h"

struct cudnnContext {
    cudaStream_t stream;
    struct cudnnContext *self; /* which no other thing that a program may pass has here */
};

/* Keeps `text` for cudnnGetLastErrorString of this thread and returns `status`. */
cudnnStatus_t fail(cudnnStatus_t status, const char *text);

/* BAD_PARAM with the condition as its text. */
#define REFUSE_IF(condition)                                                                       \
    do {                                                                                           \
        if (condition)                                                                             \
            return fail(CUDNN_STATUS_BAD_PARAM, #condition);                                       \
    } while (0)

/* SUCCESS, or what cuDNN gives where host memory is short. */
cudnnStatus_t created(const void *object);

/* Counts this call of `function`. Not SUCCESS: GDNN_DOUBLE_FAIL says that it fails. */
cudnnStatus_t told_to_fail(const char *function);

#define FAIL_IF_TOLD()                                                                             \
    do {                                                                                           \
        const cudnnStatus_t told = told_to_fail(__func__);                                         \
        if (told != CUDNN_STATUS_SUCCESS)                                                          \
            return fail(told, "GDNN_DOUBLE_FAIL");                                                 \
    } while (0)

/* Writes the line of GDNN_DOUBLE_LOG. Returns `status`. */
cudnnStatus_t record(const char *function, cudnnStatus_t status, cudnnHandle_t handle,
                     size_t workspace_bytes, double alpha);

#endif
