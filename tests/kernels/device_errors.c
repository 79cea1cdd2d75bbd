#include "device_errors.h"

#include "fake_cuda.h"
#include "session.h"
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char running[2200];
static void (*counters)(gdnn_fake_counts *);

static void tell(int signal)
{
    (void)signal;
    if (write(STDERR_FILENO, running, strlen(running)) < 0)
        return; /* there is nobody else to tell */
}

void device_errors_watch(void)
{
    char path[PATH_MAX];
    session_emulated_path(path, sizeof path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&counters = dlsym(library, "gdnn_fake_counters");
    signal(SIGABRT, tell); /* abort ends the process when this returns */
}

void device_errors_name(const char *kernel, const gdnn_conv *conv)
{
    int used = snprintf(running, sizeof running - 2, "--kernel %s '", kernel);
    gdnn_conv_format(conv, running + used, sizeof running - (size_t)used - 2);
    strcat(running, "'\n");
}

unsigned long long device_errors(void)
{
    gdnn_fake_counts counts = {.errors = 0};
    if (counters)
        counters(&counts);
    return counts.errors;
}
