#include "real.h"
#include "candidate.h"
#include "log.h"
#include "options.h"
#include "search.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* A line of the log holds this and a path. */
enum { SENTENCE_SIZE = 1800, WHY_SIZE = 400 };

/* What one thread found. Threads that come at once look each for itself and the first to finish counts: a
 * lock here could wait for the loader's, held by a thread that waits for ours, and would not survive a
 * fork. The loader opens a file once, so they find the same. */
typedef struct outcome {
    gdnn_real_library library; /* .handle is NULL: none */
    char path[PATH_MAX];
    char sentence[SENTENCE_SIZE]; /* every place that was tried, with what is wrong there */
    size_t used;
} outcome;

static _Atomic(outcome *) kept;

/* Marks the thread that is looking, so that it is known when the real library's constructors call cuDNN.
 * A key, since thread-local variables would need the loader's library. */
static _Atomic(unsigned) mark_plus_one;

/* The mark's key; false if there is none to be had. */
static bool mark_key(pthread_key_t *key)
{
    unsigned known = atomic_load(&mark_plus_one);
    if (!known) {
        if (pthread_key_create(key, NULL))
            return false;
        if (atomic_compare_exchange_strong(&mark_plus_one, &known, *key + 1))
            return true;
        pthread_key_delete(*key);
    }
    *key = known - 1;
    return true;
}

__attribute__((format(printf, 2, 3))) static void say(outcome *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(o->sentence + o->used, sizeof o->sentence - o->used, format, arguments);
    va_end(arguments);
    size_t room = sizeof o->sentence - 1 - o->used;
    if (length > 0)
        o->used += (size_t)length < room ? (size_t)length : room;
}

/* The text of the loader's last error, without the file that it begins with. */
static const char *loader_error(const char *path)
{
    const char *text = dlerror();
    size_t length = strlen(path);
    if (!text)
        return "the loader does not say why";
    return !strncmp(text, path, length) && !strncmp(text + length, ": ", 2) ? text + length + 2
                                                                            : text;
}

/* The start of the object that holds the address; NULL if that is unknown. */
static const void *object_of(const void *address)
{
    Dl_info facts;
    return dladdr(address, &facts) ? facts.dli_fbase : NULL;
}

/* Opens the file and fills in handle and version. */
static bool open_file(const char *path, gdnn_real_library *library, char *why)
{
    char sublibrary[PATH_MAX];
    if (!gdnn_candidate_check(path, sublibrary, why, WHY_SIZE))
        return false;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, WHY_SIZE, "cannot be opened: %s", loader_error(path));
        return false;
    }
    /* The dispatcher ends the process if it cannot open this, and it is about to. */
    if (*sublibrary && !dlopen(sublibrary, RTLD_NOW | RTLD_LOCAL)) {
        snprintf(why, WHY_SIZE, "cannot open %.200s: %s", sublibrary, loader_error(sublibrary));
        return false;
    }
    size_t (*version)(void);
    void *symbol = dlsym(handle, "cudnnGetVersion");
    if (!symbol) {
        snprintf(why, WHY_SIZE, "has no cudnnGetVersion: %s", loader_error(path));
        return false;
    }
    if (object_of(symbol) == object_of((const void *)gdnn_real_open)) {
        snprintf(why, WHY_SIZE, "leads back to groupdnn");
        return false;
    }
    memcpy(&version, &symbol, sizeof version);
    library->version = version();
    if (library->version / 10000 != 9) {
        snprintf(why, WHY_SIZE, "says that its version is %zu; 9.x, which is 9xxxx, is needed",
                 library->version);
        return false;
    }
    library->handle = handle;
    return true;
}

/* Libraries that turn out wrong stay open: what their constructors began cannot be undone. */
static bool try_place(const char *path, const char *origin, void *context)
{
    outcome *o = context;
    char why[WHY_SIZE] = "";
    if (open_file(path, &o->library, why)) {
        snprintf(o->path, sizeof o->path, "%s", path);
        o->library.path = o->path;
        o->library.origin = origin;
        return true;
    }
    say(o, "%s%s (%s) %s", o->used ? "; " : "", path, origin, why);
    return false;
}

/* Puts `text` before the sentence, which is cut at its end if need be. */
static void say_first(outcome *o, const char *text)
{
    size_t length = strlen(text);
    memmove(o->sentence + length, o->sentence, sizeof o->sentence - 1 - length);
    memcpy(o->sentence, text, length);
}

static outcome *look(void)
{
    outcome *o = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (o == MAP_FAILED)
        return NULL;
    if (gdnn_search(try_place, o))
        return o;
    if (*gdnn_options_get()->cudnn)
        say_first(
            o, "cuDNN cannot be used; correct GROUPDNN_CUDNN, or unset it to have cuDNN searched "
               "for: ");
    else if (o->used)
        say_first(o, "cuDNN cannot be used; set GROUPDNN_CUDNN to the absolute path of NVIDIA's "
                     "libcudnn.so.9. Tried: ");
    else
        say(o,
            "cuDNN was not found; set GROUPDNN_CUDNN to the absolute path of NVIDIA's "
            "libcudnn.so.9. It is not among the loaded libraries, in their RPATH or RUNPATH, in "
            "nvidia/cudnn/lib beside them, in LD_LIBRARY_PATH, ld.so.cache or the default folders");
    return o;
}

static void report(const outcome *o)
{
    if (!o->library.handle) {
        gdnn_log_stderr("%s", o->sentence);
        return;
    }
    if (o->used)
        gdnn_log(GDNN_LOG_INFO, "cuDNN passed over: %s", o->sentence);
    gdnn_log(GDNN_LOG_INFO, "cuDNN %zu is %s (%s)", o->library.version, o->library.path,
             o->library.origin);
}

const gdnn_real_library *gdnn_real_open(void)
{
    outcome *o = atomic_load_explicit(&kept, memory_order_acquire);
    pthread_key_t mark;
    int saved = errno;
    if (!o && mark_key(&mark) && !pthread_getspecific(mark) && !pthread_setspecific(mark, &kept)) {
        outcome *mine = look();
        pthread_setspecific(mark, NULL);
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
    return o && !o->library.handle ? o->sentence : "";
}
