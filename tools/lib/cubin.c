#include "cubin.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef GDNN_ZSTD
#include <zstd.h>
#endif

/* Bytes; every access is checked, since images are large and formats change. */
typedef struct span {
    const unsigned char *at;
    size_t size;
} span;

static bool part(span s, uint64_t offset, uint64_t size, span *out)
{
    if (offset > s.size || size > s.size - offset)
        return false;
    *out = (span){s.at + offset, (size_t)size};
    return true;
}

static bool copy(span s, uint64_t offset, void *to, size_t size)
{
    span from;
    if (!part(s, offset, size, &from))
        return false;
    memcpy(to, from.at, size);
    return true;
}

/* The zero-ended text at `offset`; "" if there is none. */
static const char *text_at(span s, uint64_t offset)
{
    span rest;
    if (offset >= s.size || !part(s, offset, s.size - offset, &rest) ||
        !memchr(rest.at, 0, rest.size))
        return "";
    return (const char *)rest.at;
}

static uint32_t u32(const unsigned char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

/* A fatbin: a header, then entries, each a header and its contents, which may be a Zstandard frame. */
enum { FATBIN_MAGIC = 0xba55ed50u, ENTRY_PTX = 1, ENTRY_CUBIN = 2, ENTRY_ZSTD = 0x8000 };

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
} fatbin_header;

typedef struct entry_header {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t unknown[3];
    uint32_t arch;
    uint32_t name[2];
    uint64_t flags;
} entry_header;

typedef struct entry {
    entry_header header;
    span contents;
} entry;

/* Steps to the next entry; *offset is 0 at first. */
static bool next_entry(span image, uint64_t *offset, entry *e)
{
    fatbin_header header;
    if (!copy(image, 0, &header, sizeof header) || header.magic != FATBIN_MAGIC)
        return false;
    if (*offset == 0)
        *offset = header.header_size;
    if (!copy(image, *offset, &e->header, sizeof e->header) || e->header.header_size == 0 ||
        !part(image, *offset + e->header.header_size, e->header.size, &e->contents))
        return false;
    *offset += e->header.header_size + e->header.size;
    return true;
}

/* The contents of an entry as they were before compression; `*memory`, to be freed, holds them if they had to be unpacked.
 * False: they are damaged, or compressed in a way that this build cannot read. */
static bool unpack(const entry *e, span *contents, void **memory)
{
    *contents = e->contents;
    *memory = NULL;
    if (!(e->header.flags & ENTRY_ZSTD))
        return true;
#ifdef GDNN_ZSTD
    const unsigned long long most = 64 << 20; /* a damaged image may claim any size */
    unsigned long long size = ZSTD_getFrameContentSize(e->contents.at, e->contents.size);
    size_t frame = ZSTD_findFrameCompressedSize(e->contents.at, e->contents.size);
    if (size > most || ZSTD_isError(frame) || !(*memory = malloc(size)))
        return false;
    *contents = (span){*memory, size};
    return ZSTD_decompress(*memory, size, e->contents.at, frame) == size;
#else
    return false;
#endif
}

/* A cubin: an ELF file with a section .nv.info, whose attributes name kernels by symbol. */
typedef struct cubin {
    span file;
    Elf64_Ehdr header;
    span names;            /* of sections */
    span symbols, strings; /* the symbol table and its names */
    span info;
} cubin;

static bool section(const cubin *c, int index, Elf64_Shdr *header, span *contents)
{
    if (!copy(c->file, c->header.e_shoff + (uint64_t)index * sizeof *header, header,
              sizeof *header))
        return false;
    *contents = (span){c->file.at, 0};
    return header->sh_type == SHT_NOBITS ||
           part(c->file, header->sh_offset, header->sh_size, contents);
}

static bool open_cubin(span file, cubin *c)
{
    Elf64_Shdr header, names;
    span contents;
    *c = (cubin){.file = file};
    if (!copy(file, 0, &c->header, sizeof c->header) ||
        memcmp(c->header.e_ident, ELFMAG, SELFMAG) != 0 ||
        !section(c, c->header.e_shstrndx, &names, &c->names))
        return false;
    for (int i = 0; i < c->header.e_shnum; i++) {
        if (!section(c, i, &header, &contents))
            return false;
        if (header.sh_type == SHT_SYMTAB) {
            c->symbols = contents;
            if (!section(c, (int)header.sh_link, &names, &c->strings))
                return false;
        } else if (!strcmp(text_at(c->names, header.sh_name), ".nv.info")) {
            c->info = contents;
        }
    }
    return c->symbols.size && c->strings.size;
}

static bool wanted(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix));
}

static void keep_largest(int *figure, uint64_t value)
{
    if (value < INT32_MAX && (int)value > *figure)
        *figure = (int)value;
}

/* Attributes of .nv.info: a form, a number, and for the sized form a length and a symbol with its
 * value. */
static bool read_info(const cubin *c, const char *prefix, cubin_use *use)
{
    enum { SIZED = 4, REGISTERS = 0x2f, FRAME = 0x11 };
    bool found = false;
    for (uint64_t at = 0; at + 4 <= c->info.size;) {
        const unsigned char *a = c->info.at + at;
        unsigned length = a[0] == SIZED ? a[2] | (unsigned)a[3] << 8 : 0;
        Elf64_Sym symbol;
        at += 4;
        if (length == 8 && at + length <= c->info.size && (a[1] == REGISTERS || a[1] == FRAME) &&
            copy(c->symbols, (uint64_t)u32(a + 4) * sizeof symbol, &symbol, sizeof symbol) &&
            wanted(text_at(c->strings, symbol.st_name), prefix)) {
            keep_largest(a[1] == REGISTERS ? &use->regs : &use->local, u32(a + 8));
            found = true;
        }
        at += length;
    }
    return found;
}

static void read_shared(const cubin *c, const char *prefix, cubin_use *use)
{
    static const char start[] = ".nv.shared.";
    for (int i = 0; i < c->header.e_shnum; i++) {
        Elf64_Shdr header;
        span contents;
        if (!section(c, i, &header, &contents))
            return;
        const char *name = text_at(c->names, header.sh_name);
        if (!strncmp(name, start, sizeof start - 1) && wanted(name + sizeof start - 1, prefix))
            keep_largest(&use->shared, header.sh_size);
    }
}

bool cubin_read(const void *image, size_t size, const char *prefix, cubin_use *use)
{
    uint64_t offset = 0;
    bool found = false;
    entry e;
    *use = (cubin_use){.regs = 0};
    while (next_entry((span){image, size}, &offset, &e)) {
        cubin c;
        span contents;
        void *memory = NULL;
        if (e.header.kind == ENTRY_CUBIN && unpack(&e, &contents, &memory) &&
            open_cubin(contents, &c)) {
            found |= read_info(&c, prefix, use);
            read_shared(&c, prefix, use);
        }
        free(memory);
    }
    return found;
}

void cubin_archs(const void *image, size_t size, char *text, size_t room)
{
    uint64_t offset = 0;
    size_t used = 0;
    entry e;
    text[0] = 0;
    while (next_entry((span){image, size}, &offset, &e) && used + 32 < room) {
        const char *form = e.header.kind == ENTRY_CUBIN ? "sm"
                           : e.header.kind == ENTRY_PTX ? "compute"
                                                        : NULL;
        if (form)
            used += (size_t)snprintf(text + used, room - used, "%s%s_%u", used ? "," : "", form,
                                     (unsigned)e.header.arch);
    }
}
