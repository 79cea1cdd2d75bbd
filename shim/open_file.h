/* Opens a file as the real libcudnn.so.9. */
#ifndef GDNN_OPEN_FILE_H
#define GDNN_OPEN_FILE_H

#include <stddef.h>

/* Opens the file, if it can be the real library and says that it is version 9. Returns its handle, and
 * its version as cudnnGetVersion says it, 91900. NULL: `why` gets what is wrong, a text that continues
 * "this file ...". What turns out wrong stays open: what its constructors began cannot be undone. */
void *gdnn_open_file(const char *path, size_t *version, char *why, size_t size);

#endif
