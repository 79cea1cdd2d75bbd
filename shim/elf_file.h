/* Reads an ELF file in memory. Any bytes will do: nothing outside them is read, however wrong they are.
 * Only what the loader uses is trusted: program headers and the dynamic section. */
#ifndef GDNN_ELF_FILE_H
#define GDNN_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run of bytes of the file. */
typedef struct gdnn_elf_bytes {
    const unsigned char *at;
    size_t size;
} gdnn_elf_bytes;

/* Texts lie in the bytes that were read; NULL: the file has none. */
typedef struct gdnn_elf {
    unsigned type, machine; /* ET_..., EM_... of elf.h */
    bool whole;             /* the file holds all that the loader would map */
    const char *soname, *rpath, *runpath;

    /* Of the reader. */
    gdnn_elf_bytes file, headers, dynamic, strings;
} gdnn_elf;

/* The machine that this is compiled for. */
#if defined __x86_64__
#define GDNN_ELF_MACHINE 62
#elif defined __aarch64__
#define GDNN_ELF_MACHINE 183
#else
#error "for which ELF machine?"
#endif

/* Reads the 64-bit little-endian ELF file of `size` bytes. Returns NULL, or what is wrong: a static
 * text that continues "this file ...". The bytes must outlive `elf`. */
const char *gdnn_elf_read(gdnn_elf *elf, const void *bytes, size_t size);

/* The library that the file needs, `index` from 0; NULL past the last. */
const char *gdnn_elf_needed(const gdnn_elf *elf, size_t index);

/* True if a loaded note has the owner `name`. */
bool gdnn_elf_has_note(const gdnn_elf *elf, const char *name);

/* One symbol that others can bind to, and its version node, "" if it has none. True stops. */
typedef bool gdnn_elf_visit(const char *name, const char *version, void *context);

/* Visits every exported symbol, in the order of the table; those that only name a version node are
 * left out. Returns true if a visit stopped it. */
bool gdnn_elf_exports(const gdnn_elf *elf, gdnn_elf_visit *visit, void *context);

#endif
