/* Tensors that the user gives as .npy files, and the problem that their shapes complete. */
#ifndef GIVEN_H
#define GIVEN_H

#include "jobs.h"
#include "npy.h"
#include "tensor.h"

typedef struct given {
    const char *path[TENSORS]; /* NULL: not given */
    gdnn_npy file[TENSORS];
} given;

/* Reads the files that `path` names.
 * GDNN_INVALID: one is no .npy file of a type that a problem can have; gdnn_last_error names it. */
gdnn_status given_read(given *g);

/* Completes `text` with the sizes of the tensors; what the line says already must agree.
 * GDNN_INVALID: a contradiction, named with both sides. */
gdnn_status given_sizes(const given *g, gdnn_text *text);

/* The type of the files, into `dtype`. GDNN_INVALID: they differ. */
gdnn_status given_dtype(const given *g, gdnn_dtype *dtype);

/* True if every input of `dir` is there. */
bool given_suffices(const given *g, gdnn_dir dir);

/* Checks the shapes of all files against the problem that came out.
 * GDNN_INVALID: gdnn_last_error names file, shape and what it should be. */
gdnn_status given_check(const given *g, const gdnn_conv *conv);

void given_free(given *g);

#endif
