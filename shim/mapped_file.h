/* A file mapped for reading. */
#ifndef GDNN_MAPPED_FILE_H
#define GDNN_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct gdnn_mapped_file {
    void *bytes;
    size_t size; /* at least 1 */
    dev_t device;
    ino_t inode;
} gdnn_mapped_file;

/* Maps a regular file; never waits, as opening a pipe would. False: `why` gets what is wrong, a text
 * that continues "this file ...". */
bool gdnn_map_file(gdnn_mapped_file *file, const char *path, char *why, size_t why_size);

void gdnn_unmap_file(gdnn_mapped_file *file);

#endif
