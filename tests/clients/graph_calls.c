#include "graph_calls.h"
#include "report.h"
#include <stdio.h>

static int created;

static bool say(const char *call, const graph_descriptor *descriptor, const char *what,
                long long count, cudnnStatus_t status)
{
    char line[128];
    snprintf(line, sizeof line, what ? "%s#%d %s %lld" : "%s#%d", descriptor->kind,
             descriptor->number, what, count);
    return report(call, line, status) == CUDNN_STATUS_SUCCESS;
}

bool graph_create(graph_descriptor *descriptor, cudnnBackendDescriptorType_t type, const char *kind)
{
    *descriptor = (graph_descriptor){.kind = kind, .number = ++created};
    return say("cudnnBackendCreateDescriptor", descriptor, NULL, 0,
               cudnnBackendCreateDescriptor(type, &descriptor->it));
}

bool graph_finalize(const graph_descriptor *descriptor)
{
    return say("cudnnBackendFinalize", descriptor, NULL, 0, cudnnBackendFinalize(descriptor->it));
}

void graph_destroy(graph_descriptor *descriptor)
{
    if (descriptor->it)
        say("cudnnBackendDestroyDescriptor", descriptor, NULL, 0,
            cudnnBackendDestroyDescriptor(descriptor->it));
    *descriptor = (graph_descriptor){0};
}

bool graph_set(const graph_descriptor *descriptor, cudnnBackendAttributeName_t attribute,
               const char *name, cudnnBackendAttributeType_t type, int64_t count,
               const void *values)
{
    return say("cudnnBackendSetAttribute", descriptor, name, count,
               cudnnBackendSetAttribute(descriptor->it, attribute, type, count, values));
}

bool graph_get(const graph_descriptor *descriptor, cudnnBackendAttributeName_t attribute,
               const char *name, cudnnBackendAttributeType_t type, int64_t room, int64_t *count,
               void *values)
{
    const bool got =
        say("cudnnBackendGetAttribute", descriptor, name, room,
            cudnnBackendGetAttribute(descriptor->it, attribute, type, room, count, values));
    if (got && count)
        show("count=%lld", (long long)*count);
    return got;
}

cudnnStatus_t graph_execute(cudnnHandle_t handle, const graph_descriptor *plan,
                            const graph_descriptor *pack)
{
    const cudnnStatus_t status = cudnnBackendExecute(handle, plan->it, pack->it);
    say("cudnnBackendExecute", plan, "of", pack->number, status);
    return status;
}
