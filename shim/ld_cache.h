/* Reads /etc/ld.so.cache, in which ldconfig keeps where the libraries of the system are. */
#ifndef GDNN_LD_CACHE_H
#define GDNN_LD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an entry's flags must be to serve this machine: a library of glibc and of this ABI. */
#if defined __x86_64__
#define GDNN_LD_CACHE_FLAGS 0x0303
#elif defined __aarch64__
#define GDNN_LD_CACHE_FLAGS 0x0a03
#else
#error "which flags has ld.so.cache for this machine?"
#endif

/* One absolute path of the library that was asked for. True stops. */
typedef bool gdnn_ld_cache_visit(const char *path, void *context);

/* Visits the paths of the library `name` with `flags`, in the cache's order, without those for
 * certain processors only. Knows the format "glibc-ld.so.cache1.1", alone or behind the older
 * "ld.so-1.7.0"; any other bytes hold no library. Never reads beyond `size`. Returns true if a visit
 * stopped it. */
bool gdnn_ld_cache_find(const void *cache, size_t size, const char *name, uint32_t flags,
                        gdnn_ld_cache_visit *visit, void *context);

/* The same in /etc/ld.so.cache, for libraries of this machine. A file that cannot be read holds
 * none. */
bool gdnn_ld_cache_find_here(const char *name, gdnn_ld_cache_visit *visit, void *context);

#endif
