#include "dropin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the loader takes for the end of a name in LD_PRELOAD. */
static const char separators[] = " :";

static bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

/* The path of `place`, relative to a folder whose path has no links: each leading .. takes one of its names. */
static void from_folder(const char *folder, const char *place, char *path, size_t size)
{
    size_t length = strlen(folder);
    for (; !strncmp(place, "../", 3); place += 3)
        while (length && folder[--length] != '/')
            ;
    snprintf(path, size, "%.*s/%s", (int)length, folder, place);
}

bool dropin_find(char path[PATH_MAX])
{
    /* In the order of preference; the last is named where there is none. */
    static const char *const places[] = {GDNN_INSTALLED_SHIM, "../shim/libcudnn.so.9"};
    const char *named = getenv("GDNN_SHIM");
    char folder[PATH_MAX], wanted[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    for (int i = named && *named ? -1 : 0; i < 2; i++) {
        if (i < 0)
            snprintf(wanted, sizeof wanted, "%s", named);
        else
            from_folder(folder, places[i], wanted, sizeof wanted);
        if (is_file(wanted) && realpath(wanted, path))
            return true;
        if (i < 0)
            break;
    }
    snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, wanted);
    return false;
}

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The next name in an LD_PRELOAD, copied to `name`; false after the last. */
static bool next_name(const char **at, char name[PATH_MAX])
{
    *at += strspn(*at, separators);
    size_t length = strcspn(*at, separators);
    if (!length)
        return false;
    snprintf(name, PATH_MAX, "%.*s", (int)(length < PATH_MAX ? length : PATH_MAX - 1), *at);
    *at += length;
    return true;
}

bool dropin_preload(const char *path, const char *before, char *text, size_t size)
{
    char name[PATH_MAX];
    size_t used = (size_t)snprintf(text, size, "%s", path);
    if (strpbrk(path, separators))
        return false;
    for (const char *at = before ? before : ""; next_name(&at, name);)
        if (!same_file(name, path) && used < size)
            used += (size_t)snprintf(text + used, size - used, ":%s", name);
    return used < size;
}

bool dropin_is_preloaded(const char *path, const char *text)
{
    char name[PATH_MAX];
    for (const char *at = text ? text : ""; next_name(&at, name);)
        if (same_file(name, path))
            return true;
    return false;
}
