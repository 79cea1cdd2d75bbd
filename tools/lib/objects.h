/* What the loader would map for a program that does not run yet, read from the files. */
#ifndef OBJECTS_H
#define OBJECTS_H

#include "loaded.h"

typedef struct objects objects;

/* Reads the program at `path`, the libraries that it needs, those that they need, and so on, each from where
 * the loader would take it: for what is loaded later by name alone, nothing can be told. Libraries that are
 * not there are left out. NULL: it is no program for the loader and this machine, or memory is short. */
objects *objects_read(const char *path);

/* The program first, as gdnn_loaded_take has them; those that need `libcudnn.so.9` are marked, and it is
 * not among them. Lives as long as `o`. */
const gdnn_loaded_list *objects_list(const objects *o);

/* True if one of them needs the library `name`. */
bool objects_need(const objects *o, const char *name);

void objects_free(objects *o);

#endif
