#include "graph_program.h"
#include "problem.h"
#include "unit.h"

enum { AXES = 6 };

typedef struct builder {
    const gdnn_conv *conv;
    bool group_axis;
    int nodes;
    descriptor node[4];
    descriptor last; /* what the node before writes */
} builder;

void expect_status(int wanted, int status, const char *call, const char *file, int line)
{
    char text[256] = "";
    if (status == wanted)
        return;
    cudnnGetLastErrorString(text, sizeof text);
    print_error("%s: %d (%s), not %d\n", call, status, text, wanted);
    _fail(file, line);
}

descriptor make(cudnnBackendDescriptorType_t type)
{
    descriptor made = NULL;
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendCreateDescriptor(type, &made));
    return made;
}

void destroy(descriptor it)
{
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendDestroyDescriptor(it));
}

static cudnnDataType_t type_of(gdnn_dtype type)
{
    switch (type) {
    case GDNN_F16: return CUDNN_DATA_HALF;
    case GDNN_BF16: return CUDNN_DATA_BFLOAT16;
    case GDNN_F64: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
    }
}

static cudnnDataType_t sums_of(const builder *b)
{
    return b->conv->dtype == GDNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

/* Splits axis `at` of a tensor into groups and the rest of it. */
static int split(const builder *b, int dims, int at, int64_t *size, int64_t *stride)
{
    if (!b->group_axis)
        return dims;
    memmove(size + at + 1, size + at, (size_t)(dims - at) * sizeof *size);
    memmove(stride + at + 1, stride + at, (size_t)(dims - at) * sizeof *stride);
    size[at] = b->conv->groups;
    size[at + 1] /= b->conv->groups;
    stride[at] = size[at + 1] * stride[at + 1];
    return dims + 1;
}

static descriptor make_tensor(const builder *b, int64_t uid, cudnnDataType_t type,
                              const int64_t *sizes, const int64_t *strides)
{
    const int64_t alignment = 16;
    const bool is_virtual = uid < 'a';
    int64_t size[AXES], stride[AXES];
    int dims = gdnn_dims(b->conv);
    memcpy(size, sizes, (size_t)dims * sizeof *size);
    memcpy(stride, strides, (size_t)dims * sizeof *stride);
    dims = split(b, dims, uid == UID_W ? 0 : 1, size, stride);
    descriptor made = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    SET(made, TENSOR_DATA_TYPE, DATA_TYPE, 1, &type);
    SET(made, TENSOR_DIMENSIONS, INT64, dims, size);
    SET(made, TENSOR_STRIDES, INT64, dims, stride);
    SET(made, TENSOR_UNIQUE_ID, INT64, 1, &uid);
    SET(made, TENSOR_BYTE_ALIGNMENT, INT64, 1, &alignment);
    SET(made, TENSOR_IS_VIRTUAL, BOOLEAN, 1, &is_virtual);
    FINALIZE(made);
    return made;
}

static descriptor make_role(const builder *b, int64_t uid, gdnn_role role, const int64_t *stride)
{
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(b->conv, role, size);
    return make_tensor(b, uid, type_of(b->conv->dtype), size, stride);
}

/* What node number `node` writes: y if it is the last. */
static descriptor make_output(const builder *b, int node)
{
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(b->conv, GDNN_ROLE_Y, size);
    if (node == b->nodes - 1)
        return make_role(b, UID_Y, GDNN_ROLE_Y, b->conv->y_stride);
    return make_tensor(b, UID_VIRTUAL + node, sums_of(b), size, b->conv->y_stride);
}

static void set_scale(const builder *b, descriptor it, cudnnBackendAttributeName_t name,
                      double value)
{
    const float single = (float)value;
    const bool is_double = b->conv->dtype == GDNN_F64;
    EXPECT(CUDNN_STATUS_SUCCESS,
           cudnnBackendSetAttribute(it, name, is_double ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT, 1,
                                    is_double ? (const void *)&value : &single));
}

static descriptor describe_convolution(const builder *b)
{
    const gdnn_conv *conv = b->conv;
    const int64_t axes = conv->spatial;
    const cudnnDataType_t sums = sums_of(b);
    const cudnnConvolutionMode_t mode =
        conv->mode == GDNN_CONV ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    descriptor made = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    SET(made, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, &sums);
    SET(made, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, &mode);
    SET(made, CONVOLUTION_SPATIAL_DIMS, INT64, 1, &axes);
    SET(made, CONVOLUTION_PRE_PADDINGS, INT64, axes, conv->pad);
    SET(made, CONVOLUTION_POST_PADDINGS, INT64, axes, conv->pad_after);
    SET(made, CONVOLUTION_DILATIONS, INT64, axes, conv->dilation);
    SET(made, CONVOLUTION_FILTER_STRIDES, INT64, axes, conv->stride);
    FINALIZE(made);
    return made;
}

#define SET_ONE(it, ATTRIBUTE, value) SET(it, ATTRIBUTE, BACKEND_DESCRIPTOR, 1, &(value))
#define CONVOLUTION(DIRECTION, X, W, Y)                                                            \
    SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_##X, x);                                     \
    SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_##W, w);                                     \
    SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_##Y, b->last);                               \
    SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_CONV_DESC, convolution);                     \
    set_scale(b, made, CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_ALPHA, b->conv->alpha);      \
    set_scale(b, made, CUDNN_ATTR_OPERATION_CONVOLUTION_##DIRECTION##_BETA, b->conv->beta)

static void add_convolution(builder *b)
{
    descriptor x = make_role(b, UID_X, GDNN_ROLE_X, b->conv->x_stride), made = NULL;
    descriptor w = make_role(b, UID_W, GDNN_ROLE_W, b->conv->w_stride);
    descriptor convolution = describe_convolution(b);
    b->last = make_output(b, 0);
    switch (b->conv->dir) {
    case GDNN_FWD:
        made = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
        CONVOLUTION(FORWARD, X, W, Y);
        break;
    case GDNN_BWD_DATA:
        made = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
        CONVOLUTION(BWD_DATA, DX, W, DY);
        break;
    case GDNN_BWD_FILTER:
        made = make(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
        CONVOLUTION(BWD_FILTER, X, DW, DY);
        break;
    }
    FINALIZE(made);
    b->node[0] = made;
    destroy(x);
    destroy(w);
    destroy(convolution);
}

/* On what the node before writes; with `other` unless that is NULL, which is destroyed. */
static void add_pointwise(builder *b, int node, cudnnPointwiseMode_t mode, descriptor other,
                          double alpha2)
{
    const cudnnDataType_t sums = sums_of(b);
    descriptor pointwise = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), output = make_output(b, node);
    SET(pointwise, POINTWISE_MODE, POINTWISE_MODE, 1, &mode);
    SET(pointwise, POINTWISE_MATH_PREC, DATA_TYPE, 1, &sums);
    FINALIZE(pointwise);
    descriptor made = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    SET_ONE(made, OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
    SET_ONE(made, OPERATION_POINTWISE_XDESC, b->last);
    SET_ONE(made, OPERATION_POINTWISE_YDESC, output);
    if (other) {
        SET_ONE(made, OPERATION_POINTWISE_BDESC, other);
        set_scale(b, made, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, alpha2);
        destroy(other);
    }
    FINALIZE(made);
    destroy(pointwise);
    destroy(b->last);
    b->last = output;
    b->node[node] = made;
}

static descriptor make_bias(const builder *b)
{
    const int64_t k = b->conv->k, size[] = {1, k, 1, 1, 1}, stride[] = {k, 1, k, k, k};
    return make_tensor(b, UID_BIAS, type_of(b->conv->dtype), size, stride);
}

descriptor make_graph(cudnnHandle_t handle, const gdnn_conv *conv, bool group_axis,
                      cudnnPointwiseMode_t activation)
{
    builder b = {.conv = conv, .group_axis = group_axis};
    int node = 0;
    b.nodes = 1 + conv->z + conv->bias + (conv->act == GDNN_ACT_RELU);
    add_convolution(&b);
    if (conv->z)
        add_pointwise(&b, ++node, CUDNN_POINTWISE_ADD,
                      make_role(&b, UID_Z, GDNN_ROLE_Y, conv->z_stride), conv->alpha2);
    if (conv->bias)
        add_pointwise(&b, ++node, CUDNN_POINTWISE_ADD, make_bias(&b), 1);
    if (conv->act == GDNN_ACT_RELU)
        add_pointwise(&b, ++node, activation, NULL, 1);
    descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    SET(graph, OPERATIONGRAPH_HANDLE, HANDLE, 1, &handle);
    SET(graph, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, b.nodes, b.node);
    FINALIZE(graph);
    destroy(b.last);
    for (int i = 0; i < b.nodes; i++)
        destroy(b.node[i]);
    return graph;
}

static bool plans(descriptor config, int64_t workspace)
{
    descriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    SET_ONE(plan, EXECUTION_PLAN_ENGINE_CONFIG, config);
    const bool done =
        cudnnBackendFinalize(plan) == CUDNN_STATUS_SUCCESS && workspace_size(plan) >= workspace;
    destroy(plan);
    return done;
}

descriptor make_config(descriptor graph, int64_t workspace)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    enum { MOST = 16 };
    descriptor config[MOST], found = NULL;
    for (int mode = 0; mode < 2 && !found; mode++) {
        int64_t count = 0;
        descriptor heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        SET_ONE(heuristics, ENGINEHEUR_OPERATION_GRAPH, graph);
        SET(heuristics, ENGINEHEUR_MODE, HEUR_MODE, 1, &modes[mode]);
        FINALIZE(heuristics);
        for (int i = 0; i < MOST; i++)
            config[i] = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        GET(heuristics, ENGINEHEUR_RESULTS, BACKEND_DESCRIPTOR, MOST, &count, config);
        for (int i = 0; i < MOST; i++) {
            if (!found && i < count && plans(config[i], workspace))
                found = config[i];
            else
                destroy(config[i]);
        }
        destroy(heuristics);
    }
    assert_non_null(found);
    return found;
}

descriptor make_plan(cudnnHandle_t handle, descriptor config)
{
    descriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    SET(plan, EXECUTION_PLAN_HANDLE, HANDLE, 1, &handle);
    SET_ONE(plan, EXECUTION_PLAN_ENGINE_CONFIG, config);
    FINALIZE(plan);
    return plan;
}

static descriptor engine_of(descriptor config)
{
    int64_t one = 0;
    descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    GET(config, ENGINECFG_ENGINE, BACKEND_DESCRIPTOR, 1, &one, &engine);
    return engine;
}

descriptor graph_of(descriptor config)
{
    int64_t one = 0;
    descriptor engine = engine_of(config), graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    GET(engine, ENGINE_OPERATION_GRAPH, BACKEND_DESCRIPTOR, 1, &one, &graph);
    destroy(engine);
    return graph;
}

descriptor make_plan_again(cudnnHandle_t handle, descriptor config)
{
    int64_t one = 0, number = -1;
    descriptor told = engine_of(config), graph = graph_of(config);
    GET(told, ENGINE_GLOBAL_INDEX, INT64, 1, &one, &number);
    descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    SET_ONE(engine, ENGINE_OPERATION_GRAPH, graph);
    SET(engine, ENGINE_GLOBAL_INDEX, INT64, 1, &number);
    FINALIZE(engine);
    descriptor again = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    SET_ONE(again, ENGINECFG_ENGINE, engine);
    FINALIZE(again);
    descriptor plan = make_plan(handle, again);
    destroy(told);
    destroy(graph);
    destroy(engine);
    destroy(again);
    return plan;
}

char *text_of(descriptor plan)
{
    int64_t length = 0;
    GET(plan, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, 0, &length, NULL);
    char *text = calloc((size_t)length + 1, 1);
    assert_non_null(text);
    GET(plan, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, length, &length, text);
    return text;
}

descriptor restore_plan(cudnnHandle_t handle, const char *text)
{
    descriptor restored = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    SET(restored, EXECUTION_PLAN_HANDLE, HANDLE, 1, &handle);
    SET(restored, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, (int64_t)strlen(text), text);
    FINALIZE(restored);
    return restored;
}

int64_t workspace_size(descriptor plan)
{
    int64_t bytes = -1;
    GET(plan, EXECUTION_PLAN_WORKSPACE_SIZE, INT64, 1, NULL, &bytes);
    return bytes;
}

descriptor make_pack(int64_t count, const int64_t *uids, void *const *pointers, void *workspace)
{
    descriptor pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    SET(pack, VARIANT_PACK_UNIQUE_IDS, INT64, count, uids);
    SET(pack, VARIANT_PACK_DATA_POINTERS, VOID_PTR, count, pointers);
    SET(pack, VARIANT_PACK_WORKSPACE, VOID_PTR, 1, &workspace);
    FINALIZE(pack);
    return pack;
}
