/* Whether a file can be the real libcudnn.so.9, as far as looking at files can tell. */
#ifndef GDNN_CANDIDATE_H
#define GDNN_CANDIDATE_H

#include "elf_file.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define GDNN_CUDNN_SONAME "libcudnn.so.9"

/* True for libcudnn.so.9, with or without further numbers, and for libcudnn-HASH.so.9..., as it is
 * called where auditwheel has put it into a Python package. */
bool gdnn_is_cudnn_name(const char *name);

/* As gdnn_search_check. `sublibrary` gets the path of libcudnn_graph.so.9 if the file is NVIDIA's
 * dispatcher and this is the only one that it could open; else "". */
bool gdnn_candidate_check(const char *path, char sublibrary[PATH_MAX], char *why, size_t size);

#endif
