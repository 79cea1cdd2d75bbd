#include "objects.h"

#include "candidate.h"
#include "elf_file.h"
#include "mapped_file.h"
#include "search.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* More are left out: the largest programs have some two hundred. */
enum { MOST = 512 };

/* The file behind an entry of the list; its texts lie in the mapping. */
typedef struct object {
    gdnn_mapped_file file;
    gdnn_elf elf;
    char *path;
} object;

struct objects {
    gdnn_loaded_list list;
    gdnn_loaded entries[MOST];
    object objects[MOST];
};

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* Maps the file; false if the loader would not. */
static bool open_object(object *new, const char *path, bool program)
{
    char why[128];
    if (!gdnn_map_file(&new->file, path, why, sizeof why))
        return false;
    bool fits = !gdnn_elf_read(&new->elf, new->file.bytes, new->file.size) &&
                new->elf.machine == GDNN_ELF_MACHINE &&
                (new->elf.type == ET_DYN || (program && new->elf.type == ET_EXEC));
    new->path = fits ? strdup(path) : NULL;
    if (!new->path)
        gdnn_unmap_file(&new->file);
    return new->path;
}

static bool has_file(const objects *o, const gdnn_mapped_file *file)
{
    for (size_t i = 0; i < o->list.count; i++)
        if (o->objects[i].file.device == file->device && o->objects[i].file.inode == file->inode)
            return true;
    return false;
}

static bool needs(const gdnn_elf *elf, const char *wanted)
{
    const char *name;
    for (size_t i = 0; (name = gdnn_elf_needed(elf, i)); i++)
        if (!strcmp(name, wanted))
            return true;
    return false;
}

/* Adds the file at `path`, unless the list has it; false if the loader would look for another. */
static bool add(objects *o, const char *path, const gdnn_loaded *loader)
{
    size_t at = o->list.count;
    object *new = &o->objects[at];
    if (at == MOST || !open_object(new, path, !loader))
        return false;
    if (has_file(o, &new->file)) {
        free(new->path);
        gdnn_unmap_file(&new->file);
        return true;
    }
    const gdnn_elf *elf = &new->elf;
    bool both = elf->rpath && elf->runpath; /* the loader sees but RUNPATH */
    o->entries[at] = (gdnn_loaded){.path = new->path,
                                   .soname = or_empty(elf->soname),
                                   .rpath = both ? "" : or_empty(elf->rpath),
                                   .runpath = or_empty(elf->runpath),
                                   .needs = needs(elf, GDNN_CUDNN_SONAME),
                                   .loader = loader};
    o->list.count++;
    return true;
}

typedef struct need {
    objects *objects;
    const gdnn_loaded *loader;
} need;

static bool add_place(const char *path, const char *origin, void *context)
{
    const need *n = context;
    (void)origin;
    return add(n->objects, path, n->loader);
}

static bool has_name(const objects *o, const char *name)
{
    for (size_t i = 0; i < o->list.count; i++) {
        const gdnn_loaded *entry = &o->entries[i];
        const char *base = strrchr(entry->path, '/');
        if (!strcmp(entry->soname, name) || (base && !strcmp(base + 1, name)))
            return true;
    }
    return false;
}

/* Adds what the object `index` needs, but not cuDNN, for which the drop-in stands. */
static void add_needed(objects *o, size_t index)
{
    need n = {o, &o->entries[index]};
    const char *name;
    for (size_t i = 0; (name = gdnn_elf_needed(&o->objects[index].elf, i)); i++) {
        if (*name == '/')
            add(o, name, n.loader);
        else if (!strchr(name, '/') && strcmp(name, GDNN_CUDNN_SONAME) != 0 && !has_name(o, name))
            gdnn_search_needed(&o->list, n.loader, name, add_place, &n);
    }
}

objects *objects_read(const char *path)
{
    objects *o = calloc(1, sizeof *o);
    char *real = realpath(path, NULL); /* as the kernel names it, for $ORIGIN */
    if (o && real) {
        o->list.objects = o->entries;
        add(o, real, NULL);
        for (size_t i = 0; i < o->list.count; i++)
            add_needed(o, i);
    }
    free(real);
    if (o && !o->list.count) {
        free(o);
        return NULL;
    }
    return o;
}

const gdnn_loaded_list *objects_list(const objects *o)
{
    return &o->list;
}

bool objects_need(const objects *o, const char *name)
{
    for (size_t i = 0; i < o->list.count; i++)
        if (needs(&o->objects[i].elf, name))
            return true;
    return false;
}

void objects_free(objects *o)
{
    for (size_t i = 0; o && i < o->list.count; i++) {
        free(o->objects[i].path);
        gdnn_unmap_file(&o->objects[i].file);
    }
    free(o);
}
