/* NumPy's .npy files: reading formats 1.0, 2.0 and 3.0, writing 1.0.
 *
 * The element types are those of a problem: <f2 is f16, <f4 is f32, <f8 is f64, and <u2 holds the
 * bits of bf16, for which NumPy has no type. */
#ifndef GDNN_NPY_H
#define GDNN_NPY_H

#include "groupdnn.h"

/* Most axes that a file may have. */
#define GDNN_NPY_DIMS 8

/* An array in C order (last axis contiguous), its values as float64. */
typedef struct gdnn_npy {
    int dims;                    /* number of axes; 0 for a single value */
    int64_t size[GDNN_NPY_DIMS]; /* 0 where an axis is empty; entries past `dims` are 0 */
    gdnn_dtype type;             /* type of the elements in the file */
    double *data;
} gdnn_npy;

/* Reads the whole of the file `path` into `npy`. On success `npy->data` is the caller's, to be
 * given to free(); else it is NULL. An array in Fortran order is put into C order.
 *
 * GDNN_INVALID: the file cannot be opened or is not a regular one, is not a .npy file, is damaged,
 * truncated, followed by more bytes, or of an element type other than those above.
 *
 * GDNN_FAILED: it could not be read to its end, or memory ran out. */
gdnn_status gdnn_npy_read(const char *path, gdnn_npy *npy);

/* Writes `npy` to `path`, replacing what is there. Values that `npy->type` cannot hold are rounded
 * to it.
 *
 * GDNN_INVALID: a size is negative, there are too many axes, or `type` is none of the types.
 *
 * GDNN_FAILED: the file cannot be created or written; it may be left incomplete. */
gdnn_status gdnn_npy_write(const char *path, const gdnn_npy *npy);

#endif
