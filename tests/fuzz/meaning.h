/* What a plan computes and what a launch computes, each read for itself and compared element by element. */
#ifndef GDNN_FUZZ_MEANING_H
#define GDNN_FUZZ_MEANING_H

#include "conv_args.h"
#include "library.h"

/* A launch as the driver got it. */
typedef struct launch {
    const char *kernel; /* gdnn_<code>_<layout>_<type>, perhaps with _plain */
    void *x, *w, *y;
    const void *z, *bias;
    void *workspace;
    gdnn_args args;
    CUstream stream;
} launch;

/* Ends the process unless the launch writes where the plan writes with this variant pack, and what
 * it writes: memory is taken to hold small whole numbers that depend on the address. Looks at some
 * elements, which `random` chooses. False: it is too large to be checked. *turned: it is of the
 * forward convolution that the plan's backward-data is. */
bool meaning_check(const library_object *plan, const library_object *pack, const launch *l,
                   uint64_t random, bool *turned);

#endif
