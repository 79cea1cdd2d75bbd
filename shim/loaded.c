#include "loaded.h"
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The pass that counts has no memory; the one that copies takes no more than was counted, so that
 * objects that were loaded in between are left out. */
typedef struct collector {
    const char *soname;
    gdnn_loaded *objects;
    char *texts;
    size_t count, used, room, most;
    char program[PATH_MAX];
} collector;

typedef struct dynamic {
    const ElfW(Dyn) * entries; /* NULL: none */
    const char *strings;
    size_t size;
} dynamic;

/* Bytes of the object from `address` to the end of its segment; 0 if it is not its own. */
static size_t room_at(const struct dl_phdr_info *object, ElfW(Addr) address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        ElfW(Addr) into = address - object->dlpi_addr - p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) && into < p->p_memsz)
            return p->p_memsz - into;
    }
    return 0;
}

static dynamic find_dynamic(const struct dl_phdr_info *object)
{
    dynamic d = {0};
    ElfW(Addr) strings = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d.entries = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    if (!d.entries || !room_at(object, (ElfW(Addr))d.entries))
        return (dynamic){0};
    for (const ElfW(Dyn) *e = d.entries; e->d_tag != DT_NULL; e++) {
        if (e->d_tag == DT_STRTAB)
            strings = e->d_un.d_ptr;
        else if (e->d_tag == DT_STRSZ)
            d.size = e->d_un.d_val;
    }
    /* Addresses are made absolute by the loader, except where the section cannot be written. */
    if (strings < object->dlpi_addr)
        strings += object->dlpi_addr;
    size_t room = room_at(object, strings);
    d.strings = (const char *)strings;
    if (d.size > room)
        d.size = room;
    return d;
}

/* The text of an entry; "" if it is not within the strings. */
static const char *text_of(const dynamic *d, const ElfW(Dyn) * entry)
{
    size_t at = entry->d_un.d_val;
    return at < d->size && memchr(d->strings + at, 0, d->size - at) ? d->strings + at : "";
}

/* Keeps a copy of the text, with `spare` bytes behind. "" costs nothing. */
static const char *keep(collector *c, const char *text, size_t spare)
{
    if (!*text)
        return "";
    size_t size = strlen(text) + 1, at = c->used;
    c->used += size + spare;
    return c->objects && c->used <= c->room ? memcpy(c->texts + at, text, size) : "";
}

static int collect(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    collector *c = context;
    const char *path = c->count ? object->dlpi_name : c->program;
    if (c->objects && c->count == c->most)
        return 1;
    gdnn_loaded found = {.soname = "", .rpath = "", .runpath = ""};
    dynamic d = find_dynamic(object);
    /* The loader sees but RUNPATH where both are. */
    for (const ElfW(Dyn) *e = d.entries; e && e->d_tag != DT_NULL; e++) {
        const char *text = text_of(&d, e);
        if (e->d_tag == DT_SONAME)
            found.soname = text;
        else if (e->d_tag == DT_RPATH)
            found.rpath = text;
        else if (e->d_tag == DT_RUNPATH)
            found.runpath = text;
        else if (e->d_tag == DT_NEEDED && !strcmp(text, c->soname))
            found.needs = true;
    }
    if (*found.runpath)
        found.rpath = "";
    found.ours = room_at(object, (ElfW(Addr))gdnn_loaded_take) > 0;
    /* A name without a folder is no file: the kernel's own object. */
    bool relative = *path != '/' && strchr(path, '/');
    found.path = keep(c, *path == '/' || relative ? path : "", relative ? PATH_MAX : 0);
    found.soname = keep(c, found.soname, 0);
    found.rpath = keep(c, found.rpath, 0);
    found.runpath = keep(c, found.runpath, 0);
    if (c->objects) {
        if (c->used > c->room)
            return 1;
        c->objects[c->count] = found;
    }
    c->count++;
    return 0;
}

/* Makes a relative path absolute in its place, in the working folder; "" if that is no longer the
 * folder where it was opened. */
static void make_absolute(gdnn_loaded *object)
{
    char *path = (char *)object->path;
    if (!*path || *path == '/')
        return;
    char folder[PATH_MAX];
    size_t length = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    memmove(path + length + 1, path, strlen(path) + 1);
    memcpy(path, folder, length);
    path[length] = '/';
    /* The loader knows its objects by their files. */
    void *handle = length ? dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
    if (handle) {
        dlclose(handle);
    } else {
        dlerror(); /* not to be found by the program */
        *path = '\0';
    }
}

bool gdnn_loaded_take(gdnn_loaded_list *list, const char *soname)
{
    *list = (gdnn_loaded_list){0};
    collector c = {.soname = soname};
    ssize_t length = readlink("/proc/self/exe", c.program, sizeof c.program - 1);
    c.program[length < 0 ? 0 : length] = '\0';

    dl_iterate_phdr(collect, &c);
    size_t table = c.count * sizeof(gdnn_loaded);
    if (!c.count)
        return false;
    size_t size = table + c.used;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    c.objects = memory;
    c.most = c.count;
    c.texts = (char *)memory + table;
    c.room = c.used;
    c.count = c.used = 0;
    dl_iterate_phdr(collect, &c);
    for (size_t i = 0; i < c.count; i++)
        make_absolute(&c.objects[i]);
    *list = (gdnn_loaded_list){.objects = memory, .count = c.count, .size = size};
    return true;
}

void gdnn_loaded_free(gdnn_loaded_list *list)
{
    if (list->size)
        munmap((void *)list->objects, list->size);
    *list = (gdnn_loaded_list){0};
}
