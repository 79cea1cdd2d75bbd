/* What tests see and control from outside: the log of calls, and calls that fail. */
#include "double.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct counter {
    char function[64];
    long calls;
} counter;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static counter counters[64];

/* What the environment asks for, read once: the double must not cost more than it has to. */
static const char *faults, *log_path;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_environment(void)
{
    faults = getenv("GDNN_DOUBLE_FAIL");
    log_path = getenv("GDNN_DOUBLE_LOG");
}

static long count(const char *function)
{
    long calls = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        counter *c = &counters[i];
        if (!c->function[0])
            snprintf(c->function, sizeof c->function, "%s", function);
        if (strcmp(c->function, function) == 0) {
            calls = ++c->calls;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return calls;
}

cudnnStatus_t told_to_fail(const char *function)
{
    pthread_once(&once, read_environment);
    const char *item = faults;
    if (!item)
        return CUDNN_STATUS_SUCCESS;
    const long call = count(function);
    while (*item) {
        char name[64];
        long n;
        int status = CUDNN_STATUS_EXECUTION_FAILED;
        if (sscanf(item, "%63[^:,]:%ld:%d", name, &n, &status) < 2) {
            fprintf(stderr, "cuDNN double: GDNN_DOUBLE_FAIL: %s is not name:n or name:n:status\n",
                    item);
            abort();
        }
        if (n == call && strcmp(name, function) == 0)
            return (cudnnStatus_t)status;
        item += strcspn(item, ",");
        item += *item == ',';
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t record(const char *function, cudnnStatus_t status, cudnnHandle_t handle,
                     size_t workspace_bytes, double alpha)
{
    pthread_once(&once, read_environment);
    const char *path = log_path;
    if (!path || !*path)
        return status;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) {
        fprintf(stderr, "cuDNN double: GDNN_DOUBLE_LOG: cannot write %s\n", path);
        abort();
    }
    dprintf(file, "%s %d %p %zu %.17g\n", function, (int)status,
            (void *)(handle ? handle->stream : NULL), workspace_bytes, alpha);
    close(file);
    return status;
}
