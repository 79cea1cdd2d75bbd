#include "ld_cache.h"
#include "mapped_file.h"
#include <string.h>

/* Tests have one of their own. */
#ifndef GDNN_LD_CACHE
#define GDNN_LD_CACHE "/etc/ld.so.cache"
#endif

static const char old_magic[] = "ld.so-1.7.0";
static const char magic[] = "glibc-ld.so.cache1.1";

typedef struct old_header {
    char magic[sizeof old_magic - 1];
    uint32_t entries; /* of 12 bytes each */
} old_header;
enum { OLD_ENTRY_SIZE = 12 };

typedef struct header {
    char magic[sizeof magic - 1];
    uint32_t entries, strings_size;
    uint8_t byte_order; /* in the last two bits: not said, -, little, big */
    uint8_t unused[3];
    uint32_t extensions, unused_words[3];
} header;
enum { BYTE_ORDER_MASK = 3, BYTE_ORDER_UNKNOWN = 0, BYTE_ORDER_LITTLE = 2 };

/* Texts are given by their distance from the header. */
typedef struct entry {
    uint32_t flags, name, path, system;
    uint64_t processors; /* 0: for all */
} entry;

_Static_assert(sizeof(old_header) == 16 && sizeof(header) == 48 && sizeof(entry) == 24,
               "as ldconfig writes them");

/* Where the header of today's format is; `size` if it is missing. */
static size_t find_header(const unsigned char *cache, size_t size)
{
    old_header old;
    size_t at = 0;
    if (size >= sizeof old && !memcmp(cache, old_magic, sizeof old.magic)) {
        memcpy(&old, cache, sizeof old);
        at = sizeof old + (size_t)old.entries * OLD_ENTRY_SIZE;
        at = (at + 7) & ~(size_t)7;
    }
    if (at > size || size - at < sizeof(header) || memcmp(cache + at, magic, sizeof magic - 1))
        return size;
    return at;
}

/* The text at `offset`; NULL if it does not end within the cache. */
static const char *text_at(const unsigned char *cache, size_t size, uint32_t offset)
{
    if (offset >= size || !memchr(cache + offset, 0, size - offset))
        return NULL;
    return (const char *)cache + offset;
}

bool gdnn_ld_cache_find(const void *bytes, size_t size, const char *name, uint32_t flags,
                        gdnn_ld_cache_visit *visit, void *context)
{
    const unsigned char *cache = bytes;
    size_t at = find_header(cache, size);
    if (at == size)
        return false;
    cache += at;
    size -= at;

    header h;
    memcpy(&h, cache, sizeof h);
    unsigned order = h.byte_order & BYTE_ORDER_MASK;
    if (order != BYTE_ORDER_UNKNOWN && order != BYTE_ORDER_LITTLE)
        return false;
    for (size_t i = 0; i < h.entries && i < (size - sizeof h) / sizeof(entry); i++) {
        entry e;
        memcpy(&e, cache + sizeof h + i * sizeof e, sizeof e);
        if (e.flags != flags || e.processors)
            continue;
        const char *key = text_at(cache, size, e.name);
        const char *path = text_at(cache, size, e.path);
        if (key && path && *path == '/' && !strcmp(key, name) && visit(path, context))
            return true;
    }
    return false;
}

bool gdnn_ld_cache_find_here(const char *name, gdnn_ld_cache_visit *visit, void *context)
{
    gdnn_mapped_file file;
    char why[128];
    if (!gdnn_map_file(&file, GDNN_LD_CACHE, why, sizeof why))
        return false;
    bool stopped =
        gdnn_ld_cache_find(file.bytes, file.size, name, GDNN_LD_CACHE_FLAGS, visit, context);
    gdnn_unmap_file(&file);
    return stopped;
}
