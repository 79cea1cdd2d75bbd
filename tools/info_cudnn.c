#include "columns.h"
#include "cudnn.h"
#include "dropin.h"
#include "info.h"
#include <stdlib.h>
#include <string.h>

/* The places that were tried, told after what was found. */
enum { MOST_PLACES = 64 };

typedef struct place {
    cudnn_file file;
    char wrong[256]; /* "" if it is used */
} place;

typedef struct places {
    place *list; /* NULL: no memory, and none are told */
    int count;
} places;

static void remember(const cudnn_file *file, const char *wrong, void *context)
{
    places *p = context;
    if (!p->list || p->count == MOST_PLACES)
        return;
    place *next = &p->list[p->count++];
    next->file = *file;
    snprintf(next->wrong, sizeof next->wrong, "%s", wrong ? wrong : "");
}

static void show_dropin(info *o, info_cudnn *facts)
{
    char path[PATH_MAX];
    bool there = dropin_find(path);
    const char *preload = getenv("LD_PRELOAD");
    info_item(o, true, "drop-in", "drop-in", path,
              there ? "groupdnn run puts it in front of the real cuDNN"
                    : "there is no such file: build or install it");
    snprintf(facts->dropin, sizeof facts->dropin, "%s", there ? path : "");
    info_item(o, true, "preload", "LD_PRELOAD", preload ? preload : "",
              !preload || !*preload                         ? "not set"
              : there && dropin_is_preloaded(path, preload) ? "has the drop-in"
                                                            : "does not have the drop-in");
}

static void show_version(info *o, const char *path, info_cudnn *facts)
{
    char why[256];
    size_t version = cudnn_version(path, why, sizeof why);
    if (version)
        snprintf(facts->version, sizeof facts->version, "%zu.%zu.%zu", version / 10000,
                 version / 100 % 100, version % 100);
    info_item(o, true, "cudnn", "version", facts->version, version ? "cudnnGetVersion" : why);
}

static void show_missing(const char *name, void *context)
{
    info_item(context, true, "missing", "missing", name,
              "the drop-in does not have this function: groupdnn run leaves it out");
}

void info_show_cudnn(info *o, const char *program, bool verbose, info_cudnn *facts)
{
    cudnn_file real;
    places tried = {.list = calloc(MOST_PLACES, sizeof *tried.list)};
    *facts = (info_cudnn){.missing = -1};
    fputs("\nDrop-in and real cuDNN:\n", o->out);
    show_dropin(o, facts);
    bool found = cudnn_find(program, &real, remember, &tried);
    info_item(o, true, "cudnn", "real cuDNN", found ? real.path : "",
              found ? real.origin : "none was found; GROUPDNN_CUDNN can name it");
    for (int i = 0; i < tried.count; i++) {
        const place *p = &tried.list[i];
        info_item(o, verbose || !found, "place", p->file.origin, p->file.path,
                  *p->wrong ? p->wrong : "used");
    }
    if (found) {
        snprintf(facts->real, sizeof facts->real, "%s", real.path);
        show_version(o, real.path, facts);
        facts->missing = cudnn_missing(real.path, show_missing, o);
    }
    free(tried.list);
}
