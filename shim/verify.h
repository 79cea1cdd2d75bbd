/* Mode verify: cuDNN and our kernel on the same inputs. */
#ifndef GDNN_VERIFY_H
#define GDNN_VERIFY_H

#include "cudnn_types.h"
#include "routes.h"

/* Runs our kernel into memory of its own, lets `real` run cuDNN as the program asked, compares the
 * two results, and leaves cuDNN's. Counts in `route`: compared, differed, skipped, worst. A
 * difference is logged at level error with the problem. Waits for the stream.
 *
 * Prior contents count: what is written is copied before anything runs, so that beta, z == y and
 * gaps between strided elements are the same for both.
 *
 * Skipped, and only `real` runs: the stream is being captured, device or host memory is short, or the
 * driver refuses anything. Returns what `real` returned; it is called exactly once. */
cudnnStatus_t gdnn_verify(gdnn_route *route, const gdnn_tensors *tensors, void *workspace,
                          CUstream stream, cudnnStatus_t (*real)(void *context), void *context);

#endif
