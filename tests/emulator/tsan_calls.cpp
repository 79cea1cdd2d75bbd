// The functions that compilers call from code built with -fsanitize=thread, in place of libtsan.
// Copies of larger structs go through memcpy and its like, which libtsan intercepts: here these are
// ours for whoever is linked with this file.
#include "race.hpp"
#include "thread.hpp"
#include "watch.hpp"

#include <cstdint>
#include <dlfcn.h>

using emu::Access;

static inline void check(const void *pointer, size_t bytes, Access access, const void *caller)
{
    if (emu::current && !emu::watch::Unchecked::active)
        emu::check_access(emu::current->linear, pointer, bytes, access, emu::site_of_code(caller));
}

// The compiler relies on the alignment.
static inline void check_aligned(const void *pointer, size_t bytes, Access access,
                                 const void *caller)
{
    check(pointer, bytes, access, caller);
    if (bytes > 1 && (uintptr_t)pointer % bytes && emu::current)
        emu::check_alignment(emu::current->linear, pointer, bytes, emu::site_of_code(caller));
}

#define CALLER __builtin_return_address(0)
#define HIDDEN __attribute__((visibility("hidden")))

extern "C" {
HIDDEN void __tsan_init();
HIDDEN void __tsan_func_entry(void *);
HIDDEN void __tsan_func_exit();

void __tsan_init()
{
}

void __tsan_func_entry(void *)
{
}

void __tsan_func_exit()
{
}

#define ACCESS(name, bytes, how, access)                                                           \
    HIDDEN void __tsan_##name##bytes(void *pointer);                                               \
    void __tsan_##name##bytes(void *pointer)                                                       \
    {                                                                                              \
        how(pointer, bytes, access, CALLER);                                                       \
    }
#define ACCESSES(bytes)                                                                            \
    ACCESS(read, bytes, check_aligned, Access::read)                                               \
    ACCESS(write, bytes, check_aligned, Access::write)                                             \
    ACCESS(unaligned_read, bytes, check, Access::read)                                             \
    ACCESS(unaligned_write, bytes, check, Access::write)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

HIDDEN void __tsan_read_range(void *pointer, size_t bytes);
HIDDEN void __tsan_write_range(void *pointer, size_t bytes);

void __tsan_read_range(void *pointer, size_t bytes)
{
    check(pointer, bytes, Access::read, CALLER);
}

void __tsan_write_range(void *pointer, size_t bytes)
{
    check(pointer, bytes, Access::write, CALLER);
}

typedef void *Copy(void *, const void *, size_t);
typedef void *Fill(void *, int, size_t);
HIDDEN Copy emu_memcpy, __tsan_memcpy, __tsan_memmove;
HIDDEN Fill emu_memset, __tsan_memset;

// By the assembler, since compilers insist that these are visible everywhere: then the whole
// process would use ours.
__asm__(".globl memcpy, memmove, memset\n"
        ".hidden memcpy, memmove, memset\n"
        ".set memcpy, emu_memcpy\n"
        ".set memmove, emu_memcpy\n"
        ".set memset, emu_memset\n");

static void *checked_copy(void *dst, const void *src, size_t bytes, const void *caller)
{
    static Copy *const real = reinterpret_cast<Copy *>(dlsym(RTLD_NEXT, "memmove"));
    check(src, bytes, Access::read, caller);
    check(dst, bytes, Access::write, caller);
    return real(dst, src, bytes);
}

static void *checked_fill(void *dst, int value, size_t bytes, const void *caller)
{
    static Fill *const real = reinterpret_cast<Fill *>(dlsym(RTLD_NEXT, "memset"));
    check(dst, bytes, Access::write, caller);
    return real(dst, value, bytes);
}

void *emu_memcpy(void *dst, const void *src, size_t bytes)
{
    return checked_copy(dst, src, bytes, CALLER);
}

void *emu_memset(void *dst, int value, size_t bytes)
{
    return checked_fill(dst, value, bytes, CALLER);
}

void *__tsan_memcpy(void *dst, const void *src, size_t bytes)
{
    return checked_copy(dst, src, bytes, CALLER);
}

void *__tsan_memmove(void *dst, const void *src, size_t bytes)
{
    return checked_copy(dst, src, bytes, CALLER);
}

void *__tsan_memset(void *dst, int value, size_t bytes)
{
    return checked_fill(dst, value, bytes, CALLER);
}
}
