#include "cudnn.h"

#include "candidate.h"
#include "child.h"
#include "elf_file.h"
#include "mapped_file.h"
#include "objects.h"
#include "open_file.h"
#include "options.h"
#include "program.h"
#include "search.h"
#include "tried.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct hunt {
    cudnn_file *found;
    cudnn_place *visit;
    void *context;
    gdnn_tried tried;
} hunt;

/* Runs in a child: "version N", or what is wrong. */
static void open_as_the_drop_in(void *path, char *answer, size_t size)
{
    size_t version;
    char why[512];
    if (gdnn_open_file(path, &version, why, sizeof why))
        snprintf(answer, size, "version %zu", version);
    else
        snprintf(answer, size, "%s", why);
}

/* True if the drop-in would take the file, or not survive it; else `file->trouble` says what is wrong. */
static bool examine(cudnn_file *file)
{
    if (!gdnn_search_check(file->path, file->trouble, sizeof file->trouble))
        return false;
    if (!child_ask(open_as_the_drop_in, file->path, file->trouble, sizeof file->trouble))
        return true;
    if (sscanf(file->trouble, "version %zu", &file->version) != 1)
        return false;
    *file->trouble = 0;
    return true;
}

/* Tries one place; true if it is the one. */
static bool try(const char *path, const char *origin, void *context)
{
    hunt *h = context;
    cudnn_file file = {.origin = origin};
    snprintf(file.path, sizeof file.path, "%s", path);
    bool usable = examine(&file);
    if (h->visit)
        h->visit(&file, usable ? NULL : file.trouble, h->context);
    if (usable)
        *h->found = file;
    else
        gdnn_tried_add(&h->tried, path, origin, file.trouble);
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

/* For a program that is linked with cuDNN the loader would find it; what others open, Python, as a rule, is
 * among their packages. */
static bool hunt_for(hunt *h, const char *program, const char *image, const objects *files)
{
    static const gdnn_loaded_list nothing;
    const gdnn_loaded_list *list = files ? objects_list(files) : &nothing;
    char python[PATH_MAX], home[PATH_MAX];
    const char *venv = getenv("VIRTUAL_ENV");
    if (*gdnn_options_get()->cudnn || (files && objects_need(files, GDNN_CUDNN_SONAME)))
        return gdnn_search_objects(list, try, h);
    if (program && (try_beside(h, program, "Python packages beside the program") ||
                    (strcmp(program, image) != 0 &&
                     try_beside(h, image, "Python packages beside the interpreter"))))
        return true;
    if (venv && *venv && try_packages(h, venv, "VIRTUAL_ENV"))
        return true;
    if (gdnn_search_objects(list, try, h))
        return true;
    if (!program_find("python3", python))
        return false;
    snprintf(home, sizeof home, "%s/.local", getenv("HOME") ? getenv("HOME") : "");
    return try_beside(h, python, "packages of the python3 in PATH") ||
           try_packages(h, home, "packages of the user's Python");
}

bool cudnn_find(const char *program, cudnn_file *found, cudnn_place *visit, void *context)
{
    hunt h = {.found = found, .visit = visit, .context = context};
    char image[PATH_MAX] = "";
    if (program)
        program_image(program, image);
    objects *files = program ? objects_read(image) : NULL;
    *found = (cudnn_file){.origin = ""};
    bool done = hunt_for(&h, program, image, files);
    objects_free(files);
    if (!done) {
        bool nothing = !h.tried.used;
        gdnn_tried_none(&h.tried);
        snprintf(found->trouble, sizeof found->trouble, "%s%s", h.tried.text,
                 nothing ? ", nor in the packages of Python in PATH or VIRTUAL_ENV" : "");
    }
    return done;
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

void cudnn_version_text(size_t version, char text[32])
{
    snprintf(text, 32, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
}
