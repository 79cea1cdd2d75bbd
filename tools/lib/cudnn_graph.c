#include "cudnn_graph.h"

#include "error.h"
#include "problem.h"
#include <stdlib.h>

/* The names of the tensors in graph and variant pack, by role. */
static const int64_t uids[] = {'x', 'w', 'y'};

/* Engines that compute in a smaller type than the problem's. */
enum { NOTE_DOWN_CONVERT_INPUTS = 1, MOST_NOTES = 16 };

static gdnn_status create(const cudnn_graph *g, cudnnBackendDescriptorType_t type,
                          cudnnBackendDescriptor_t *made)
{
    *made = NULL;
    return cudnn_calls_check(g->calls, g->calls->cudnnBackendCreateDescriptor(type, made),
                             "cudnnBackendCreateDescriptor");
}

static void destroy(const cudnn_graph *g, cudnnBackendDescriptor_t descriptor)
{
    if (descriptor)
        g->calls->cudnnBackendDestroyDescriptor(descriptor);
}

/* Creates one that lives as long as the graph. */
static gdnn_status keep(cudnn_graph *g, cudnnBackendDescriptorType_t type,
                        cudnnBackendDescriptor_t *made)
{
    gdnn_status status = create(g, type, made);
    if (status == GDNN_OK)
        g->made[g->made_count++] = *made;
    return status;
}

/* What a descriptor is given. */
typedef struct attribute {
    cudnnBackendAttributeName_t name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    const void *values;
} attribute;

static gdnn_status set_all(const cudnn_graph *g, cudnnBackendDescriptor_t descriptor,
                           const attribute *list, int count)
{
    gdnn_status status = GDNN_OK;
    for (int i = 0; i < count && status == GDNN_OK; i++)
        status = cudnn_calls_check(g->calls,
                                   g->calls->cudnnBackendSetAttribute(descriptor, list[i].name,
                                                                      list[i].type, list[i].count,
                                                                      list[i].values),
                                   "cudnnBackendSetAttribute");
    return status == GDNN_OK
               ? cudnn_calls_check(g->calls, g->calls->cudnnBackendFinalize(descriptor),
                                   "cudnnBackendFinalize")
               : status;
}

#define SET(g, descriptor, ...)                                                                    \
    set_all(g, descriptor, (const attribute[]){__VA_ARGS__},                                       \
            sizeof((const attribute[]){__VA_ARGS__}) / sizeof(attribute))

static gdnn_status make_tensor(cudnn_graph *g, gdnn_role role, cudnnBackendDescriptor_t *made)
{
    int64_t size[GDNN_MAX_DIMS];
    const cudnnDataType_t type = cudnn_type_of(g->conv.dtype);
    const int64_t alignment = 16, dims = gdnn_dims(&g->conv);
    gdnn_sizes(&g->conv, role, size);
    gdnn_status status = keep(g, CUDNN_BACKEND_TENSOR_DESCRIPTOR, made);
    if (status != GDNN_OK)
        return status;
    return SET(g, *made, {CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type},
               {CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, size},
               {CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, dims, gdnn_strides(&g->conv, role)},
               {CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uids[role]},
               {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment});
}

static cudnnDataType_t arithmetic(const cudnn_graph *g)
{
    return g->conv.dtype == GDNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

static gdnn_status make_convolution(cudnn_graph *g, cudnnBackendDescriptor_t *made)
{
    const gdnn_conv *conv = &g->conv;
    const int64_t axes = conv->spatial;
    const cudnnDataType_t type = arithmetic(g);
    const cudnnConvolutionMode_t mode =
        conv->mode == GDNN_CONV ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    gdnn_status status = keep(g, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, made);
    if (status != GDNN_OK)
        return status;
    return SET(g, *made, {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type},
               {CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode},
               {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &axes},
               {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, axes, conv->pad},
               {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, axes, conv->pad_after},
               {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, axes, conv->dilation},
               {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, axes, conv->stride});
}

/* The node of a direction: the attributes have the same meaning and different names. */
#define NODE(TYPE, DIRECTION, X, W, Y)                                                             \
    {                                                                                              \
        CUDNN_BACKEND_OPERATION_CONVOLUTION_##TYPE##_DESCRIPTOR,                                   \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_ALPHA,                                  \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_BETA,                                   \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_CONV_DESC,                              \
        {                                                                                          \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_##X,                                    \
                CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_##W,                                \
                CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_##Y                                 \
        }                                                                                          \
    }
static const struct {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t alpha, beta, convolution, tensor[3];
} nodes[] = {
    [GDNN_FWD] = NODE(FORWARD, FORWARD, X, W, Y),
    [GDNN_BWD_DATA] = NODE(BACKWARD_DATA, BWD_DATA, DX, W, DY),
    [GDNN_BWD_FILTER] = NODE(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
};

static gdnn_status make_node(cudnn_graph *g, cudnnBackendDescriptor_t *made)
{
    const gdnn_conv *conv = &g->conv;
    const bool wide = arithmetic(g) == CUDNN_DATA_DOUBLE;
    const float alpha = (float)conv->alpha, beta = (float)conv->beta;
    const cudnnBackendAttributeType_t scale = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
    cudnnBackendDescriptor_t tensor[3], convolution;
    gdnn_status status = GDNN_OK;
    for (int role = 0; role < 3 && status == GDNN_OK; role++)
        status = make_tensor(g, (gdnn_role)role, &tensor[role]);
    if (status == GDNN_OK)
        status = make_convolution(g, &convolution);
    if (status == GDNN_OK)
        status = keep(g, nodes[conv->dir].type, made);
    if (status != GDNN_OK)
        return status;
    return SET(g, *made, {nodes[conv->dir].tensor[0], CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &tensor[0]},
               {nodes[conv->dir].tensor[1], CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &tensor[1]},
               {nodes[conv->dir].tensor[2], CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &tensor[2]},
               {nodes[conv->dir].convolution, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &convolution},
               {nodes[conv->dir].alpha, scale, 1, wide ? (const void *)&conv->alpha : &alpha},
               {nodes[conv->dir].beta, scale, 1, wide ? (const void *)&conv->beta : &beta});
}

static gdnn_status make_graph(cudnn_graph *g, cudnnBackendDescriptor_t *graph)
{
    cudnnBackendDescriptor_t node;
    gdnn_status status = make_node(g, &node);
    if (status == GDNN_OK)
        status = keep(g, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, graph);
    if (status != GDNN_OK)
        return status;
    return SET(g, *graph, {CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &node},
               {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->calls->handle});
}

/* True unless the engine rounds more than the problem permits. */
static bool is_exact(const cudnn_graph *g, cudnnBackendDescriptor_t config)
{
    const cudnn_calls *c = g->calls;
    cudnnBackendDescriptor_t engine;
    int notes[MOST_NOTES];
    int64_t one = 0, count = 0;
    if (create(g, CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) != GDNN_OK)
        return false;
    bool exact = c->cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one,
                                             &engine) == CUDNN_STATUS_SUCCESS &&
                 c->cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                             CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES, &count,
                                             notes) == CUDNN_STATUS_SUCCESS;
    const bool tf32 = g->conv.dtype != GDNN_F32 || g->conv.math == GDNN_MATH_TF32;
    for (int64_t i = 0; i < count && i < MOST_NOTES && exact; i++)
        exact = notes[i] != NOTE_DOWN_CONVERT_INPUTS &&
                (tf32 || notes[i] != CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    destroy(g, engine);
    return exact;
}

/* Adds the plan of a configuration, if there is one that fits. */
static void add_plan(cudnn_graph *g, cudnnBackendDescriptor_t config)
{
    cudnnBackendDescriptor_t plan;
    int64_t workspace = -1;
    if (!is_exact(g, config) ||
        create(g, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan) != GDNN_OK)
        return;
    gdnn_status status =
        SET(g, plan, {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->calls->handle},
            {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config});
    if (status == GDNN_OK &&
        g->calls->cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                           CUDNN_TYPE_INT64, 1, NULL,
                                           &workspace) == CUDNN_STATUS_SUCCESS &&
        workspace >= 0 && (uint64_t)workspace <= g->memory->workspace_bytes)
        g->plans[g->plan_count++] = plan;
    else
        destroy(g, plan);
}

/* The configurations that a mode names, up to as many as are looked at. */
static void ask(cudnn_graph *g, cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode)
{
    enum { LOOKED_AT = 3 * GRAPH_PLANS_A_MODE };
    cudnnBackendDescriptor_t heuristics, config[LOOKED_AT] = {NULL};
    int64_t count = 0;
    const int most = g->plan_count + GRAPH_PLANS_A_MODE;
    if (create(g, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics) != GDNN_OK)
        return;
    gdnn_status status =
        SET(g, heuristics,
            {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph},
            {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode});
    for (int i = 0; i < LOOKED_AT && status == GDNN_OK; i++)
        status = create(g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config[i]);
    if (status == GDNN_OK)
        status = cudnn_calls_check(g->calls,
                                   g->calls->cudnnBackendGetAttribute(
                                       heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, LOOKED_AT, &count, config),
                                   "cudnnBackendGetAttribute");
    for (int64_t i = 0; i < count && i < LOOKED_AT && status == GDNN_OK && g->plan_count < most;
         i++)
        add_plan(g, config[i]);
    for (int i = 0; i < LOOKED_AT; i++)
        destroy(g, config[i]);
    destroy(g, heuristics);
}

static gdnn_status make_pack(const cudnn_graph *g, int copy, cudnnBackendDescriptor_t *made)
{
    const gdnn_tensors t = rotation_tensors(g->memory, copy);
    void *const pointers[] = {t.x, t.w, t.y};
    void *const workspace = rotation_workspace(g->memory);
    gdnn_status status = create(g, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, made);
    if (status != GDNN_OK)
        return status;
    return SET(g, *made, {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, uids},
               {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers},
               {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace});
}

static gdnn_status make_packs(cudnn_graph *g)
{
    g->packs = calloc((size_t)g->memory->copies, sizeof *g->packs);
    if (!g->packs)
        return gdnn_fail(GDNN_UNSUPPORTED, "out of memory");
    gdnn_status status = GDNN_OK;
    for (int i = 0; i < g->memory->copies && status == GDNN_OK; i++)
        status = make_pack(g, i, &g->packs[i]);
    return status;
}

gdnn_status cudnn_graph_open(cudnn_graph *g, const cudnn_calls *calls, const gdnn_conv *conv,
                             const rotation *memory)
{
    cudnnBackendDescriptor_t graph;
    *g = (cudnn_graph){.calls = calls, .memory = memory};
    gdnn_status status = cudnn_problem(conv, &g->conv);
    if (status == GDNN_OK)
        status = make_graph(g, &graph);
    if (status != GDNN_OK)
        return status;
    ask(g, graph, CUDNN_HEUR_MODE_A);
    ask(g, graph, CUDNN_HEUR_MODE_B);
    if (!g->plan_count)
        return gdnn_fail(GDNN_UNSUPPORTED, "cuDNN's heuristics name no plan that runs it");
    return make_packs(g);
}

gdnn_status cudnn_graph_enqueue(void *context, int copy)
{
    const cudnn_graph *g = context;
    const cudnn_calls *c = g->calls;
    return cudnn_calls_check(
        c, c->cudnnBackendExecute(c->handle, g->plans[g->plan], g->packs[copy % g->memory->copies]),
        "cudnnBackendExecute");
}

void cudnn_graph_close(cudnn_graph *g)
{
    for (int i = 0; i < g->plan_count; i++)
        destroy(g, g->plans[i]);
    for (int i = 0; g->packs && i < g->memory->copies; i++)
        destroy(g, g->packs[i]);
    while (g->made_count)
        destroy(g, g->made[--g->made_count]);
    free(g->packs);
    *g = (cudnn_graph){.calls = g->calls, .memory = g->memory};
}
