/* The objects that the loader has mapped into a process, as they were at one moment. */
#ifndef GDNN_LOADED_H
#define GDNN_LOADED_H

#include <stdbool.h>
#include <stddef.h>

/* Texts are "" where the object has none. */
typedef struct gdnn_loaded gdnn_loaded;
struct gdnn_loaded {
    const char *path; /* absolute, as the loader opened it; symbolic links are not followed */
    const char *soname, *rpath, *runpath;
    bool needs;                /* the library that was asked about */
    bool ours;                 /* holds this very code */
    const gdnn_loaded *loader; /* what needed it; NULL: not known, or nothing did */
};

/* The program comes first, then the libraries in the order of their loading. */
typedef struct gdnn_loaded_list {
    const gdnn_loaded *objects;
    size_t count;
    size_t size; /* of the memory */
} gdnn_loaded_list;

/* Copies what the loader knows of this process; `needs` says which objects need `soname`. False, and an
 * empty list, if memory is short. Uses no heap: the loader is locked meanwhile, and the program's heap may wait
 * for the loader. */
bool gdnn_loaded_take(gdnn_loaded_list *list, const char *soname);

void gdnn_loaded_free(gdnn_loaded_list *list);

#endif
