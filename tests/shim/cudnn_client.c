#include "cudnn_client.h"
#include "device.h"
#include "half.h"
#include "launch.h"
#include "problem.h"
#include <math.h>

static void *pointer(CUdeviceptr memory)
{
    return (void *)(uintptr_t)memory;
}

gdnn_tensors program_tensors(const program *p)
{
    return (gdnn_tensors){
        pointer(p->memory[TENSOR_X]), pointer(p->memory[TENSOR_W]), pointer(p->memory[TENSOR_Y]),
        pointer(p->memory[p->in_place ? TENSOR_Y : TENSOR_Z]), pointer(p->memory[TENSOR_BIAS])};
}

/* Copies values of one tensor into fresh memory; gaps hold 0xa5. */
static void upload(program *p, tensor_name name)
{
    const size_t bytes = tensor_bytes(&p->data.shape[name]);
    void *image = malloc(bytes);
    memset(image, 0xa5, bytes);
    tensor_scatter(&p->data.shape[name], p->data.values[name], image);
    CHECK(!cu->cuMemAlloc(&p->memory[name], bytes));
    CHECK(!cu->cuMemcpyHtoDAsync(p->memory[name], image, bytes, p->stream));
    CHECK(!cu->cuStreamSynchronize(p->stream));
    free(image);
}

static gdnn_route route_of(const gdnn_conv *conv)
{
    gdnn_route route = {.key = {.conv = *conv, .algo = 1}, .evidence = "none"};
    gdnn_options options = forced();
    gdnn_device device;
    CHECK(gdnn_device_current(&device) == GDNN_OK);
    gdnn_decision decision = gdnn_decide(conv, 0, &device, &options);
    CHECK(decision.reason == GDNN_REASON_TAKEN);
    route.shape = decision.launch;
    gdnn_launch_args(&route.shape, conv, &route.args);
    CHECK(gdnn_load(&route.shape, &route.functions, &route.reason) == GDNN_OK);
    return route;
}

program program_of(const char *text)
{
    program p = {.data = results_of(text)};
    p.route = route_of(&p.data.conv);
    CHECK(!cu->cuStreamCreate(&p.stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < TENSORS; i++)
        upload(&p, (tensor_name)i);
    p.image = malloc(tensor_bytes(&p.data.shape[p.data.written]));
    return p;
}

void program_end(program *p)
{
    for (int i = 0; i < TENSORS; i++)
        CHECK(!cu->cuMemFree(p->memory[i]));
    CHECK(!cu->cuStreamDestroy(p->stream));
    free(p->image);
    results_free(&p->data);
}

/* `y`, right until now, gets the fault. */
static void spoil(const program *p, double *y)
{
    const int64_t count = p->data.count, at = count / 3;
    const double old = y[at];
    switch (p->fault) {
    case ONE_WRONG: y[at] = gdnn_round_to(p->data.conv.dtype, old + 1); break;
    case ONE_SLIGHTLY_WRONG: y[at] = gdnn_round_to(p->data.conv.dtype, old + 1e-3); break;
    case ONE_NAN: y[at] = NAN; break;
    case CHANNELS_SWAPPED:
        for (int64_t i = 0; i + 64 < count; i += 128)
            for (int64_t j = i; j < i + 64 && j + 64 < count; j++) {
                const double first = y[j];
                y[j] = y[j + 64];
                y[j + 64] = first;
            }
        break;
    case ALL_ZERO: memset(y, 0, (size_t)count * sizeof *y); break;
    default: break;
    }
}

cudnnStatus_t program_cudnn(void *context)
{
    program *p = context;
    const tensor *shape = &p->data.shape[p->data.written];
    const size_t bytes = tensor_bytes(shape);
    const CUdeviceptr target = p->memory[p->data.written];
    results changed = p->data;
    p->calls++;
    if (p->status != CUDNN_STATUS_SUCCESS)
        return p->status;
    if (p->fault == NO_PRIOR)
        changed.conv.beta = changed.conv.alpha2 = 0;
    if (p->in_place)
        changed.values[TENSOR_Z] = changed.values[TENSOR_Y];
    double *y = results_compute(&changed, p->data.conv.dtype == GDNN_F64 ? EXACT : CHAIN, 0);
    spoil(p, y);
    CHECK(!cu->cuMemcpyDtoHAsync(p->image, target, bytes, p->stream));
    CHECK(!cu->cuStreamSynchronize(p->stream));
    tensor_scatter(shape, y, p->image);
    CHECK(!cu->cuMemcpyHtoDAsync(target, p->image, bytes, p->stream));
    free(y);
    return CUDNN_STATUS_SUCCESS;
}

void program_kept(const program *p)
{
    const tensor *shape = &p->data.shape[p->data.written];
    const size_t bytes = tensor_bytes(shape);
    char *found = malloc(bytes), *gaps = malloc(bytes), *wanted = malloc(bytes);
    CHECK(!cu->cuMemcpyDtoHAsync(found, p->memory[p->data.written], bytes, p->stream));
    CHECK(!cu->cuStreamSynchronize(p->stream));
    CHECK(!memcmp(found, p->image, bytes));
    memset(wanted, 0xa5, bytes);
    memcpy(gaps, found, bytes);
    tensor_erase(shape, gaps);
    tensor_erase(shape, wanted);
    CHECK(!memcmp(gaps, wanted, bytes));
    free(found);
    free(gaps);
    free(wanted);
}

gdnn_fake_counts double_counts(void)
{
    gdnn_fake_counts now;
    void (*counters)(gdnn_fake_counts *) = NULL;
    *(void **)&counters = double_symbol("gdnn_fake_counters");
    counters(&now);
    return now;
}
