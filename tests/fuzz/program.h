/* The calls of a program, each with what must hold after it whatever was said before: what the library answers and gets
 * is the program's, nothing of the drop-in's own is left, and what is launched is what the plan computes. */
#ifndef GDNN_FUZZ_PROGRAM_H
#define GDNN_FUZZ_PROGRAM_H

#include "library.h"

/* What has happened in this process. */
typedef struct program_counts {
    unsigned long long inputs, executes, launches, checked, marked;
    /* launches of kernels that are not the direct ones; of them, those of backward-data as a forward
     * convolution, and those that a second one finished */
    unsigned long long special, turned, finished;
} program_counts;

extern program_counts program;

/* NULL: the library refuses. */
cudnnBackendDescriptor_t program_create(int type);
void program_destroy(cudnnBackendDescriptor_t descriptor);
void program_initialize(cudnnBackendDescriptor_t descriptor);
void program_finalize(cudnnBackendDescriptor_t descriptor);
void program_set(cudnnBackendDescriptor_t descriptor, int name, int type, int64_t count,
                 const void *elements);
void program_get(cudnnBackendDescriptor_t descriptor, int name, int type, int64_t requested,
                 int64_t *count, void *elements);
void program_execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                     cudnnBackendDescriptor_t variant_pack);

/* Ends the process unless all is forgotten that was destroyed. */
void program_check_end(void);

/* Of routes.c. */
void routes_forget(void);

#endif
