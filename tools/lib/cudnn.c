#include "cudnn.h"

#include "child.h"
#include "elf_file.h"
#include "mapped_file.h"
#include "program.h"
#include "search.h"
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct hunt {
    cudnn_file *found;
    cudnn_place *visit;
    void *context;
} hunt;

/* Tries one place; true if it is the one. */
static bool try(const char *path, const char *origin, void *context)
{
    hunt *h = context;
    char why[512];
    cudnn_file file = {.origin = origin};
    snprintf(file.path, sizeof file.path, "%s", path);
    bool usable = gdnn_search_check(path, why, sizeof why);
    if (h->visit)
        h->visit(&file, usable ? NULL : why, h->context);
    if (usable)
        *h->found = file;
    return usable;
}

/* The packages of the Python in the folder `prefix`, as venv, conda and distributions lay them out. */
static bool try_packages(hunt *h, const char *prefix, const char *origin)
{
    static const char *const patterns[] = {
        "lib/python3*/site-packages",
        "lib64/python3*/site-packages",
        "lib/python3*/dist-packages",
        "local/lib/python3*/dist-packages",
    };
    bool done = false;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !done; i++) {
        char pattern[PATH_MAX + 128];
        glob_t matches;
        snprintf(pattern, sizeof pattern, "%s/%s/nvidia/cudnn/lib/libcudnn.so.9", prefix,
                 patterns[i]);
        if (glob(pattern, 0, NULL, &matches) == 0)
            for (size_t k = 0; k < matches.gl_pathc && !done; k++)
                done = try(matches.gl_pathv[k], origin, h);
        globfree(&matches);
    }
    return done;
}

/* The packages that belong to <prefix>/bin/program: the interpreter's, or those of a script that was
 * installed with them. Links are not followed first: a venv's python is one. */
static bool try_beside(hunt *h, const char *program, const char *origin)
{
    char prefix[PATH_MAX], real[PATH_MAX];
    for (int linked = 0; linked < 2; linked++) {
        if (linked && !realpath(program, real))
            return false;
        snprintf(prefix, sizeof prefix, "%s", linked ? real : program);
        for (int up = 0; up < 2; up++) {
            char *slash = strrchr(prefix, '/');
            if (!slash)
                strcpy(prefix, up ? ".." : ".");
            else
                *slash = 0;
        }
        if (try_packages(h, prefix, origin))
            return true;
    }
    return false;
}

bool cudnn_find(const char *program, cudnn_file *found, cudnn_place *visit, void *context)
{
    hunt h = {found, visit, context};
    char python[PATH_MAX], home[PATH_MAX];
    const char *named = getenv("GROUPDNN_CUDNN"), *venv = getenv("VIRTUAL_ENV");
    if (named && *named)
        return gdnn_search(try, &h);
    if (program && try_beside(&h, program, "Python packages beside the program"))
        return true;
    if (venv && *venv && try_packages(&h, venv, "VIRTUAL_ENV"))
        return true;
    if (gdnn_search(try, &h))
        return true;
    if (!program_find("python3", python))
        return false;
    snprintf(home, sizeof home, "%s/.local", getenv("HOME") ? getenv("HOME") : "");
    return try_beside(&h, python, "packages of the python3 in PATH") ||
           try_packages(&h, home, "packages of the user's Python");
}

static const char *const known[] = {
#define GDNN_CUDNN(name, returns, way) #name,
#include "cudnn_api.def"
#undef GDNN_CUDNN
};

typedef struct gap {
    int count;
    void (*visit)(const char *name, void *context);
    void *context;
} gap;

static bool compare_export(const char *name, const char *version, void *context)
{
    gap *g = context;
    (void)version;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i]))
            return false;
    g->count++;
    if (g->visit)
        g->visit(name, g->context);
    return false;
}

int cudnn_missing(const char *path, void (*visit)(const char *name, void *context), void *context)
{
    gap g = {0, visit, context};
    gdnn_mapped_file file;
    gdnn_elf elf;
    char why[256];
    if (!gdnn_map_file(&file, path, why, sizeof why))
        return -1;
    bool read = !gdnn_elf_read(&elf, file.bytes, file.size);
    if (read)
        gdnn_elf_exports(&elf, compare_export, &g);
    gdnn_unmap_file(&file);
    return read ? g.count : -1;
}

/* Runs in a child: its answer is a text. */
static void ask_version(void *path, char *answer, size_t size)
{
    size_t (*version)(void) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&version = dlsym(library, "cudnnGetVersion");
    if (version)
        snprintf(answer, size, "%zu", version());
    else
        snprintf(answer, size, "cannot be loaded: %s", dlerror());
}

size_t cudnn_version(const char *path, char *why, size_t size)
{
    char *end;
    if (!child_ask(ask_version, (void *)path, why, size))
        return 0;
    size_t version = strtoull(why, &end, 10);
    if (!*end && version)
        return version;
    if (!*end)
        snprintf(why, size, "cudnnGetVersion answers 0");
    return 0;
}
