#include "real.h"
#include "log.h"
#include "open_file.h"
#include "opening.h"
#include "search.h"
#include "tried.h"
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

enum { WHY_SIZE = 400 };

/* What one thread found. Threads that come at once look each for itself and the first to finish counts: a
 * lock here could wait for the loader's, held by a thread that waits for ours, and would not survive a
 * fork. The loader opens a file once, so they find the same. */
typedef struct outcome {
    gdnn_real_library library; /* .handle is NULL: none */
    char path[PATH_MAX];
    gdnn_tried tried;
} outcome;

static _Atomic(outcome *) kept;

static bool try_place(const char *path, const char *origin, void *context)
{
    outcome *o = context;
    char why[WHY_SIZE] = "";
    o->library.handle = gdnn_open_file(path, &o->library.version, why, sizeof why);
    if (!o->library.handle) {
        gdnn_tried_add(&o->tried, path, origin, why);
        return false;
    }
    snprintf(o->path, sizeof o->path, "%s", path);
    o->library.path = o->path;
    o->library.origin = origin;
    return true;
}

static outcome *look(void)
{
    outcome *o = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (o == MAP_FAILED)
        return NULL;
    if (!gdnn_search(try_place, o))
        gdnn_tried_none(&o->tried);
    return o;
}

static void report(const outcome *o)
{
    if (!o->library.handle) {
        gdnn_log_stderr("%s", o->tried.text);
        return;
    }
    if (o->tried.used)
        gdnn_log(GDNN_LOG_INFO, "cuDNN passed over: %s", o->tried.text);
    gdnn_log(GDNN_LOG_INFO, "cuDNN %zu is %s (%s)", o->library.version, o->library.path,
             o->library.origin);
}

const gdnn_real_library *gdnn_real_open(void)
{
    outcome *o = atomic_load_explicit(&kept, memory_order_acquire);
    int saved = errno;
    if (!o && gdnn_opening_begin()) {
        outcome *mine = look();
        gdnn_opening_end();
        if (mine && atomic_compare_exchange_strong(&kept, &o, mine))
            report(o = mine);
        else if (mine)
            munmap(mine, sizeof *mine);
    }
    errno = saved;
    return o && o->library.handle ? &o->library : NULL;
}

const char *gdnn_real_failure(void)
{
    const outcome *o = atomic_load_explicit(&kept, memory_order_acquire);
    return o && !o->library.handle ? o->tried.text : "";
}
