// The functions that a compiler calls from code built with -fsanitize=thread. They stand in for libtsan, which is not linked.
#include "race.hpp"
#include "thread.hpp"

#include <cstring>

using emu::Access;

static inline void check(const void *pointer, size_t bytes, Access access, const void *caller)
{
    if (emu::current)
        emu::check_access(emu::current->linear, pointer, bytes, access, emu::site_of_code(caller));
}

#define CHECK(access, pointer, bytes) check(pointer, bytes, access, __builtin_return_address(0))

extern "C" {
void __tsan_init();
void __tsan_func_entry(void *);
void __tsan_func_exit();
void __tsan_init()
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit()
{
}

#define ACCESSES(bytes)                                                                            \
    void __tsan_read##bytes(void *p);                                                              \
    void __tsan_write##bytes(void *p);                                                             \
    void __tsan_unaligned_read##bytes(void *p);                                                    \
    void __tsan_unaligned_write##bytes(void *p);                                                   \
    void __tsan_read_write##bytes(void *p);                                                        \
    void __tsan_read##bytes(void *p)                                                               \
    {                                                                                              \
        CHECK(Access::read, p, bytes);                                                             \
    }                                                                                              \
    void __tsan_write##bytes(void *p)                                                              \
    {                                                                                              \
        CHECK(Access::write, p, bytes);                                                            \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void *p)                                                     \
    {                                                                                              \
        CHECK(Access::read, p, bytes);                                                             \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *p)                                                    \
    {                                                                                              \
        CHECK(Access::write, p, bytes);                                                            \
    }                                                                                              \
    void __tsan_read_write##bytes(void *p)                                                         \
    {                                                                                              \
        CHECK(Access::read, p, bytes);                                                             \
        CHECK(Access::write, p, bytes);                                                            \
    }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes);
void *__tsan_memcpy(void *dst, const void *src, size_t bytes);
void *__tsan_memmove(void *dst, const void *src, size_t bytes);
void *__tsan_memset(void *dst, int value, size_t bytes);
void __tsan_read_range(void *p, size_t bytes)
{
    CHECK(Access::read, p, bytes);
}
void __tsan_write_range(void *p, size_t bytes)
{
    CHECK(Access::write, p, bytes);
}
void *__tsan_memcpy(void *dst, const void *src, size_t bytes)
{
    CHECK(Access::read, src, bytes);
    CHECK(Access::write, dst, bytes);
    return memcpy(dst, src, bytes);
}
void *__tsan_memmove(void *dst, const void *src, size_t bytes)
{
    CHECK(Access::read, src, bytes);
    CHECK(Access::write, dst, bytes);
    return memmove(dst, src, bytes);
}
void *__tsan_memset(void *dst, int value, size_t bytes)
{
    CHECK(Access::write, dst, bytes);
    return memset(dst, value, bytes);
}
}
