#include "folders.h"
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#if defined __x86_64__
#define TRIPLET "x86_64-linux-gnu"
#elif defined __aarch64__
#define TRIPLET "aarch64-linux-gnu"
#endif

/* What $LIB is: on Debian and its kin, on Red Hat's and SUSE's, elsewhere. */
static const char *const lib_names[] = {("lib/" TRIPLET), "lib64", "lib"};
enum { LIB_NAMES = sizeof lib_names / sizeof *lib_names };

static const char *const default_folders[] = {
    "/lib/" TRIPLET, "/usr/lib/" TRIPLET, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};

size_t gdnn_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    /* The root is its slash. */
    return !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

const char *gdnn_library_path(void)
{
    const char *list = getauxval(AT_SECURE) ? NULL : getenv("LD_LIBRARY_PATH");
    return list ? list : "";
}

/* Bytes of `$name` or `${name}` where `text` begins with it, else 0. */
static size_t token(const char *text, const char *end, const char *name)
{
    size_t length = strlen(name), curly = end - text > 1 && text[1] == '{';
    if (*text != '$' || (size_t)(end - text) < 1 + curly + length + curly ||
        memcmp(text + 1 + curly, name, length) || (curly && text[2 + length] != '}'))
        return 0;
    return 1 + length + 2 * curly;
}

/* A text that is being put together; `full` once something did not fit. */
typedef struct builder {
    char text[PATH_MAX];
    size_t used;
    bool full;
} builder;

static void append(builder *b, const char *text, size_t length)
{
    if (length >= sizeof b->text - b->used) {
        b->full = true;
        return;
    }
    memcpy(b->text + b->used, text, length);
    b->used += length;
    b->text[b->used] = '\0';
}

/* Puts one entry into `b`, with `lib` for $LIB. False if there is no such folder. `has_lib` says
 * whether $LIB is in it. */
static bool expand(builder *b, const char *entry, const char *end, const char *object,
                   const char *lib, bool *has_lib)
{
    *has_lib = false;
    b->used = 0;
    b->full = false;
    size_t length;
    for (const char *at = entry; at < end; at += length) {
        if ((length = token(at, end, "ORIGIN"))) {
            if (!object)
                return false;
            append(b, object, gdnn_folder_length(object));
        } else if ((length = token(at, end, "PLATFORM"))) {
            const char *platform = (const char *)(uintptr_t)getauxval(AT_PLATFORM);
            if (!platform)
                return false;
            append(b, platform, strlen(platform));
        } else if ((length = token(at, end, "LIB"))) {
            *has_lib = true;
            append(b, lib, strlen(lib));
        } else {
            append(b, at, length = 1);
        }
    }
    return b->used && !b->full && b->text[0] == '/';
}

bool gdnn_each_folder(const char *list, const char *separators, const char *object,
                      gdnn_folder_visit *visit, void *context)
{
    builder b;
    for (const char *at = list; *at; at += strspn(at, separators)) {
        const char *end = at + strcspn(at, separators);
        bool has_lib = true;
        for (size_t i = 0; i < LIB_NAMES && has_lib; i++)
            if (expand(&b, at, end, object, lib_names[i], &has_lib) && visit(b.text, context))
                return true;
        at = end;
    }
    return false;
}

bool gdnn_each_default_folder(gdnn_folder_visit *visit, void *context)
{
    for (size_t i = 0; i < sizeof default_folders / sizeof *default_folders; i++)
        if (visit(default_folders[i], context))
            return true;
    return false;
}
