#include "graph_build.h"
#include "graph_tensor.h"

enum { MOST_NODES = 4 };

typedef struct builder {
    gdnn_conv conv;
    const graph_style *style;
    cudnnDataType_t arithmetic;
    int nodes;
    cudnnBackendDescriptor_t node[MOST_NODES];
    graph_descriptor operation[MOST_NODES];
    /* What each operation writes: between two of them a virtual tensor, at last y. */
    graph_descriptor output[MOST_NODES];
} builder;

static bool make_convolution(const builder *b, graph_descriptor *made)
{
    const gdnn_conv *conv = &b->conv;
    const int64_t spatial = conv->spatial;
    const cudnnConvolutionMode_t mode =
        conv->mode == GDNN_CONV ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    return GRAPH_CREATE(made, CONVOLUTION) &&
           GRAPH_SET(made, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, &b->arithmetic) &&
           GRAPH_SET(made, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, &mode) &&
           GRAPH_SET(made, CONVOLUTION_SPATIAL_DIMS, INT64, 1, &spatial) &&
           GRAPH_SET(made, CONVOLUTION_PRE_PADDINGS, INT64, spatial, conv->pad) &&
           GRAPH_SET(made, CONVOLUTION_POST_PADDINGS, INT64, spatial, conv->pad_after) &&
           GRAPH_SET(made, CONVOLUTION_DILATIONS, INT64, spatial, conv->dilation) &&
           GRAPH_SET(made, CONVOLUTION_FILTER_STRIDES, INT64, spatial, conv->stride) &&
           graph_finalize(made);
}

/* alpha or beta, in the type that the framework gives. */
#define SET_SCALE(b, made, ATTRIBUTE, value)                                                       \
    ((b)->arithmetic == CUDNN_DATA_DOUBLE && !(b)->style->float_scale                              \
         ? GRAPH_SET(made, ATTRIBUTE, DOUBLE, 1, &(double){value})                                 \
         : GRAPH_SET(made, ATTRIBUTE, FLOAT, 1, &(float){(float)(value)}))

#define MAKE_OPERATION(b, made, DIRECTION, X, W, Y, x, w, y, convolution, alpha)                   \
    (GRAPH_SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_##X, x) &&                            \
     GRAPH_SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_##W, w) &&                            \
     GRAPH_SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_##Y, y) &&                            \
     GRAPH_SET_ONE(made, OPERATION_CONVOLUTION_##DIRECTION##_CONV_DESC, convolution) &&            \
     SET_SCALE(b, made, OPERATION_CONVOLUTION_##DIRECTION##_ALPHA, alpha) &&                       \
     SET_SCALE(b, made, OPERATION_CONVOLUTION_##DIRECTION##_BETA, (b)->conv.beta))

static bool add_convolution(builder *b, const graph_descriptor *x, const graph_descriptor *w,
                            const graph_descriptor *convolution)
{
    graph_descriptor *made = &b->operation[0];
    const graph_descriptor *y = &b->output[0];
    const double alpha = b->style->scale_in_add && b->conv.z ? 1 : b->conv.alpha;
    switch (b->conv.dir) {
    case GDNN_FWD:
        return GRAPH_CREATE(made, OPERATION_CONVOLUTION_FORWARD) &&
               MAKE_OPERATION(b, made, FORWARD, X, W, Y, x, w, y, convolution, alpha);
    case GDNN_BWD_DATA:
        return GRAPH_CREATE(made, OPERATION_CONVOLUTION_BACKWARD_DATA) &&
               MAKE_OPERATION(b, made, BWD_DATA, DX, W, DY, x, w, y, convolution, alpha);
    case GDNN_BWD_FILTER:
        return GRAPH_CREATE(made, OPERATION_CONVOLUTION_BACKWARD_FILTER) &&
               MAKE_OPERATION(b, made, BWD_FILTER, X, DW, DY, x, w, y, convolution, alpha);
    }
    return false;
}

static bool make_output(builder *b, int node)
{
    const graph_tensor tensor = node == b->nodes - 1
                                    ? graph_tensor_y(&b->conv, b->style)
                                    : graph_tensor_between(&b->conv, b->style, node);
    return graph_tensor_create(&tensor, b->style, &b->output[node]);
}

static bool finalize_if(bool now, const graph_descriptor *descriptor)
{
    return !now || graph_finalize(descriptor);
}

static bool convolve(builder *b)
{
    const bool early = b->style->early;
    const graph_tensor tensor_x = graph_tensor_x(&b->conv, b->style);
    const graph_tensor tensor_w = graph_tensor_w(&b->conv, b->style);
    graph_descriptor x = {0}, w = {0}, convolution = {0};
    const bool made =
        graph_tensor_create(&tensor_x, b->style, &x) && make_output(b, 0) &&
        graph_tensor_create(&tensor_w, b->style, &w) && make_convolution(b, &convolution) &&
        add_convolution(b, &x, &w, &convolution) && finalize_if(!early, &b->operation[0]);
    graph_destroy(&x);
    graph_destroy(&w);
    graph_destroy(&convolution);
    return made && finalize_if(early, &b->operation[0]);
}

/* A pointwise operation on what the one before wrote, and on `other` unless that is NULL. */
static bool point(builder *b, int node, cudnnPointwiseMode_t mode, const graph_tensor *other,
                  double alpha1, double alpha2)
{
    graph_descriptor *made = &b->operation[node];
    const bool early = b->style->early;
    const graph_descriptor *from = &b->output[node - 1], *to = &b->output[node];
    graph_descriptor pointwise = {0}, operand = {0};
    const bool done = GRAPH_CREATE(&pointwise, POINTWISE) &&
                      GRAPH_SET(&pointwise, POINTWISE_MODE, POINTWISE_MODE, 1, &mode) &&
                      GRAPH_SET(&pointwise, POINTWISE_MATH_PREC, DATA_TYPE, 1, &b->arithmetic) &&
                      graph_finalize(&pointwise) &&
                      (!other || graph_tensor_create(other, b->style, &operand)) &&
                      make_output(b, node) && GRAPH_CREATE(made, OPERATION_POINTWISE) &&
                      GRAPH_SET_ONE(made, OPERATION_POINTWISE_PW_DESCRIPTOR, &pointwise) &&
                      GRAPH_SET_ONE(made, OPERATION_POINTWISE_XDESC, from) &&
                      GRAPH_SET_ONE(made, OPERATION_POINTWISE_YDESC, to) &&
                      SET_SCALE(b, made, OPERATION_POINTWISE_ALPHA1, alpha1) &&
                      (!other || (GRAPH_SET_ONE(made, OPERATION_POINTWISE_BDESC, &operand) &&
                                  SET_SCALE(b, made, OPERATION_POINTWISE_ALPHA2, alpha2))) &&
                      finalize_if(!early, made);
    graph_destroy(&pointwise);
    graph_destroy(&operand);
    return done && finalize_if(early, made);
}

static bool add_nodes(builder *b)
{
    int node = 0;
    if (!convolve(b))
        return false;
    if (b->conv.z) {
        const graph_tensor z = graph_tensor_z(&b->conv, b->style);
        const double alpha1 = b->style->scale_in_add ? b->conv.alpha : 1;
        if (!point(b, ++node, CUDNN_POINTWISE_ADD, &z, alpha1, b->conv.alpha2))
            return false;
    }
    if (b->conv.bias) {
        const graph_tensor bias = graph_tensor_bias(&b->conv, b->style);
        if (!point(b, ++node, CUDNN_POINTWISE_ADD, &bias, 1, 1))
            return false;
    }
    return b->conv.act == GDNN_ACT_NONE || point(b, ++node, CUDNN_POINTWISE_RELU_FWD, NULL, 1, 1);
}

static bool make_graph(builder *b, const graph_target *target, graph_descriptor *graph)
{
    for (int i = 0; i < b->nodes; i++)
        b->node[i] = b->operation[i].it;
    return GRAPH_CREATE(graph, OPERATIONGRAPH) &&
           GRAPH_SET(graph, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, b->nodes, b->node) &&
           (!target->handle || GRAPH_SET_HANDLE(graph, OPERATIONGRAPH, target));
}

bool graph_build(const gdnn_conv *conv, const graph_style *style, const graph_target *target,
                 graph_descriptor *graph)
{
    builder b = {.conv = *conv, .style = style};
    graph_add_axis(&b.conv, style);
    b.arithmetic = conv->dtype == GDNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    b.nodes = 1 + conv->z + conv->bias + (conv->act != GDNN_ACT_NONE);
    *graph = (graph_descriptor){0};
    bool made = add_nodes(&b) && make_graph(&b, target, graph) && finalize_if(!style->early, graph);
    for (int i = 0; i < b.nodes; i++) {
        graph_destroy(&b.operation[i]);
        graph_destroy(&b.output[i]);
    }
    made = made && finalize_if(style->early, graph);
    if (!made)
        graph_destroy(graph);
    return made;
}
