/* The real cuDNN of this machine, looked at from outside the program that will use it. */
#ifndef CUDNN_H
#define CUDNN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cudnn_file {
    char path[PATH_MAX];
    const char *origin; /* where it was found; static */
    size_t version;     /* of cudnnGetVersion, 91900; 0: not known */
    char trouble[2048]; /* why it is not known, or why there is no library; else "" */
} cudnn_file;

/* A place where a file is: `wrong` says why it cannot be the real cuDNN; NULL: it can, and it is used. */
typedef void cudnn_place(const cudnn_file *file, const char *wrong, void *context);

/* Finds the library that `program`, a file, would most likely get from the drop-in (NULL: no program in
 * particular): GROUPDNN_CUDNN and nothing else if it is set. If the program or a library that it needs is
 * linked with cuDNN, where the drop-in would look (shim/search.h) as far as files tell; else the packages of
 * Python that the program stands beside, those of VIRTUAL_ENV, where the drop-in would look, and the packages
 * of the python3 in PATH. Each is opened in a child, so that nothing can happen to this process: one that
 * the drop-in would pass over is; one that crashes is found, with that as its trouble. `visit`, if not NULL,
 * hears of every place that was tried. False: there is none, and `found->trouble` is what the drop-in would
 * say. */
bool cudnn_find(const char *program, cudnn_file *found, cudnn_place *visit, void *context);

/* The functions of the library at `path` that the drop-in does not export, each to `visit`: a program
 * that needs one could not be loaded with it. Returns their number; -1 if the file cannot be read. */
int cudnn_missing(const char *path, void (*visit)(const char *name, void *context), void *context);

/* "9.19.0" of 91900. */
void cudnn_version_text(size_t version, char text[32]);

#endif
