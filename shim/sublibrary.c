#include "sublibrary.h"
#include "folders.h"
#include "ld_cache.h"
#include "loaded.h"
#include "mapped_file.h"
#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

static const char soname[] = GDNN_SUBLIBRARY_STEM ".9";

typedef struct finder {
    char *only;
    dev_t device;
    ino_t inode;
    int files; /* different ones; two are as good as more */
    bool
        versioned; /* look for libcudnn_graph.so.9.X.Y, the names that the dispatcher tries first */
    char unfit[256]; /* what is wrong with the first that cannot be used, "" */
} finder;

/* Takes the file at `path` into account, if there is one. True: no need to look further. */
static bool consider(const char *path, void *context)
{
    finder *f = context;
    gdnn_mapped_file file;
    gdnn_elf elf;
    char why[128];
    if (!gdnn_map_file(&file, path, why, sizeof why))
        return false;
    const char *wrong = gdnn_elf_read(&elf, file.bytes, file.size);
    if (!wrong && (elf.machine != GDNN_ELF_MACHINE || elf.type != ET_DYN))
        wrong = "is no shared library for this machine";
    if (!wrong && !elf.whole)
        wrong = "is cut short";
    if (!wrong && (!elf.soname || strcmp(elf.soname, soname)))
        wrong = "is another library";
    if (wrong) {
        if (!*f->unfit)
            snprintf(f->unfit, sizeof f->unfit, "%.180s %s", path, wrong);
    } else if (!f->files || file.device != f->device || file.inode != f->inode) {
        if (!f->files++)
            snprintf(f->only, PATH_MAX, "%s", path);
        f->device = file.device;
        f->inode = file.inode;
    }
    gdnn_unmap_file(&file);
    return f->files > 1;
}

static bool in_folder(const char *folder, void *context)
{
    finder *f = context;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, soname);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    if (!f->versioned)
        return consider(path, f);
    DIR *entries = opendir(folder);
    if (!entries)
        return false;
    bool enough = false;
    for (struct dirent *e; !enough && (e = readdir(entries));) {
        size_t stem = sizeof soname - 1;
        if (strncmp(e->d_name, soname, stem) || e->d_name[stem] != '.')
            continue;
        length = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        enough = length > 0 && (size_t)length < sizeof path && consider(path, f);
    }
    closedir(entries);
    return enough;
}

static bool already_loaded(void)
{
    gdnn_loaded_list list;
    bool found = false;
    gdnn_loaded_take(&list, "");
    for (size_t i = 0; i < list.count && !found; i++)
        found = !strcmp(list.objects[i].soname, soname);
    gdnn_loaded_free(&list);
    return found;
}

/* Looks where the loader would, in its order. */
static void look(finder *f, const char *path, const gdnn_elf *dispatcher)
{
    const char *origin = getauxval(AT_SECURE) ? NULL : path;
    if ((!dispatcher->runpath && dispatcher->rpath &&
         gdnn_each_folder(dispatcher->rpath, ":", origin, in_folder, f)) ||
        gdnn_each_folder(gdnn_library_path(), GDNN_LIBRARY_PATH_SEPARATORS, NULL, in_folder, f) ||
        (dispatcher->runpath && gdnn_each_folder(dispatcher->runpath, ":", origin, in_folder, f)) ||
        (!f->versioned && gdnn_ld_cache_find_here(soname, consider, f)))
        return;
    gdnn_each_default_folder(in_folder, f);
}

bool gdnn_sublibrary_find(const char *path, const gdnn_elf *dispatcher, char only[PATH_MAX],
                          char *why, size_t size)
{
    finder f = {.only = only};
    *only = '\0';
    if (already_loaded())
        return true;
    for (int pass = 0; pass < 2 && !f.files; pass++) {
        f.versioned = pass > 0;
        look(&f, path, dispatcher);
    }
    if (f.files > 1)
        *only = '\0';
    if (!f.files)
        snprintf(why, size, "cannot work without %s, which is not where it would be looked for%s%s",
                 soname, *f.unfit ? "; " : "", f.unfit);
    return f.files > 0;
}
