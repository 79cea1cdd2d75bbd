/* A temporary folder of a test, and files in it. */
#ifndef GDNN_TESTS_SHIM_LAYOUT_H
#define GDNN_TESTS_SHIM_LAYOUT_H

#include <stddef.h>

/* Where the fakes are that layout_copy copies. */
extern const char *layout_fakes;

/* Makes an empty folder; removes the one before. */
void layout_begin(void);
void layout_end(void);

/* The absolute path of `name` in the folder. One of several buffers in turn. */
const char *layout_path(const char *name);

/* All return the absolute path of what they made, with the folders above it: a copy of a file (of a fake
 * where the name has no slash), of bytes, a symbolic link. */
const char *layout_copy(const char *from, const char *name);
const char *layout_write(const char *name, const void *bytes, size_t size);
const char *layout_link(const char *to, const char *name);

/* Writes an ld.so.cache that holds one library of this machine under `soname`. */
const char *layout_ld_cache(const char *name, const char *soname, const char *path);

/* Reads a file (a fake where the name has no slash) into memory that ends where the process may not read, so
 * that no byte behind it is read unnoticed. Kept for the life of the process. */
unsigned char *layout_read(const char *from, size_t *size);

#endif
