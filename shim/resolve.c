#include "api.h"
#include "graph.h"
#include "legacy.h"
#include "log.h"
#include "missing.h"
#include "options.h"
#include "real.h"
#include "stats.h"
#include <dlfcn.h>
#include <errno.h>

const char *gdnn_api_name(gdnn_api which)
{
    static const char *const names[] = {
#define GDNN_CUDNN(name, returns, way) #name,
#include "cudnn_api.def"
#undef GDNN_CUDNN
    };
    return names[which];
}

/* Our own function for `which`; NULL if it is forwarded at once. */
static void *own(gdnn_api which)
{
#define FORWARD(name) NULL
#define OURS(name)    gdnn_##name
    static void *const ours[] = {
#define GDNN_CUDNN(name, returns, way) way(name),
#include "cudnn_api.def"
#undef GDNN_CUDNN
    };
    return gdnn_options_get()->mode == GDNN_MODE_OFF ? NULL : ours[which];
}

/* A search that comes back to this object would make a function that jumps to itself for ever. */
static bool is_ours(const void *address)
{
    Dl_info there, here;
    return dladdr(address, &there) && dladdr(gdnn_slots, &here) &&
           there.dli_fbase == here.dli_fbase;
}

/* `keep` is false if the next call may have another answer. */
static void *look_up(gdnn_api which, bool *keep)
{
    const gdnn_real_library *library = gdnn_real_open();
    if (!library) {
        /* No failure yet: this thread is opening the library right now. */
        *keep = *gdnn_real_failure() != '\0';
        if (*keep)
            gdnn_stats_begin();
        return gdnn_missing(which, true);
    }
    *keep = true;
    gdnn_stats_begin();
    void *function = dlsym(library->handle, gdnn_api_name(which));
    if (function && !is_ours(function))
        return function;
    dlerror(); /* the program's next one is not about our search */
    gdnn_log(GDNN_LOG_ERROR, "%s: not in %s; calls of it fail", gdnn_api_name(which),
             library->path);
    return gdnn_missing(which, false);
}

/* What is resolved. Threads that meet here find the same. */
static _Atomic(void *) found[GDNN_APIS];

static void *real(gdnn_api which, bool *keep)
{
    void *function = atomic_load_explicit(&found[which], memory_order_acquire);
    *keep = true;
    if (!function) {
        function = look_up(which, keep);
        if (*keep)
            atomic_store_explicit(&found[which], function, memory_order_release);
    }
    return function;
}

void *gdnn_real(gdnn_api which)
{
    void *function = atomic_load_explicit(&found[which], memory_order_acquire);
    if (function)
        return function;
    int saved = errno;
    bool keep;
    function = real(which, &keep);
    errno = saved;
    return function;
}

void *gdnn_first_call(gdnn_api which)
{
    int saved = errno;
    bool keep = true;
    void *function = own(which);
    if (!function)
        function = real(which, &keep);
    if (keep)
        atomic_store_explicit(&gdnn_slots[which], function, memory_order_release);
    errno = saved;
    return function;
}
