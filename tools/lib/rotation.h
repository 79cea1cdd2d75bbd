/* Memory for timing a problem: x, w and y several times over, so that a call finds nothing in the L2 cache that an
 * earlier one left there, and workspace. */
#ifndef ROTATION_H
#define ROTATION_H

#include "session.h"
#include "tensor.h"

typedef struct rotation {
    int copies;
    CUdeviceptr memory;
    size_t set;             /* bytes of one copy */
    size_t offset[TENSORS]; /* of x, w, y, z and bias in it */
    bool used[TENSORS];
    CUdeviceptr workspace;
    size_t workspace_bytes;
    size_t l2_bytes; /* of the device; 0: not known */
} rotation;

/* Allocates copies of the tensors of `conv`, all together at least twice as large as the L2 cache, but no more than 128,
 * with random values in [-1, 1); and up to `workspace` bytes of workspace.
 * GDNN_UNSUPPORTED: one copy does not fit into memory. GDNN_FAILED: the driver refused. */
gdnn_status rotation_open(session *s, rotation *r, const gdnn_conv *conv, size_t workspace);

/* The tensors of a copy: any number, of which the remainder counts. */
gdnn_tensors rotation_tensors(const rotation *r, int copy);

void *rotation_workspace(const rotation *r);

void rotation_close(session *s, rotation *r);

#endif
