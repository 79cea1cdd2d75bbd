#include "world.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *world_system;
int world_secure, world_calls, world_fails_at, world_mapped;

__attribute__((constructor)) static void begin(void)
{
    world_system = getenv("GDNN_TEST_SYSTEM");
    world_secure = getenv("GDNN_TEST_SECURE") != NULL;
}

/* True if this is the call that fails. */
static bool fails(void)
{
    errno = EIO;
    return __atomic_add_fetch(&world_calls, 1, __ATOMIC_RELAXED) == world_fails_at;
}

/* Where the file `path` is in the world of the test. */
static const char *moved(const char *path, char *to, size_t size)
{
    static const char *const of_system[] = {
        "/etc/ld.so.cache", "/known-when-built/", "/lib/", "/usr/lib/", "/lib64/", "/usr/lib64/"};
    for (size_t i = 0; world_system && i < sizeof of_system / sizeof *of_system; i++)
        if (!strncmp(path, of_system[i], strlen(of_system[i]))) {
            snprintf(to, size, "%s%s", world_system, path);
            return to;
        }
    return path;
}

/* Declares the stand-in for a function, and the function. */
#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAP(int, stat64, const char *path, struct stat *facts)
{
    char to[8192];
    return fails() ? -1 : __real_stat64(moved(path, to, sizeof to), facts);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    char to[8192];
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails() ? -1 : __real_open64(moved(path, to, sizeof to), flags, mode);
}

WRAP(DIR *, opendir, const char *path)
{
    char to[8192];
    return fails() ? NULL : __real_opendir(moved(path, to, sizeof to));
}

WRAP(int, fstat64, int fd, struct stat *facts)
{
    return fails() ? -1 : __real_fstat64(fd, facts);
}

WRAP(void *, mmap64, void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *made = fails() ? MAP_FAILED : __real_mmap64(at, size, protection, flags, fd, offset);
    __atomic_add_fetch(&world_mapped, made != MAP_FAILED, __ATOMIC_RELAXED);
    return made;
}

WRAP(int, munmap, void *at, size_t size)
{
    int failed = __real_munmap(at, size);
    __atomic_sub_fetch(&world_mapped, !failed, __ATOMIC_RELAXED);
    return failed;
}

WRAP(ssize_t, readlink, const char *path, char *to, size_t size)
{
    return fails() ? -1 : __real_readlink(path, to, size);
}

WRAP(char *, getcwd, char *to, size_t size)
{
    return fails() ? NULL : __real_getcwd(to, size);
}

WRAP(int, dl_iterate_phdr, int (*visit)(struct dl_phdr_info *, size_t, void *), void *context)
{
    return fails() ? 0 : __real_dl_iterate_phdr(visit, context);
}

WRAP(void *, dlopen, const char *path, int flags)
{
    return fails() ? NULL : __real_dlopen(path, flags);
}

WRAP(void *, dlsym, void *handle, const char *name)
{
    return fails() ? NULL : __real_dlsym(handle, name);
}

WRAP(char *, dlerror, void)
{
    return fails() ? NULL : __real_dlerror();
}

WRAP(int, dladdr, const void *address, Dl_info *facts)
{
    return fails() ? 0 : __real_dladdr(address, facts);
}

WRAP(int, pthread_key_create, pthread_key_t *key, void (*destroy)(void *))
{
    return fails() ? EAGAIN : __real_pthread_key_create(key, destroy);
}

WRAP(int, pthread_setspecific, pthread_key_t key, const void *value)
{
    return fails() ? ENOMEM : __real_pthread_setspecific(key, value);
}

WRAP(unsigned long, getauxval, unsigned long type)
{
    return type == AT_SECURE ? (unsigned long)world_secure : __real_getauxval(type);
}
