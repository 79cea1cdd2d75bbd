/* The text in front of a .npy file's elements: a Python dictionary with just these keys,
 * {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
#ifndef GDNN_NPY_HEADER_H
#define GDNN_NPY_HEADER_H

#include "npy.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct gdnn_npy_header {
    gdnn_dtype type;
    bool fortran; /* first axis contiguous */
    int dims;
    int64_t size[GDNN_NPY_DIMS];
} gdnn_npy_header;

/* Room for any header's text. */
#define GDNN_NPY_HEADER_TEXT 512

/* Reads `length` bytes of text of the file `path`, which only messages need.
 *
 * GDNN_INVALID: it is no such dictionary, or its type or number of axes is not supported. */
gdnn_status gdnn_npy_header_parse(const char *path, const char *text, size_t length,
                                  gdnn_npy_header *header);

/* Writes the text for an array in C order, as long as a file of format 1.0 needs it for its
 * elements to begin at a multiple of 64 bytes. Returns its length; 0 if `type` is none of the
 * types. */
size_t gdnn_npy_header_format(gdnn_dtype type, int dims, const int64_t *size,
                              char text[GDNN_NPY_HEADER_TEXT]);

#endif
