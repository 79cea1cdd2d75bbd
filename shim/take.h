/* A call that may be ours: decided once, then run by our kernel, by the real library, or by both. */
#ifndef GDNN_TAKE_H
#define GDNN_TAKE_H

#include "cudnn_types.h"
#include "routes.h"

/* How a face of cuDNN asks the real library. `context` is the face's own. */
typedef struct gdnn_taker {
    void *context;
    /* Makes the program's call. */
    cudnnStatus_t (*real)(void *context);
    /* Whether cuDNN accepts the call's algorithm and workspace; asked once a route. NULL: it does. */
    bool (*accepted)(void *context);
    /* The stream now; never remembered. */
    bool (*stream)(void *context, CUstream *stream);
} gdnn_taker;

/* Runs `conv`, which was read from a call of the program, on `data` with the memory on offer: our kernel
 * if it is taken and everything about the call is in order, else `taker->real`. A launch that the driver
 * refuses is forwarded too. */
cudnnStatus_t gdnn_take(const gdnn_conv *conv, int algo, const gdnn_tensors *data, void *workspace,
                        size_t workspace_bytes, const gdnn_taker *taker);

/* Does so with a route that is known, of the problem, whichever device was the current one then. */
cudnnStatus_t gdnn_take_route(gdnn_route *route, const gdnn_tensors *data, void *workspace,
                              const gdnn_taker *taker);

/* Forwards a call whose problem is not ours to read, and counts it. */
cudnnStatus_t gdnn_forward(gdnn_dir dir, gdnn_reason reason, const gdnn_taker *taker);

#endif
