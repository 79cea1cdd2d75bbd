/* Where the real libcudnn.so.9 may be, in the order of preference, and whether a file can be it.
 * Opens nothing with the loader: the tool uses this too. */
#ifndef GDNN_SEARCH_H
#define GDNN_SEARCH_H

#include "loaded.h"

/* One place: an absolute path, symbolic links not followed, and where it came from. True stops. */
typedef bool gdnn_search_visit(const char *path, const char *origin, void *context);

/* Visits, in this order, with the origins in quotes:
 *
 * "GROUPDNN_CUDNN", and then nothing else, whether there is such a file or not;
 * "already loaded": what the loader has already, other than this drop-in;
 * "RPATH", "LD_LIBRARY_PATH", "RUNPATH": where the loader would have looked for each loaded object that
 *     needs libcudnn.so.9, and then for any other, the program before its libraries;
 * "beside a loaded library": nvidia/cudnn/lib in a folder above one, as pip installs it;
 * "ld.so.cache"; "known when groupdnn was built"; "default folder".
 *
 * A file is visited once, under the first name it is found by. Relative folders are never searched. With
 * elevated rights (AT_SECURE) nothing that the user chooses is: no environment, no $ORIGIN, no folders
 * above. Returns true if a visit stopped it. */
bool gdnn_search(gdnn_search_visit *visit, void *context);

/* The same for a process with these objects, whether it runs or not. */
bool gdnn_search_objects(const gdnn_loaded_list *objects, gdnn_search_visit *visit, void *context);

/* Visits the files that the loader would try, in its order, for the library `name` that `object`, one of
 * `objects`, needs: in "RPATH", "LD_LIBRARY_PATH", "RUNPATH", "ld.so.cache", "default folder". */
bool gdnn_search_needed(const gdnn_loaded_list *objects, const gdnn_loaded *object,
                        const char *name, gdnn_search_visit *visit, void *context);

/* True if the file can be the real library: an ELF shared object for this machine with SONAME
 * libcudnn.so.9 (or libcudnn-HASH.so.9..., as packages rename it) that is not this drop-in, in any copy, and,
 * if it is NVIDIA's dispatcher, with libcudnn_graph.so.9 within reach. Else `why` gets what is wrong: a text
 * that continues "this file ...", with the value. */
bool gdnn_search_check(const char *path, char *why, size_t size);

#endif
