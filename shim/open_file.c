#include "open_file.h"
#include "candidate.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

void *gdnn_open_file(const char *path, size_t *version, char *why, size_t size)
{
    char sublibrary[PATH_MAX];
    if (!gdnn_candidate_check(path, sublibrary, why, size))
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, size, "cannot be opened: %s", loader_error(path));
        return NULL;
    }
    /* The dispatcher ends the process if it cannot open this, and it is about to. */
    if (*sublibrary && !dlopen(sublibrary, RTLD_NOW | RTLD_LOCAL)) {
        snprintf(why, size, "cannot open %.200s: %s", sublibrary, loader_error(sublibrary));
        return NULL;
    }
    size_t (*get_version)(void);
    void *symbol = dlsym(handle, "cudnnGetVersion");
    if (!symbol) {
        snprintf(why, size, "has no cudnnGetVersion: %s", loader_error(path));
        return NULL;
    }
    if (object_of(symbol) == object_of((const void *)gdnn_open_file)) {
        snprintf(why, size, "leads back to groupdnn");
        return NULL;
    }
    memcpy(&get_version, &symbol, sizeof get_version);
    *version = get_version();
    if (*version / 10000 != 9) {
        snprintf(why, size, "says that its version is %zu; 9.x, which is 9xxxx, is needed",
                 *version);
        return NULL;
    }
    return handle;
}
