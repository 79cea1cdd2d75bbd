/* A small libcudnn.so.9. Its version is the name of the folder that it was opened in, so that a
 * test can tell copies of it apart. What the macros make of it:
 *
 *   CALLS_CUDNN    its constructor calls cuDNN, by the name that everybody sees
 *   SLOW           its constructor takes a while, and before that is done it has no version
 */
#include "client_api.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In this file, whatever stands in front of its functions. */
static const char place;

#ifdef SLOW
static volatile int ready;
#else
enum { ready = 1 };
#endif

size_t cudnnGetVersion(void)
{
    Dl_info here;
    char path[4096];
    if (!ready || !dladdr(&place, &here) || strlen(here.dli_fname) >= sizeof path)
        return 0;
    char *end = strrchr(strcpy(path, here.dli_fname), '/');
    if (!end)
        return 0;
    *end = '\0';
    char *folder = strrchr(path, '/');
    unsigned long number = folder ? strtoul(folder + 1, NULL, 10) : 0;
    return number ? number : 90000;
}

const char *cudnnGetErrorString(int status)
{
    return status ? "STAND_IN_FAILURE" : "STAND_IN_SUCCESS";
}

int cudnnCreateTensorDescriptor(void **descriptor)
{
    *descriptor = malloc(1);
    return *descriptor ? 0 : 4000;
}

int cudnnDestroyTensorDescriptor(void *descriptor)
{
    free(descriptor);
    return 0;
}

#ifdef CALLS_CUDNN
__attribute__((constructor)) static void call_cudnn(void)
{
    size_t (*version)(void);
    void *symbol = dlsym(RTLD_DEFAULT, "cudnnGetVersion");
    memcpy(&version, &symbol, sizeof version);
    if (version)
        printf("constructor %zu\n", version());
}
#endif

#ifdef SLOW
__attribute__((constructor)) static void take_a_while(void)
{
    usleep(300000);
    ready = 1;
}
#endif
