/* NVIDIA's libcudnn.so.9 is a dispatcher: it holds no code but opens libcudnn_graph.so.9 and others by
 * name at the first call of each function. If it cannot, even cudnnGetVersion ends the process. */
#ifndef GDNN_SUBLIBRARY_H
#define GDNN_SUBLIBRARY_H

#include "elf_file.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Every dispatcher holds this text. */
#define GDNN_SUBLIBRARY_STEM "libcudnn_graph.so"

/* True if a dispatcher that is opened as `path` would find libcudnn_graph.so.9: it is loaded already, or
 * in LD_LIBRARY_PATH, where the dispatcher's RPATH or RUNPATH points, in ld.so.cache or in the default
 * folders. If there is only one file that it could be, `only` gets its path; else "". False: `why` gets what
 * is wrong, a text that continues "this file ...". */
bool gdnn_sublibrary_find(const char *path, const gdnn_elf *dispatcher, char only[PATH_MAX],
                          char *why, size_t size);

#endif
