#include "columns.h"
#include "cudnn.h"
#include "dropin.h"
#include "info.h"
#include <stdlib.h>
#include <string.h>

/* The places that were tried, told after what was found. A file that is used may have a trouble, too. */
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

/* People get the places only if they ask: where nothing is found, the message has them. */
static void show_place(info *o, const place *p, bool verbose)
{
    bool used = !*p->wrong;
    char origin[sizeof p->wrong + 128];
    snprintf(origin, sizeof origin, "%s%s%s", p->file.origin, used ? "" : "; ", p->wrong);
    if (verbose)
        info_line(o, used ? "used" : "passed over", p->file.path, origin);
    info_item(o, false, "place", p->file.origin, p->file.path, used ? "used" : p->wrong);
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

static void show_version(info *o, const cudnn_file *real, info_cudnn *facts)
{
    if (real->version)
        cudnn_version_text(real->version, facts->version);
    info_item(o, true, "cudnn", "version", facts->version,
              real->version ? "cudnnGetVersion" : real->trouble);
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
              found ? real.origin : real.trouble);
    for (int i = 0; i < tried.count; i++)
        show_place(o, &tried.list[i], verbose);
    if (found) {
        snprintf(facts->real, sizeof facts->real, "%s", real.path);
        show_version(o, &real, facts);
        facts->missing = cudnn_missing(real.path, show_missing, o);
    }
    free(tried.list);
}
