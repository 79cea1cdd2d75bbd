/* A module of a framework, linked with cuDNN, in what the macro makes of it:
 *
 *   LATE    it calls cuDNN when the process ends, at every chance that there is
 *   WRAPS   it stands in front of cuDNN and counts the calls, as profilers do
 */
#include "client_api.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WRAPS
size_t cudnnGetVersion(void)
{
    size_t (*next)(void);
    void *symbol = dlsym(RTLD_NEXT, "cudnnGetVersion");
    memcpy(&next, &symbol, sizeof next);
    size_t version = next ? next() : 0;
    printf("wrapped %zu\n", version);
    return version;
}
#else
extern size_t (*const module_version)(void);
size_t (*const module_version)(void) = cudnnGetVersion;
#endif

#ifdef LATE
static void say(const char *when)
{
    void *descriptor;
    int status = cudnnCreateTensorDescriptor(&descriptor);
    printf("%s %zu %d\n", when, cudnnGetVersion(), status);
    if (!status)
        cudnnDestroyTensorDescriptor(descriptor);
    fflush(stdout);
}

static void at_exit(void)
{
    say("atexit");
}

__attribute__((constructor)) static void begin(void)
{
    atexit(at_exit);
}

__attribute__((destructor)) static void end(void)
{
    say("destructor");
}
#endif
