#include "real_graphs.h"
#include "../clients/gpus.h"
#include "graphs.h"
#include <dlfcn.h>

typedef cudnnBackendDescriptor_t descriptor;

static void *opened;
static descriptor properties;

void *gdnn_real(gdnn_api which)
{
    static const char *const names[] = {
#define GDNN_CUDNN(name, returns, way) [GDNN_API_##name] = #name,
#include "cudnn_api.def"
#undef GDNN_CUDNN
    };
    static void *found[GDNN_APIS];
    if (!found[which])
        found[which] = dlsym(opened, names[which]);
    assert_non_null(found[which]);
    return found[which];
}

descriptor real_create(cudnnBackendDescriptorType_t type)
{
    descriptor made = NULL;
    assert_int_equal(GDNN_REAL(cudnnBackendCreateDescriptor)(type, &made), CUDNN_STATUS_SUCCESS);
    return made;
}

void real_destroy(descriptor one)
{
    assert_int_equal(GDNN_REAL(cudnnBackendDestroyDescriptor)(one), CUDNN_STATUS_SUCCESS);
}

static void finalize(descriptor one)
{
    assert_int_equal(GDNN_REAL(cudnnBackendFinalize)(one), CUDNN_STATUS_SUCCESS);
}

static void set(descriptor at, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                int64_t count, const void *elements)
{
    assert_int_equal(GDNN_REAL(cudnnBackendSetAttribute)(at, name, type, count, elements),
                     CUDNN_STATUS_SUCCESS);
}

#define SET(at, NAME, TYPE, count, elements)                                                       \
    set(at, CUDNN_ATTR_##NAME, CUDNN_TYPE_##TYPE, count, elements)

void real_graphs_open(const char *path)
{
    char text[1024];
    opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        fail_msg("%s", dlerror());
    int length = gpu_properties("h200", text, sizeof text);
    assert_int_not_equal(length, 0);
    properties = real_create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    set(properties, (cudnnBackendAttributeName_t)2702, CUDNN_TYPE_CHAR, length, text);
    finalize(properties);
}

static descriptor tensor(const gdnn_graph_tensor *t)
{
    descriptor made = real_create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    SET(made, TENSOR_DATA_TYPE, DATA_TYPE, 1, &t->type);
    SET(made, TENSOR_DIMENSIONS, INT64, t->dims, t->size);
    SET(made, TENSOR_STRIDES, INT64, t->strides, t->stride);
    SET(made, TENSOR_UNIQUE_ID, INT64, 1, &t->uid);
    SET(made, TENSOR_BYTE_ALIGNMENT, INT64, 1, &t->alignment);
    finalize(made);
    return made;
}

static descriptor convolution(const gdnn_graph_convolution *c)
{
    descriptor made = real_create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    SET(made, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, &c->type);
    SET(made, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, &c->mode);
    SET(made, CONVOLUTION_SPATIAL_DIMS, INT64, 1, &c->spatial);
    SET(made, CONVOLUTION_PRE_PADDINGS, INT64, c->pads, c->pad);
    SET(made, CONVOLUTION_POST_PADDINGS, INT64, c->pads_after, c->pad_after);
    SET(made, CONVOLUTION_DILATIONS, INT64, c->dilations, c->dilation);
    SET(made, CONVOLUTION_FILTER_STRIDES, INT64, c->strides, c->stride);
    finalize(made);
    return made;
}

static const struct direction {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
} directions[] = {
#define DIRECTION(TYPE, NAME, X, W, Y)                                                             \
    {                                                                                              \
        CUDNN_BACKEND_OPERATION_CONVOLUTION_##TYPE##_DESCRIPTOR,                                   \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##NAME##_##X,                                         \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##NAME##_##W,                                         \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##NAME##_##Y,                                         \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##NAME##_CONV_DESC,                                   \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##NAME##_ALPHA,                                       \
            CUDNN_ATTR_OPERATION_CONVOLUTION_##NAME##_BETA                                         \
    }
    [GDNN_GRAPH_FORWARD] = DIRECTION(FORWARD, FORWARD, X, W, Y),
    [GDNN_GRAPH_BWD_DATA] = DIRECTION(BACKWARD_DATA, BWD_DATA, DX, W, DY),
    [GDNN_GRAPH_BWD_FILTER] = DIRECTION(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
#undef DIRECTION
};

descriptor real_graph(const gdnn_conv *conv)
{
    const gdnn_graph graph = graph_of(conv, (graph_style){0});
    const gdnn_graph_node *node = graph.node;
    const struct direction *to = &directions[node->kind];
    const float alpha = (float)node->alpha, beta = (float)node->beta;
    assert_int_equal(graph.nodes, 1);
    descriptor parts[] = {tensor(&node->x), tensor(&node->w), tensor(&node->y),
                          convolution(&node->convolution)};
    descriptor operation = real_create(to->type);
    set(operation, to->x, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &parts[0]);
    set(operation, to->w, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &parts[1]);
    set(operation, to->y, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &parts[2]);
    set(operation, to->convolution, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &parts[3]);
    set(operation, to->alpha, CUDNN_TYPE_FLOAT, 1, &alpha);
    set(operation, to->beta, CUDNN_TYPE_FLOAT, 1, &beta);
    finalize(operation);
    descriptor made = real_create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    SET(made, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, 1, &operation);
    finalize(made);
    real_destroy(operation);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        real_destroy(parts[i]);
    return made;
}

descriptor real_heuristics(descriptor graph, cudnnBackendHeurMode_t mode)
{
    descriptor made = real_create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    SET(made, ENGINEHEUR_OPERATION_GRAPH, BACKEND_DESCRIPTOR, 1, &graph);
    SET(made, ENGINEHEUR_MODE, HEUR_MODE, 1, &mode);
    SET(made, ENGINEHEUR_DEVICEPROP, BACKEND_DESCRIPTOR, 1, &properties);
    finalize(made);
    return made;
}

cudnnStatus_t real_plan(descriptor config, descriptor *plan)
{
    *plan = real_create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    SET(*plan, EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR, 1, &config);
    SET(*plan, EXECUTION_PLAN_DEVICEPROP, BACKEND_DESCRIPTOR, 1, &properties);
    return GDNN_REAL(cudnnBackendFinalize)(*plan);
}
