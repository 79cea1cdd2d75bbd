#include "graph_execute.h"
#include "api.h"
#include "graph_api.h"
#include "graph_track.h"
#include "legacy_api.h"
#include "take.h"

typedef struct call {
    cudnnHandle_t handle;
    cudnnBackendDescriptor_t plan, variant_pack;
} call;

static cudnnStatus_t real(void *context)
{
    const call *c = context;
    return GDNN_REAL(cudnnBackendExecute)(c->handle, c->plan, c->variant_pack);
}

static bool stream_of(void *context, CUstream *stream)
{
    const call *c = context;
    return c->handle && GDNN_REAL(cudnnGetStream)(c->handle, stream) == CUDNN_STATUS_SUCCESS;
}

/* NULL: the pack has no such tensor, or it has two. */
static void *find(const gdnn_graph_pack *pack, int64_t uid)
{
    void *found = NULL;
    for (int64_t i = 0; i < pack->uids; i++) {
        if (pack->uid[i] != uid)
            continue;
        if (found)
            return NULL;
        found = pack->pointer[i];
    }
    return found;
}

/* False: not all that the plan needs is there. What the problem does not read need not be. */
static bool find_tensors(const gdnn_graph_fate *fate, const gdnn_graph_pack *pack,
                         gdnn_tensors *data)
{
    const gdnn_conv *conv = &fate->route->key.conv;
    if (pack->unknown || pack->uids != pack->pointers)
        return false;
    *data = (gdnn_tensors){.x = find(pack, fate->x),
                           .w = find(pack, fate->w),
                           .y = find(pack, fate->y),
                           .z = conv->z ? find(pack, fate->z) : NULL,
                           .bias = conv->bias ? find(pack, fate->bias) : NULL};
    return data->x && data->w && data->y && (data->z || !conv->z || conv->alpha2 == 0) &&
           (data->bias || !conv->bias);
}

cudnnStatus_t gdnn_graph_execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                 cudnnBackendDescriptor_t variant_pack)
{
    call c = {handle, plan, variant_pack};
    const gdnn_taker taker = {&c, real, NULL, stream_of};
    gdnn_graph_fate fate = gdnn_graph_fate_of(plan);
    gdnn_graph_pack pack;
    gdnn_tensors data;
    if (!fate.route || fate.route->reason != GDNN_REASON_TAKEN) {
        gdnn_graph_plan_count(&fate);
        return real(&c);
    }
    if (!gdnn_graph_pack_of(variant_pack, &pack) || !find_tensors(&fate, &pack, &data))
        return gdnn_forward(fate.dir, GDNN_REASON_VARIANT_PACK, &taker);
    return gdnn_take_route(fate.route, &data, pack.workspace, &taker);
}
