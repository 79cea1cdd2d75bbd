#include "graphs.h"
#include "graph_types.h"
#include "problem.h"
#include "unit.h"
#include <math.h>

static int64_t numbers(const char *text, int64_t *out, int most)
{
    int64_t count = 0;
    char *end;
    for (;; text = end) {
        long long value = strtoll(text, &end, 10);
        if (end == text)
            return count;
        assert_true(count < most);
        out[count++] = value;
    }
}

gdnn_graph_tensor graph_tensor(int64_t uid, int type, const char *sizes, const char *strides)
{
    gdnn_graph_tensor tensor = {.uid = uid, .type = type, .alignment = 16, .vector_count = 1};
    tensor.dims = numbers(sizes, tensor.size, GDNN_GRAPH_DIMS);
    tensor.strides = numbers(strides, tensor.stride, GDNN_GRAPH_DIMS);
    return tensor;
}

static void pack(gdnn_graph_tensor *tensor)
{
    int64_t step = 1;
    tensor->strides = tensor->dims;
    for (int64_t i = tensor->dims - 1; i >= 0; step *= tensor->size[i--])
        tensor->stride[i] = step;
}

gdnn_graph_tensor graph_virtual(int64_t uid, int type, const char *sizes)
{
    gdnn_graph_tensor tensor = graph_tensor(uid, type, sizes, "");
    pack(&tensor);
    tensor.is_virtual = true;
    return tensor;
}

gdnn_graph_convolution graph_convolution(int type, const char *pads, const char *pads_after,
                                         const char *strides, const char *dilations)
{
    gdnn_graph_convolution c = {.type = type, .mode = CUDNN_CROSS_CORRELATION};
    c.pads = c.spatial = numbers(pads, c.pad, GDNN_GRAPH_SPATIAL);
    c.pads_after = numbers(pads_after, c.pad_after, GDNN_GRAPH_SPATIAL);
    c.strides = numbers(strides, c.stride, GDNN_GRAPH_SPATIAL);
    c.dilations = numbers(dilations, c.dilation, GDNN_GRAPH_SPATIAL);
    return c;
}

gdnn_graph_node graph_convolve(gdnn_graph_kind kind, gdnn_graph_tensor x, gdnn_graph_tensor w,
                               gdnn_graph_tensor y, gdnn_graph_convolution convolution)
{
    return (gdnn_graph_node){.kind = kind,
                             .x = x,
                             .w = w,
                             .y = y,
                             .has_x = true,
                             .has_w = true,
                             .has_y = true,
                             .convolution = convolution,
                             .alpha = 1};
}

gdnn_graph_node graph_add(double alpha1, gdnn_graph_tensor x, double alpha2, gdnn_graph_tensor b,
                          gdnn_graph_tensor y)
{
    return (gdnn_graph_node){.kind = GDNN_GRAPH_POINTWISE,
                             .x = x,
                             .b = b,
                             .y = y,
                             .has_x = true,
                             .has_b = true,
                             .has_y = true,
                             .pointwise = {.mode = CUDNN_POINTWISE_ADD, .type = CUDNN_DATA_FLOAT},
                             .alpha = alpha1,
                             .beta = alpha2};
}

gdnn_graph_node graph_relu(gdnn_graph_tensor x, gdnn_graph_tensor y)
{
    return (gdnn_graph_node){.kind = GDNN_GRAPH_POINTWISE,
                             .x = x,
                             .y = y,
                             .has_x = true,
                             .has_y = true,
                             .pointwise = {.mode = CUDNN_POINTWISE_RELU_FWD,
                                           .type = CUDNN_DATA_FLOAT,
                                           .upper_clip = INFINITY},
                             .alpha = 1,
                             .beta = 1};
}

void graph_append(gdnn_graph *graph, gdnn_graph_node node)
{
    assert_true(graph->nodes < GDNN_GRAPH_NODES);
    graph->node[graph->nodes++] = node;
}

gdnn_graph graph_single(gdnn_graph_node node)
{
    gdnn_graph graph = {0};
    graph_append(&graph, node);
    return graph;
}

gdnn_graph graph_pytorch_fused(double alpha)
{
    gdnn_graph graph = {0};
    gdnn_graph_tensor conv = graph_virtual('C', CUDNN_DATA_FLOAT, "2 8 5 5"), add = conv,
                      bias = conv;
    add.uid = 'A';
    bias.uid = 'B';
    graph_append(&graph,
                 graph_convolve(GDNN_GRAPH_FORWARD,
                                graph_tensor('x', CUDNN_DATA_HALF, "2 16 5 5", "400 1 80 16"),
                                graph_tensor('w', CUDNN_DATA_HALF, "8 4 1 1", "4 1 1 1"), conv,
                                graph_convolution(CUDNN_DATA_FLOAT, "0 0", "0 0", "1 1", "1 1")));
    graph_append(&graph,
                 graph_add(1, conv, alpha,
                           graph_tensor('z', CUDNN_DATA_HALF, "2 8 5 5", "200 1 40 8"), add));
    graph_append(&graph, graph_add(1, add, 1,
                                   graph_tensor('b', CUDNN_DATA_HALF, "1 8 1 1", "8 1 8 8"), bias));
    graph_append(&graph,
                 graph_relu(bias, graph_tensor('y', CUDNN_DATA_HALF, "2 8 5 5", "200 1 40 8")));
    return graph;
}

/* Gives an axis of size 1 the product of the sizes that lie within it in a packed tensor, as PyTorch does. */
static void fix_ones(gdnn_graph_tensor *tensor, bool channels_last)
{
    int64_t dims = tensor->dims, step = 1;
    for (int64_t i = 0; i < dims; i++) {
        int64_t axis = dims - 1 - i; /* ... 2, 1, 0 */
        if (channels_last)
            axis = i == 0 ? 1 : axis > 0 ? axis + 1 : 0; /* 1, ... 2, 0 */
        if (tensor->size[axis] == 1)
            tensor->stride[axis] = step;
        else
            step *= tensor->size[axis];
    }
}

/* A tensor of the problem. Groups, where `at` is not negative, become an axis before axis `at`. */
static gdnn_graph_tensor spell(int64_t uid, int type, int dims, const int64_t *size,
                               const int64_t *stride, int at, int64_t groups, graph_style *style)
{
    gdnn_graph_tensor t = {.uid = uid, .type = type, .alignment = 32, .vector_count = 1};
    for (int i = 0; i < dims; i++) {
        if (i == at) {
            t.size[t.dims] = groups;
            t.stride[t.dims++] = stride[i] * (size[i] / groups);
        }
        t.size[t.dims] = i == at ? size[i] / groups : size[i];
        t.stride[t.dims++] = stride[i];
    }
    t.strides = t.dims;
    if (style->ones == ONES_RANDOM) {
        for (int i = 0; i < t.dims; i++)
            if (t.size[i] == 1)
                t.stride[i] = test_pick(&style->random, 0, 1000);
    } else if (style->ones != ONES_AS_GIVEN) {
        fix_ones(&t, style->ones == ONES_FIXED_NHWC);
    }
    return t;
}

static gdnn_graph_tensor between(int64_t uid, gdnn_graph_tensor like, int type)
{
    like.uid = uid;
    like.type = type;
    like.is_virtual = true;
    pack(&like);
    return like;
}

static gdnn_graph_node added(double alpha1, gdnn_graph_tensor x, double alpha2, gdnn_graph_tensor b,
                             gdnn_graph_tensor y, bool swapped)
{
    return swapped ? graph_add(alpha2, b, alpha1, x, y) : graph_add(alpha1, x, alpha2, b, y);
}

gdnn_graph graph_of(const gdnn_conv *conv, graph_style style)
{
    static const int types[] = {[GDNN_F16] = CUDNN_DATA_HALF,
                                [GDNN_BF16] = CUDNN_DATA_BFLOAT16,
                                [GDNN_F32] = CUDNN_DATA_FLOAT,
                                [GDNN_F64] = CUDNN_DATA_DOUBLE};
    static const gdnn_graph_kind kinds[] = {[GDNN_FWD] = GDNN_GRAPH_FORWARD,
                                            [GDNN_BWD_DATA] = GDNN_GRAPH_BWD_DATA,
                                            [GDNN_BWD_FILTER] = GDNN_GRAPH_BWD_FILTER};
    int type = types[conv->dtype], dims = gdnn_dims(conv), left = conv->z + conv->bias + conv->act;
    int64_t size[GDNN_MAX_DIMS], packed[GDNN_MAX_DIMS] = {1, 1, 1, 1, 1}, letter = 'A';
    gdnn_graph graph = {0};

    gdnn_sizes(conv, GDNN_ROLE_X, size);
    gdnn_graph_tensor x = spell('x', type, dims, size, conv->x_stride, style.grouped_x ? 1 : -1,
                                conv->groups, &style);
    gdnn_sizes(conv, GDNN_ROLE_W, size);
    gdnn_graph_tensor w = spell('w', type, dims, size, conv->w_stride, style.grouped_w ? 0 : -1,
                                conv->groups, &style);
    gdnn_sizes(conv, GDNN_ROLE_Y, size);
    gdnn_graph_tensor y = spell('y', type, dims, size, conv->y_stride, style.grouped_y ? 1 : -1,
                                conv->groups, &style);
    gdnn_graph_tensor z = spell('z', type, dims, size, conv->z_stride, style.grouped_z ? 1 : -1,
                                conv->groups, &style);
    int64_t bias_size[GDNN_MAX_DIMS] = {1, conv->k, 1, 1, 1};
    gdnn_graph_tensor bias = spell('b', type, dims, bias_size, packed, style.grouped_bias ? 1 : -1,
                                   conv->groups, &style);

    gdnn_graph_convolution c = {.spatial = conv->spatial,
                                .pads = conv->spatial,
                                .pads_after = conv->spatial,
                                .strides = conv->spatial,
                                .dilations = conv->spatial,
                                .type = types[conv->acc],
                                .mode = conv->mode == GDNN_CONV ? 0 : 1};
    for (int i = 0; i < conv->spatial; i++) {
        c.pad[i] = conv->pad[i];
        c.pad_after[i] = conv->pad_after[i];
        c.stride[i] = conv->stride[i];
        c.dilation[i] = conv->dilation[i];
    }

    bool later = style.scaled_later && conv->z + conv->bias && conv->alpha != 0;
    double carried = later ? conv->alpha : 1;
    gdnn_graph_tensor last = left ? between(letter++, y, style.virtual_type) : y, before;
    gdnn_graph_node node = graph_convolve(kinds[conv->dir], x, w, last, c);
    node.alpha = later ? 1 : conv->alpha;
    node.beta = conv->beta;
    graph_append(&graph, node);
    if (conv->z) {
        before = last;
        last = --left ? between(letter++, y, style.virtual_type) : y;
        graph_append(&graph, added(carried, before, conv->alpha2, z, last, style.swapped));
        carried = 1;
    }
    if (conv->bias) {
        before = last;
        last = --left ? between(letter++, y, style.virtual_type) : y;
        graph_append(&graph, added(carried, before, 1, bias, last, style.swapped));
    }
    if (conv->act)
        graph_append(&graph, graph_relu(last, y));

    for (int i = 1; i < graph.nodes; i++)
        if (conv->dtype == GDNN_F64)
            graph.node[i].pointwise.type = CUDNN_DATA_DOUBLE;
    for (int i = 0, j = (int)graph.nodes - 1; style.shuffled && i < j; i++, j--) {
        node = graph.node[i];
        graph.node[i] = graph.node[j];
        graph.node[j] = node;
    }
    return graph;
}

gdnn_graph_problem graph_read(const gdnn_graph *graph)
{
    gdnn_graph_problem problem;
    memset(&problem, 0xa5, sizeof problem);
    gdnn_reason reason = gdnn_graph_problem_read(graph, &problem);
    if (reason != GDNN_REASON_TAKEN)
        fail_msg("not read: %s", gdnn_reason_name(reason));
    return problem;
}

void assert_same_problem(const gdnn_conv *is, const gdnn_conv *wanted)
{
    char text[1024], wanted_text[1024];
    if (gdnn_conv_equal(is, wanted))
        return;
    gdnn_conv_format(is, text, sizeof text);
    gdnn_conv_format(wanted, wanted_text, sizeof wanted_text);
    fail_msg("read as\n  %s\nand is\n  %s", text, wanted_text);
}
