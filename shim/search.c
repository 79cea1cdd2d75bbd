#include "search.h"
#include "candidate.h"
#include "folders.h"
#include "ld_cache.h"
#include "options.h"
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

/* Where the real library was when this was built; "" if it was nowhere. */
#ifndef GDNN_BUILD_CUDNN
#define GDNN_BUILD_CUDNN ""
#endif

/* How many folders above a loaded object are looked at: site-packages is three above the modules of
 * some packages. */
enum { CLIMB = 6 };

/* Files that were visited, and folders that were climbed through; more are looked at again. */
enum { FILES = 64, FOLDERS = 512 };

/* Where NVIDIA's packages for Python have the library, below site-packages. */
static const char *const wheel_folders[] = {"nvidia/cudnn/lib", "nvidia/cudnn_jit/lib"};

typedef struct search {
    gdnn_search_visit *visit;
    void *context;
    const char *name; /* of the file */
    const char *origin;
    const gdnn_loaded_list *loaded;
    bool secure; /* rights that its user does not have: only folders that the user cannot choose */
    size_t files;
    struct {
        dev_t device;
        ino_t inode;
    } file[FILES];
    uint64_t folder[FOLDERS]; /* hashes, by hash */
} search;

/* Visits the file at `path` if it is there and new. */
static bool place(const char *path, void *context)
{
    search *s = context;
    struct stat facts;
    if (stat(path, &facts)) {
        /* What cannot be looked at is worth a word. */
        bool missing = errno == ENOENT || errno == ENOTDIR;
        return !missing && s->visit(path, s->origin, s->context);
    }
    for (size_t i = 0; i < s->files; i++)
        if (s->file[i].device == facts.st_dev && s->file[i].inode == facts.st_ino)
            return false;
    if (s->files < FILES) {
        s->file[s->files].device = facts.st_dev;
        s->file[s->files++].inode = facts.st_ino;
    }
    return s->visit(path, s->origin, s->context);
}

static bool in_folder(const char *folder, void *context)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, ((const search *)context)->name);
    return length > 0 && (size_t)length < sizeof path && place(path, context);
}

/* The real library under its own name comes before the copies that packages carry renamed. */
static bool already_loaded(search *s)
{
    s->origin = "already loaded";
    for (int renamed = 0; renamed < 2; renamed++)
        for (size_t i = 0; i < s->loaded->count; i++) {
            const gdnn_loaded *o = &s->loaded->objects[i];
            const char *base = o->path + gdnn_folder_length(o->path);
            base += *base == '/';
            bool named = !strcmp(o->soname, GDNN_CUDNN_SONAME);
            bool is = named || gdnn_is_cudnn_name(o->soname) || gdnn_is_cudnn_name(base);
            if (is && named == !renamed && !o->ours && place(o->path, s))
                return true;
        }
    return false;
}

static bool in_list(search *s, const char *origin, const char *list, const gdnn_loaded *object)
{
    s->origin = origin;
    return gdnn_each_folder(list, ":", s->secure || !*object->path ? NULL : object->path, in_folder,
                            s);
}

static bool in_library_path(search *s)
{
    s->origin = "LD_LIBRARY_PATH";
    const char *program = s->loaded->count ? s->loaded->objects[0].path : "";
    return gdnn_each_folder(gdnn_library_path(), GDNN_LIBRARY_PATH_SEPARATORS,
                            *program ? program : NULL, in_folder, s);
}

/* RPATH: of the object, of what needed it, and so on, and of the program. */
static bool in_rpaths(search *s, const gdnn_loaded *o)
{
    const gdnn_loaded *program = s->loaded->objects;
    for (; o; o = o->loader)
        if (in_list(s, "RPATH", o->rpath, o))
            return true;
    return in_list(s, "RPATH", program->rpath, program);
}

/* Where the loader looks for what the object needs: RPATH counts only where there is no RUNPATH. */
static bool where_needed(search *s, const gdnn_loaded *o)
{
    return (!*o->runpath && in_rpaths(s, o)) || in_library_path(s) ||
           in_list(s, "RUNPATH", o->runpath, o);
}

/* Those that need the library would have got it from there; any other may be the one that opens it. */
static bool where_objects_point(search *s)
{
    const gdnn_loaded_list *l = s->loaded;
    for (size_t i = 0; i < l->count; i++)
        if (l->objects[i].needs && where_needed(s, &l->objects[i]))
            return true;
    for (size_t i = 0; i < l->count; i++)
        if (in_list(s, "RPATH", l->objects[i].rpath, &l->objects[i]))
            return true;
    if (in_library_path(s))
        return true;
    for (size_t i = 0; i < l->count; i++)
        if (in_list(s, "RUNPATH", l->objects[i].runpath, &l->objects[i]))
            return true;
    return false;
}

/* True at the first call with this folder. */
static bool is_new_folder(search *s, const char *folder, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)folder[i]) * UINT64_C(0x100000001b3);
    uint64_t *kept = &s->folder[hash % FOLDERS];
    bool new = *kept != hash;
    *kept = hash;
    return new;
}

/* True if anyone may put folders of their own into this one, as into /tmp: what lies in there does not
 * belong to the object below. */
static bool is_open_to_all(const char *folder)
{
    struct stat facts;
    return stat(folder, &facts) || (facts.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
}

/* Looks for NVIDIA's packages in the first `length` bytes of `path`, a folder. */
static bool wheels_in(search *s, const char *path, size_t length)
{
    char folder[PATH_MAX];
    if (length + 64 > sizeof folder)
        return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    struct stat facts;
    strcpy(folder + length, "/nvidia");
    if (stat(folder, &facts))
        return false;
    folder[length] = '\0';
    if (is_open_to_all(folder))
        return false;
    for (size_t i = 0; i < sizeof wheel_folders / sizeof *wheel_folders; i++) {
        snprintf(folder + length, sizeof folder - length, "/%s", wheel_folders[i]);
        if (in_folder(folder, s))
            return true;
    }
    return false;
}

static bool beside_objects(search *s)
{
    s->origin = "beside a loaded library";
    for (size_t i = 0; i < s->loaded->count && !s->secure; i++) {
        const gdnn_loaded *o = &s->loaded->objects[i];
        size_t length = strlen(o->path);
        for (int up = 0; up <= CLIMB; up++) {
            while (length && o->path[length - 1] != '/')
                length--;
            /* The root holds everything and belongs to none. */
            if (length < 2)
                break;
            if (is_new_folder(s, o->path, --length) && wheels_in(s, o->path, length))
                return true;
        }
    }
    return false;
}

static bool in_cache(search *s)
{
    s->origin = "ld.so.cache";
    return gdnn_ld_cache_find_here(s->name, place, s);
}

static bool in_default_folders(search *s)
{
    s->origin = "default folder";
    return gdnn_each_default_folder(in_folder, s);
}

static bool where_built(search *s)
{
    s->origin = "known when groupdnn was built";
    return place(GDNN_BUILD_CUDNN, s);
}

bool gdnn_search_objects(const gdnn_loaded_list *objects, gdnn_search_visit *visit, void *context)
{
    const char *asked = gdnn_options_get()->cudnn;
    if (*asked)
        return visit(asked, "GROUPDNN_CUDNN", context);

    search s = {.visit = visit,
                .context = context,
                .name = GDNN_CUDNN_SONAME,
                .loaded = objects,
                .secure = getauxval(AT_SECURE)};
    return already_loaded(&s) || where_objects_point(&s) || beside_objects(&s) || in_cache(&s) ||
           where_built(&s) || in_default_folders(&s);
}

bool gdnn_search(gdnn_search_visit *visit, void *context)
{
    gdnn_loaded_list objects;
    gdnn_loaded_take(&objects, GDNN_CUDNN_SONAME);
    bool stopped = gdnn_search_objects(&objects, visit, context);
    gdnn_loaded_free(&objects);
    return stopped;
}

bool gdnn_search_needed(const gdnn_loaded_list *objects, const gdnn_loaded *object,
                        const char *name, gdnn_search_visit *visit, void *context)
{
    search s = {.visit = visit,
                .context = context,
                .name = name,
                .loaded = objects,
                .secure = getauxval(AT_SECURE)};
    return where_needed(&s, object) || in_cache(&s) || in_default_folders(&s);
}

bool gdnn_search_check(const char *path, char *why, size_t size)
{
    char sublibrary[PATH_MAX];
    return gdnn_candidate_check(path, sublibrary, why, size);
}
