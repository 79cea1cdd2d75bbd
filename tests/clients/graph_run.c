#include "graph_run.h"
#include "device.h"
#include "half.h"
#include "number.h"
#include "report.h"
#include <string.h>

/* Of an element in memory, from its number in logical order. */
static size_t place(const graph_tensor *tensor, int64_t number)
{
    int64_t at = 0;
    for (int axis = tensor->axes - 1; axis >= 0; axis--) {
        at += number % tensor->size[axis] * tensor->stride[axis];
        number /= tensor->size[axis];
    }
    return (size_t)at;
}

static size_t span(const graph_tensor *tensor)
{
    int64_t last = 0;
    for (int axis = 0; axis < tensor->axes; axis++)
        last += (tensor->size[axis] - 1) * tensor->stride[axis];
    return (size_t)last + 1;
}

/* As PyTorch gives z where it is not read, and ONNX Runtime where it is laid out like y. */
static bool z_is_y(const graph_run *run)
{
    const gdnn_conv *conv = &run->data.conv;
    switch (run->style.z_in_y) {
    case Z_APART: break;
    case Z_IN_Y_IF_UNREAD: return conv->z && conv->alpha2 == 0;
    case Z_IN_Y_IF_ALIKE:
        return conv->z && memcmp(conv->y_stride, conv->z_stride, sizeof conv->y_stride) == 0;
    }
    return false;
}

/* What a tensor holds before an execution. */
static const double *values_of(const graph_run *run, graph_role role)
{
    return run->data.values[role == GRAPH_Y && z_is_y(run) ? GRAPH_Z : role];
}

static void make_memory(graph_run *run, graph_memory memory[GRAPH_ROLES], size_t alignment)
{
    const gdnn_dtype dtype = run->data.conv.dtype;
    const size_t width = number_size(graph_data_type(dtype));
    for (graph_role role = 0; role < GRAPH_ROLES; role++) {
        const graph_tensor *tensor = &run->tensor[role];
        const double *values = values_of(run, role);
        if (run->data.elements[role] == 0 || (role == GRAPH_Z && z_is_y(run)))
            continue;
        graph_memory_make(&memory[role], span(tensor) * width, alignment);
        for (int64_t i = 0; values && i < run->data.elements[role]; i++)
            gdnn_encode(dtype, values + i,
                        graph_memory_sent(&memory[role]) + place(tensor, i) * width, 1);
    }
}

/* Which tensor a letter of graph_style.pack means. */
static graph_role role_of(char letter)
{
    static const char letters[] = "xwyzb";
    return (graph_role)(strchr(letters, letter) - letters);
}

static bool set_workspace(const graph_descriptor *pack, void *workspace)
{
    return GRAPH_SET(pack, VARIANT_PACK_WORKSPACE, VOID_PTR, 1, &workspace);
}

static bool make_pack(const graph_run *run, const graph_arguments *arguments,
                      graph_descriptor *pack)
{
    const bool first = run->style.workspace_first;
    return GRAPH_CREATE(pack, VARIANT_PACK) &&
           (!first || set_workspace(pack, arguments->workspace)) &&
           GRAPH_SET(pack, VARIANT_PACK_DATA_POINTERS, VOID_PTR, arguments->count,
                     arguments->pointer) &&
           GRAPH_SET(pack, VARIANT_PACK_UNIQUE_IDS, INT64, arguments->count, arguments->uid) &&
           (first || set_workspace(pack, arguments->workspace)) && graph_finalize(pack);
}

static cudnnStatus_t execute(const graph_run *run, const graph_plan *plan,
                             const graph_arguments *arguments)
{
    graph_descriptor pack = {0};
    cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM;
    if (make_pack(run, arguments, &pack))
        status = graph_execute(run->handle, &plan->plan, &pack);
    graph_destroy(&pack);
    return status;
}

static graph_arguments arguments_of(const graph_run *run, const graph_memory memory[GRAPH_ROLES],
                                    void *workspace)
{
    graph_arguments made = {.workspace = workspace};
    for (const char *letter = run->style.pack; *letter; letter++) {
        const graph_role role = role_of(*letter);
        if (run->data.elements[role] == 0)
            continue;
        made.pointer[made.count] =
            graph_memory_there(&memory[role == GRAPH_Z && z_is_y(run) ? GRAPH_Y : role]);
        made.uid[made.count++] = run->tensor[role].uid;
    }
    return made;
}

void graph_run_begin(graph_run *run, const gdnn_conv *conv, const graph_style *style,
                     cudnnHandle_t handle)
{
    *run = (graph_run){.style = *style, .handle = handle, .execute = execute};
    gdnn_conv planned = *conv;
    graph_add_axis(&planned, style);
    graph_data_make(&run->data, conv);
    run->tensor[GRAPH_X] = graph_tensor_x(&planned, style);
    run->tensor[GRAPH_W] = graph_tensor_w(&planned, style);
    run->tensor[GRAPH_Y] = graph_tensor_y(&planned, style);
    run->tensor[GRAPH_Z] = graph_tensor_z(&planned, style);
    run->tensor[GRAPH_BIAS] = graph_tensor_bias(&planned, style);
    /* As little aligned as the graph promises, and better. */
    make_memory(run, run->memory[0], (size_t)style->alignment);
    make_memory(run, run->memory[1], 256);
    graph_run_change_stream(run);
}

void graph_run_end(graph_run *run)
{
    for (graph_role role = 0; role < GRAPH_ROLES; role++) {
        graph_memory_free(&run->memory[0][role]);
        graph_memory_free(&run->memory[1][role]);
    }
    if (run->stream)
        device_stream_free(run->stream);
    graph_data_free(&run->data);
}

void graph_run_change_stream(graph_run *run)
{
    cudaStream_t old = run->stream;
    run->stream = device_stream();
    CALL("a stream", cudnnSetStream(run->handle, run->stream));
    if (old)
        device_stream_free(old);
}

/* Takes out the written tensor's elements. True if nothing else of it has changed. */
static bool take_result(graph_run *run, graph_memory *memory)
{
    const gdnn_dtype dtype = run->data.conv.dtype;
    const size_t width = number_size(graph_data_type(dtype));
    const graph_tensor *tensor = &run->tensor[run->data.written];
    unsigned char *sent = graph_memory_sent(memory), *read = graph_memory_read(memory);
    for (int64_t i = 0; i < run->data.elements[run->data.written]; i++) {
        const size_t at = place(tensor, i) * width;
        gdnn_decode(dtype, read + at, &run->data.result[i], 1);
        memcpy(read + at, sent + at, width);
    }
    return graph_memory_kept(memory);
}

/* FNV-1a of the result's values. */
static unsigned long long bits_of(const graph_data *data)
{
    const unsigned char *bytes = (const unsigned char *)data->result;
    unsigned long long hash = 14695981039346656037ULL;
    for (size_t i = 0; i < (size_t)data->elements[data->written] * sizeof(double); i++)
        hash = (hash ^ bytes[i]) * 1099511628211ULL;
    return hash;
}

/* What is wrong with the memory besides the result; NULL: nothing. */
static const char *damage(graph_run *run, graph_memory memory[GRAPH_ROLES], graph_memory *workspace,
                          bool executed)
{
    static const char *const changed[] = {"x changed", "w changed", "y changed", "z changed",
                                          "bias changed"};
    const char *found = NULL;
    for (graph_role role = 0; role < GRAPH_ROLES; role++) {
        graph_memory_receive(&memory[role], run->stream);
        const bool kept = executed && role == run->data.written ? take_result(run, &memory[role])
                                                                : graph_memory_kept(&memory[role]);
        if (!kept)
            found = changed[role];
    }
    graph_memory_receive(workspace, run->stream);
    return graph_memory_guarded(workspace) ? found : "written outside of the workspace";
}

static void look(graph_run *run, const graph_plan *plan, graph_memory memory[GRAPH_ROLES],
                 graph_memory *workspace, cudnnStatus_t status)
{
    const bool executed = status == CUDNN_STATUS_SUCCESS;
    const char *damaged = damage(run, memory, workspace, executed);
    double worst = 0;
    const bool right =
        !executed ||
        graph_data_right(&run->data, plan->tensor_core && run->data.conv.dtype == GDNN_F32, &worst);
    run->wrong += damaged || !right;
    if (executed)
        remark("ran %s: %d result=%s bits=%016llx worst=%.3g", plan->tag, (int)status,
               damaged ? damaged
               : right ? "ok"
                       : "WRONG",
               bits_of(&run->data), worst);
    else
        remark("ran %s: %d untouched=%s", plan->tag, (int)status, damaged ? damaged : "ok");
}

bool graph_run_plan(graph_run *run, const graph_plan *plan)
{
    graph_memory *memory = run->memory[run->executions++ % 2];
    graph_memory workspace = {0};
    for (graph_role role = 0; role < GRAPH_ROLES; role++)
        graph_memory_send(&memory[role]);
    if (plan->workspace > 0)
        graph_memory_make(&workspace, (size_t)plan->workspace, 256);
    graph_memory_send(&workspace);
    const graph_arguments arguments = arguments_of(run, memory, graph_memory_there(&workspace));
    const cudnnStatus_t status = run->execute(run, plan, &arguments);
    look(run, plan, memory, &workspace, status);
    graph_memory_free(&workspace);
    return status == CUDNN_STATUS_SUCCESS;
}
