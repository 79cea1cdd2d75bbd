/* Lists of folders as the loader reads them: LD_LIBRARY_PATH, DT_RPATH, DT_RUNPATH. */
#ifndef GDNN_FOLDERS_H
#define GDNN_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

/* One folder; true stops. */
typedef bool gdnn_folder_visit(const char *folder, void *context);

/* Visits the folders of `list`, which any of `separators` part, in order. $ORIGIN stands for the
 * folder of the file `object`, or an entry with it is left out if that is NULL; $PLATFORM is the
 * processor's name, and $LIB, which only the loader knows, each of the names that it has on known
 * systems. Relative entries, which depend on where the program is now, are left out. Returns true
 * if a visit stopped it. */
bool gdnn_each_folder(const char *list, const char *separators, const char *object,
                      gdnn_folder_visit *visit, void *context);

/* Visits the folders where the loader looks at last, on known systems. */
bool gdnn_each_default_folder(gdnn_folder_visit *visit, void *context);

/* LD_LIBRARY_PATH; "" if it is not set or this process has elevated rights. Its separators are
 * GDNN_LIBRARY_PATH_SEPARATORS. */
const char *gdnn_library_path(void);
#define GDNN_LIBRARY_PATH_SEPARATORS ":;"

/* Bytes of the folder's name in the path of a file: up to its last slash. */
size_t gdnn_folder_length(const char *path);

#endif
