#include "graph_problem.h"
#include "data_type.h"
#include "graph_types.h"
#include "problem.h"
#include <float.h>
#include <string.h>

/* A graph while it is read. */
typedef struct reading {
    const gdnn_graph *graph;
    gdnn_graph_problem *problem;
    bool any_groups; /* also one */
    int uids;        /* how many different tensors were met, and which */
    int64_t uid[3 + 2 * GDNN_GRAPH_NODES];
} reading;

/* A tensor without a group axis: it is part of the channels (in w: of K). */
typedef struct ungrouped {
    int64_t groups; /* size of the axis; 0: there was none */
    int64_t size[GDNN_MAX_DIMS], stride[GDNN_MAX_DIMS];
} ungrouped;

/* Where the group axis is, if there is one. */
enum { GROUPS_OF_W = 0, GROUPS_OF_X_Y = 1 };

static bool tensor_known(bool has, const gdnn_graph_tensor *tensor)
{
    return !has || !tensor->unknown;
}

static bool node_known(const gdnn_graph_node *node)
{
    bool what =
        node->kind == GDNN_GRAPH_POINTWISE ? node->pointwise.unknown : node->convolution.unknown;
    return !node->unknown && !what && tensor_known(node->has_x, &node->x) &&
           tensor_known(node->has_w, &node->w) && tensor_known(node->has_y, &node->y) &&
           tensor_known(node->has_b, &node->b);
}

/* The index of the convolution; negative unless all others are pointwise operations and all is known. */
static int find_convolution(const gdnn_graph *graph)
{
    int found = -1;
    if (graph->unknown || graph->nodes > GDNN_GRAPH_NODES)
        return -1;
    for (int i = 0; i < graph->nodes; i++) {
        const gdnn_graph_node *node = &graph->node[i];
        if (!node_known(node))
            return -1;
        switch (node->kind) {
        case GDNN_GRAPH_FORWARD:
        case GDNN_GRAPH_BWD_DATA:
        case GDNN_GRAPH_BWD_FILTER:
            if (found >= 0 || !node->has_x || !node->has_w || !node->has_y)
                return -1;
            found = i;
            break;
        case GDNN_GRAPH_POINTWISE: break;
        default: return -1;
        }
    }
    return found;
}

/* Makes one axis of groups and channels of one group, at `at` and behind. */
static gdnn_reason join(const gdnn_graph_tensor *tensor, int at, ungrouped *plain)
{
    int64_t groups = tensor->size[at], channels = tensor->size[at + 1], step;
    if (__builtin_mul_overflow(groups, channels, &plain->size[at]))
        return GDNN_REASON_INVALID;
    if (channels == 1)
        plain->stride[at] = tensor->stride[at];
    else if (groups > 1 && (__builtin_mul_overflow(channels, tensor->stride[at + 1], &step) ||
                            tensor->stride[at] != step))
        return GDNN_REASON_FORMAT;
    return GDNN_REASON_TAKEN;
}

static gdnn_reason ungroup(const gdnn_graph_tensor *tensor, int spatial, int at, ungrouped *plain)
{
    int dims = spatial + 2;
    if (tensor->by_value || tensor->vector_count != 1 ||
        tensor->reordering != CUDNN_TENSOR_REORDERING_NONE)
        return GDNN_REASON_FORMAT;
    if (tensor->dims != tensor->strides || (tensor->dims != dims && tensor->dims != dims + 1))
        return GDNN_REASON_INVALID;
    for (int i = 0; i < tensor->dims; i++)
        if (tensor->size[i] < 1 || tensor->stride[i] < 0)
            return GDNN_REASON_INVALID;

    bool grouped = tensor->dims > dims;
    *plain = (ungrouped){.groups = grouped ? tensor->size[at] : 0};
    for (int i = 0; i < dims; i++) {
        int from = grouped && i >= at ? i + 1 : i;
        plain->size[i] = tensor->size[from];
        plain->stride[i] = tensor->stride[from];
    }
    return grouped ? join(tensor, at, plain) : GDNN_REASON_TAKEN;
}

/* Type of our sums, and of arithmetic after them. */
static gdnn_dtype sums_of(const gdnn_conv *conv)
{
    return conv->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
}

static bool has_type(int type, gdnn_dtype ours)
{
    gdnn_dtype found = GDNN_F32;
    return gdnn_our_type(type, &found) && found == ours;
}

static bool has_groups(const ungrouped *plain, const gdnn_conv *conv)
{
    return !plain->groups || plain->groups == conv->groups;
}

static bool has_sizes_of_y(const ungrouped *plain, const gdnn_conv *conv)
{
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(conv, GDNN_ROLE_Y, size);
    return has_groups(plain, conv) &&
           !memcmp(size, plain->size, (size_t)gdnn_dims(conv) * sizeof *size);
}

static bool has_sizes_of_bias(const ungrouped *plain, const gdnn_conv *conv)
{
    for (int i = 0; i < gdnn_dims(conv); i++)
        if (plain->size[i] != (i == 1 ? conv->k : 1))
            return false;
    return has_groups(plain, conv);
}

/* Notes a tensor; false if another has its id, or is it. */
static bool met_first(reading *r, int64_t uid)
{
    for (int i = 0; i < r->uids; i++)
        if (r->uid[i] == uid)
            return false;
    r->uid[r->uids++] = uid;
    return true;
}

static gdnn_reason read_types(const gdnn_graph_node *node, gdnn_conv *conv)
{
    if (!gdnn_our_type(node->x.type, &conv->dtype) || !has_type(node->w.type, conv->dtype) ||
        !gdnn_our_type(node->convolution.type, &conv->acc) || conv->acc == GDNN_BF16 ||
        (conv->dtype == GDNN_F64 && conv->acc != GDNN_F64))
        return GDNN_REASON_TYPE;
    conv->math = conv->dtype == GDNN_F32 ? GDNN_MATH_TF32 : GDNN_MATH_F32;
    return GDNN_REASON_TAKEN;
}

static gdnn_reason read_geometry(const gdnn_graph_convolution *convolution, gdnn_conv *conv)
{
    int64_t axes = conv->spatial;
    if (convolution->pads != axes || convolution->pads_after != axes ||
        convolution->strides != axes || convolution->dilations != axes ||
        (convolution->mode != CUDNN_CONVOLUTION && convolution->mode != CUDNN_CROSS_CORRELATION))
        return GDNN_REASON_INVALID;
    conv->mode = convolution->mode == CUDNN_CONVOLUTION ? GDNN_CONV : GDNN_XCORR;
    /* Axes that are not there have what gdnn_conv_init gives them. */
    for (int i = 0; i < GDNN_MAX_SPATIAL; i++)
        conv->stride[i] = conv->dilation[i] = 1;
    /* With strides or dilations below 1 there is no output, which y's sizes then contradict. */
    for (int i = 0; i < axes; i++) {
        conv->pad[i] = convolution->pad[i];
        conv->pad_after[i] = convolution->pad_after[i];
        conv->stride[i] = convolution->stride[i];
        conv->dilation[i] = convolution->dilation[i];
        if (conv->pad[i] < 0 || conv->pad_after[i] < 0)
            return GDNN_REASON_INVALID;
    }
    return GDNN_REASON_TAKEN;
}

/* All but what becomes of y. */
static gdnn_reason read_convolution(reading *r, const gdnn_graph_node *node)
{
    static const gdnn_dir direction[] = {[GDNN_GRAPH_FORWARD] = GDNN_FWD,
                                         [GDNN_GRAPH_BWD_DATA] = GDNN_BWD_DATA,
                                         [GDNN_GRAPH_BWD_FILTER] = GDNN_BWD_FILTER};
    gdnn_conv *conv = &r->problem->conv;
    ungrouped x, w;
    gdnn_reason reason;
    if (node->convolution.spatial < 1 || node->convolution.spatial > GDNN_MAX_SPATIAL)
        return GDNN_REASON_FORMAT;
    conv->spatial = (int)node->convolution.spatial;
    if ((reason = ungroup(&node->x, conv->spatial, GROUPS_OF_X_Y, &x)) != GDNN_REASON_TAKEN ||
        (reason = ungroup(&node->w, conv->spatial, GROUPS_OF_W, &w)) != GDNN_REASON_TAKEN)
        return reason;

    conv->dir = direction[node->kind];
    conv->n = x.size[0];
    conv->c = x.size[1];
    conv->k = w.size[0];
    conv->groups = conv->c / w.size[1]; /* 0 where C is not even one group's */
    if (conv->c % w.size[1] || conv->k % conv->groups || !has_groups(&x, conv) ||
        !has_groups(&w, conv))
        return GDNN_REASON_INVALID;
    if (conv->groups == 1 && !r->any_groups)
        return GDNN_REASON_NOT_GROUPED;
    if ((reason = read_types(node, conv)) != GDNN_REASON_TAKEN ||
        (reason = read_geometry(&node->convolution, conv)) != GDNN_REASON_TAKEN)
        return reason;
    memcpy(conv->in, x.size + 2, sizeof conv->in);
    memcpy(conv->filter, w.size + 2, sizeof conv->filter);
    memcpy(conv->x_stride, x.stride, sizeof conv->x_stride);
    memcpy(conv->w_stride, w.stride, sizeof conv->w_stride);
    conv->alpha = node->alpha;
    conv->beta = node->beta;
    conv->alpha2 = 1;

    r->problem->x = node->x.uid;
    r->problem->w = node->w.uid;
    if (node->x.is_virtual || node->w.is_virtual || !met_first(r, node->x.uid) ||
        !met_first(r, node->w.uid) || !met_first(r, node->y.uid))
        return GDNN_REASON_GRAPH;
    return GDNN_REASON_TAKEN;
}

/* Multiplies `scale`; false where the product might not be exact, or would make a z that is read one that is
 * not. */
static bool scale_by(double factor, double *scale)
{
    bool exact = factor == 1 || (*scale == 1 && factor != 0);
    *scale *= factor;
    return exact;
}

/* Adds `added` times `factor` to what has been computed so far times `carried`. */
static gdnn_reason read_add(reading *r, const gdnn_graph_tensor *added, double factor,
                            double carried)
{
    gdnn_conv *conv = &r->problem->conv;
    ungrouped plain;
    gdnn_reason reason = ungroup(added, conv->spatial, GROUPS_OF_X_Y, &plain);
    if (reason != GDNN_REASON_TAKEN)
        return reason;
    bool z = !conv->z && !conv->bias && has_sizes_of_y(&plain, conv);
    bool bias = !z && !conv->bias && has_sizes_of_bias(&plain, conv) && factor == 1;
    if (added->is_virtual || !met_first(r, added->uid) || (!z && !bias) ||
        !scale_by(carried, &conv->alpha) || (conv->z && !scale_by(carried, &conv->alpha2)))
        return GDNN_REASON_GRAPH;
    if (!has_type(added->type, conv->dtype))
        return GDNN_REASON_TYPE;
    if (z) {
        conv->z = 1;
        conv->alpha2 = factor;
        memcpy(conv->z_stride, plain.stride, sizeof conv->z_stride);
        r->problem->z = added->uid;
    } else {
        if (plain.stride[1] != 1)
            return GDNN_REASON_FORMAT;
        conv->bias = 1;
        r->problem->bias = added->uid;
    }
    return GDNN_REASON_TAKEN;
}

static bool plain_relu(const gdnn_graph_pointwise *relu, gdnn_dtype sums)
{
    double largest = sums == GDNN_F64 ? DBL_MAX : (double)FLT_MAX;
    return relu->lower_clip == 0 && relu->lower_slope == 0 && relu->upper_clip >= largest;
}

/* One operation on the virtual tensor `before`. */
static gdnn_reason read_pointwise(reading *r, const gdnn_graph_node *node,
                                  const gdnn_graph_tensor *before)
{
    gdnn_conv *conv = &r->problem->conv;
    bool is_x = node->has_x && node->x.uid == before->uid;
    const gdnn_graph_tensor *here = is_x ? &node->x : &node->b;
    if (node->pointwise.mode != CUDNN_POINTWISE_ADD &&
        node->pointwise.mode != CUDNN_POINTWISE_RELU_FWD)
        return GDNN_REASON_ACTIVATION;
    /* `here` is a copy of `before`, unless two tensors were given one id. */
    if (conv->act || node->has_w || !node->has_y || !met_first(r, node->y.uid) ||
        !here->is_virtual || here->type != before->type || here->dims != before->dims ||
        memcmp(here->size, before->size, (size_t)before->dims * sizeof *here->size))
        return GDNN_REASON_GRAPH;
    if (!has_type(node->pointwise.type, sums_of(conv)))
        return GDNN_REASON_TYPE;
    if (node->pointwise.mode == CUDNN_POINTWISE_ADD) {
        if (!node->has_x || !node->has_b)
            return GDNN_REASON_GRAPH;
        return is_x ? read_add(r, &node->b, node->beta, node->alpha)
                    : read_add(r, &node->x, node->alpha, node->beta);
    }
    if (!plain_relu(&node->pointwise, sums_of(conv)))
        return GDNN_REASON_ACTIVATION;
    if (node->has_b || node->alpha != 1)
        return GDNN_REASON_GRAPH;
    conv->act = GDNN_ACT_RELU;
    return GDNN_REASON_TAKEN;
}

/* The operation that reads `tensor`; NULL if there is none. */
static const gdnn_graph_node *reader_of(const gdnn_graph *graph, const gdnn_graph_tensor *tensor)
{
    for (int i = 0; i < graph->nodes; i++) {
        const gdnn_graph_node *node = &graph->node[i];
        if ((node->has_x && node->x.uid == tensor->uid) ||
            (node->has_b && node->b.uid == tensor->uid))
            return node;
    }
    return NULL;
}

/* A result, of y's sizes: between operations, or the last one. */
static gdnn_reason check_result(const gdnn_graph_tensor *tensor, const gdnn_conv *conv,
                                ungrouped *plain)
{
    gdnn_reason reason = ungroup(tensor, conv->spatial, GROUPS_OF_X_Y, plain);
    if (reason != GDNN_REASON_TAKEN)
        return reason;
    if (!has_sizes_of_y(plain, conv))
        return GDNN_REASON_INVALID;
    bool typed = has_type(tensor->type, conv->dtype) ||
                 (tensor->is_virtual && has_type(tensor->type, sums_of(conv)));
    return typed ? GDNN_REASON_TAKEN : GDNN_REASON_TYPE;
}

/* Follows what the convolution computes to what the graph writes. Each step meets a new tensor, so after as
 * many steps as there are other operations, all of them were read. */
static gdnn_reason read_results(reading *r, const gdnn_graph_tensor *result)
{
    gdnn_conv *conv = &r->problem->conv;
    ungrouped plain;
    gdnn_reason reason = check_result(result, conv, &plain);
    if (r->graph->nodes > 1 && (conv->dir != GDNN_FWD || conv->beta != 0))
        return GDNN_REASON_GRAPH;
    for (int64_t left = r->graph->nodes - 1; left && reason == GDNN_REASON_TAKEN; left--) {
        const gdnn_graph_node *node = result->is_virtual ? reader_of(r->graph, result) : NULL;
        if (!node)
            return GDNN_REASON_GRAPH;
        reason = read_pointwise(r, node, result);
        result = &node->y;
        if (reason == GDNN_REASON_TAKEN)
            reason = check_result(result, conv, &plain);
    }
    if (reason != GDNN_REASON_TAKEN)
        return reason;
    if (result->is_virtual)
        return GDNN_REASON_GRAPH;
    memcpy(conv->y_stride, plain.stride, sizeof conv->y_stride);
    r->problem->y = result->uid;
    return GDNN_REASON_TAKEN;
}

/* Gives axes of size 1 the strides that the header promises. */
static void settle_strides(gdnn_conv *conv, gdnn_role role, int64_t *stride, bool packed,
                           gdnn_layout layout)
{
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(conv, role, size);
    if (packed)
        gdnn_packed(gdnn_dims(conv), size, layout, stride);
    for (int i = 0; i < gdnn_dims(conv) && !packed; i++)
        if (size[i] == 1)
            stride[i] = 1;
}

static void settle_all_strides(gdnn_conv *conv)
{
    gdnn_layout layout = GDNN_NCHW;
    bool packed = gdnn_common_layout(conv, &layout);
    settle_strides(conv, GDNN_ROLE_X, conv->x_stride, packed, layout);
    settle_strides(conv, GDNN_ROLE_W, conv->w_stride, packed, layout);
    settle_strides(conv, GDNN_ROLE_Y, conv->y_stride, packed, layout);
    if (conv->z)
        settle_strides(conv, GDNN_ROLE_Y, conv->z_stride, packed, layout);
}

static gdnn_reason read_problem(const gdnn_graph *graph, bool any_groups,
                                gdnn_graph_problem *problem)
{
    reading r = {.graph = graph, .problem = problem, .any_groups = any_groups};
    gdnn_reason reason;
    memset(problem, 0, sizeof *problem);
    int at = find_convolution(graph);
    if (at < 0)
        return GDNN_REASON_GRAPH;
    if ((reason = read_convolution(&r, &graph->node[at])) != GDNN_REASON_TAKEN ||
        (reason = read_results(&r, &graph->node[at].y)) != GDNN_REASON_TAKEN)
        return reason;
    settle_all_strides(&problem->conv);
    return GDNN_REASON_TAKEN;
}

gdnn_reason gdnn_graph_problem_read(const gdnn_graph *graph, gdnn_graph_problem *problem)
{
    return read_problem(graph, false, problem);
}

gdnn_reason gdnn_graph_problem_any(const gdnn_graph *graph, gdnn_graph_problem *problem)
{
    return read_problem(graph, true, problem);
}
