/* Problems on the device with what they should give, for the tests of graphs. */
#ifndef GDNN_CUDNN_DOUBLE_GRAPH_JOB_H
#define GDNN_CUDNN_DOUBLE_GRAPH_JOB_H

#include "../../unit/reference_fixture.h"
#include "cuda_types.h"
#include "graph_program.h"

enum { TENSORS = 5 };

/* A tensor on the device. */
typedef struct buffer {
    int64_t uid;
    int dims;
    int64_t size[GDNN_MAX_DIMS];
    const int64_t *stride;
    double *values; /* packed, in logical order */
    int64_t count, span;
    unsigned char *bytes; /* as the device had it at the beginning */
    void *device;
} buffer;

/* A problem on the device: x, w, y, and bias and z where it has them, in this order. */
typedef struct job {
    fixture problem; /* with the result */
    cudnnHandle_t handle;
    int tensors;
    buffer tensor[TENSORS];
    void *workspace;
} job;

job *begin(const char *text);
void end(job *j);

/* A variant pack of all tensors, and of a workspace as large as the plan needs. */
descriptor pack_of(job *j, descriptor plan);

/* Elements that differ from what they should be, after or before the execution, gaps and tensors that are only read
 * included. */
int64_t count_wrong(const job *j, bool computed, cudaStream_t stream);

/* Makes the memory what it was at the beginning. */
void put_back(const job *j);

/* A problem with a plan that needs `workspace` bytes or more, and a pack. */
typedef struct scene {
    job *j;
    descriptor plan, pack;
    int64_t uids[TENSORS];
    void *pointers[TENSORS];
} scene;

void open_scene(scene *s, const char *text, int64_t workspace);
void close_scene(scene *s);

/* What the client's device.h has not. */
typedef struct driver_functions {
    CUresult (*get)(CUcontext *);
    CUresult (*push)(CUcontext);
    CUresult (*pop)(CUcontext *);
    CUresult (*begin_capture)(CUstream, CUstreamCaptureMode);
    CUresult (*end_capture)(CUstream, void **graph);
} driver_functions;

extern driver_functions driver;
extern CUcontext context; /* the one that is current when open_driver is called */

/* Opens the device, once. False: there is none, or a function is missing. */
bool open_driver(void);

#endif
