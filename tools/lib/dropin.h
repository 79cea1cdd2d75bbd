/* The drop-in libcudnn.so.9 of this build or installation. */
#ifndef DROPIN_H
#define DROPIN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Its absolute path: the file that GDNN_SHIM names; else where `meson install` puts it, relative to the
 * tool; else ../shim/libcudnn.so.9 from the tool's folder, as in a build folder. False: there is none,
 * and `path` is where it should be. */
bool dropin_find(char path[PATH_MAX]);

/* Makes the LD_PRELOAD for programs that get the drop-in at `path`: it in front of what `before`
 * (NULL: nothing) has already, and once. False: the path has a blank or a colon, which LD_PRELOAD
 * cannot hold, or `text` is too short. */
bool dropin_preload(const char *path, const char *before, char *text, size_t size);

/* True if the LD_PRELOAD `text` (NULL: none) has the file at `path`, under whatever name. */
bool dropin_is_preloaded(const char *path, const char *text);

#endif
