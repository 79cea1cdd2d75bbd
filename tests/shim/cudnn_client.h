/* A program that calls cuDNN, on the double of the driver: its tensors, its stream, and what stands
 * for cuDNN. */
#ifndef GDNN_TESTS_SHIM_CUDNN_CLIENT_H
#define GDNN_TESTS_SHIM_CUDNN_CLIENT_H

#include "cudnn_types.h"
#include "double_fixture.h"
#include "results.h"
#include "routes.h"

/* What stands for cuDNN does to its right result. */
typedef enum fault {
    NONE,
    ONE_WRONG,
    ONE_SLIGHTLY_WRONG,
    ONE_NAN,
    CHANNELS_SWAPPED,
    ALL_ZERO,
    NO_PRIOR, /* as if beta and z were 0 */
    FAULTS
} fault;

typedef struct program {
    results data;
    gdnn_route route;
    CUdeviceptr memory[TENSORS];
    CUstream stream;
    bool in_place; /* z is y */
    fault fault;
    cudnnStatus_t status; /* that cuDNN returns */
    int calls;            /* of cuDNN */
    void *image;          /* of what is written, after cuDNN */
} program;

/* The problem that `text` states, decided and loaded, with data on the device; gaps hold 0xa5. */
program program_of(const char *text);
void program_end(program *p);
gdnn_tensors program_tensors(const program *p);

/* cuDNN's call; `context` is the program. */
cudnnStatus_t program_cudnn(void *context);

/* That the memory of the written tensor is what cuDNN alone leaves there, gaps included. */
void program_kept(const program *p);

/* What the double has counted. */
gdnn_fake_counts double_counts(void);

#endif
