/* The real cuDNN of this machine, looked at from outside the program that will use it. */
#ifndef CUDNN_H
#define CUDNN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cudnn_file {
    char path[PATH_MAX];
    const char *origin; /* where it was found; static */
} cudnn_file;

/* A place where a file is: `wrong` says why it cannot be the real cuDNN; NULL: it can, and it is used. */
typedef void cudnn_place(const cudnn_file *file, const char *wrong, void *context);

/* Finds the library that `program`, a file, would most likely get (NULL: no program in particular):
 * GROUPDNN_CUDNN and nothing else if it is set; the packages of Python that the program stands beside,
 * those of VIRTUAL_ENV, where the drop-in would look (shim/search.h), and the packages of the python3
 * in PATH. `visit`, if not NULL, hears of every place that was tried. False: there is none. */
bool cudnn_find(const char *program, cudnn_file *found, cudnn_place *visit, void *context);

/* The functions of the library at `path` that the drop-in does not export, each to `visit`: a program
 * that needs one could not be loaded with it. Returns their number; -1 if the file cannot be read. */
int cudnn_missing(const char *path, void (*visit)(const char *name, void *context), void *context);

/* What cudnnGetVersion of the library answers, 91900 for 9.19.0; it is loaded in a child, so that
 * nothing can happen to this process. 0: `why` says what went wrong. */
size_t cudnn_version(const char *path, char *why, size_t size);

#endif
