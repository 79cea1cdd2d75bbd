#include "plan_meaning.h"
#include <float.h>
#include <string.h>

static const void *value(const library_object *object, cudnnBackendAttributeName_t name,
                         int64_t *count)
{
    const void *found = library_value(object, name, NULL, count);
    if (!found)
        fault("launched, but attribute %d was not set", name);
    return found;
}

static int64_t number(const library_object *object, cudnnBackendAttributeName_t name)
{
    return *(const int64_t *)value(object, name, NULL);
}

static int word(const library_object *object, cudnnBackendAttributeName_t name, int otherwise)
{
    const int *found = library_value(object, name, NULL, NULL);
    return found ? *found : otherwise;
}

static bool flag(const library_object *object, cudnnBackendAttributeName_t name)
{
    const unsigned char *found = library_value(object, name, NULL, NULL);
    return found && *found;
}

static double real(const library_object *object, cudnnBackendAttributeName_t name, double otherwise)
{
    int type = 0;
    const void *found = library_value(object, name, &type, NULL);
    if (!found)
        return otherwise;
    return type == CUDNN_TYPE_FLOAT ? (double)*(const float *)found : *(const double *)found;
}

static const library_object *element(const library_object *object, cudnnBackendAttributeName_t name)
{
    const library_object *found = library_element(object, name, 0);
    if (!found || !library_finalized(found))
        fault("launched, but attribute %d was not set, or to what is not finalised", name);
    return found;
}

static int64_t uid_of(const library_object *tensor)
{
    return number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID);
}

/* What an operation of a convolution calls its parts. */
static const library_object *part(const library_object *operation, role r)
{
    switch (library_type(operation)) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return element(operation, r == X   ? CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X
                                  : r == W ? CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W
                                           : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        return element(operation, r == X   ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX
                                  : r == W ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W
                                           : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
    default:
        return element(operation, r == X   ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X
                                  : r == W ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW
                                           : CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
    }
}

/* The tensor that an operation writes. */
static const library_object *written(const library_object *operation)
{
    switch (library_type(operation)) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: return part(operation, Y);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: return part(operation, X);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: return part(operation, W);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        return element(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    default: fault("launched for an operation of type %d", library_type(operation));
    }
}

static const library_object *operation_at(const reading *r, int i)
{
    const library_object *found = library_element(r->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, i);
    if (!library_finalized(found))
        fault("launched, but an operation is not finalised");
    return found;
}

/* The operation that writes a tensor; NULL: none does. */
static const library_object *writer_of(const reading *r, const library_object *tensor)
{
    const library_object *found = NULL;
    for (int i = 0; i < r->operations; i++) {
        if (uid_of(written(operation_at(r, i))) != uid_of(tensor))
            continue;
        if (found)
            fault("launched, but two operations write one tensor");
        found = operation_at(r, i);
    }
    return found;
}

static uintptr_t pointer_of(const reading *r, int64_t uid)
{
    int64_t uids, pointers, found = -1;
    const int64_t *uid_at = value(r->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &uids);
    const uintptr_t *at = value(r->pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, &pointers);
    for (int64_t i = 0; i < uids; i++) {
        if (uid_at[i] != uid)
            continue;
        if (found >= 0)
            fault("launched, but the pack has tensor %lld twice", (long long)uid);
        found = i;
    }
    if (found < 0 || found >= pointers)
        fault("launched, but the pack lacks tensor %lld", (long long)uid);
    return at[found];
}

static int64_t size_of_type(const reading *r, const library_object *tensor)
{
    const char *name = r->type;
    switch (word(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, -1)) {
    case CUDNN_DATA_HALF: return strcmp(name, "f16") ? 0 : 2;
    case CUDNN_DATA_BFLOAT16: return strcmp(name, "bf16") ? 0 : 2;
    case CUDNN_DATA_FLOAT: return strcmp(name, "f32") ? 0 : 4;
    case CUDNN_DATA_DOUBLE: return strcmp(name, "f64") ? 0 : 8;
    default: return 0;
    }
}

/* The point as indices of a tensor in `role`, which may have an axis of groups; axes of size 1 are the same everywhere.
 * Returns how many. */
static int indices_of(const reading *r, const library_object *tensor, role in, const point *p,
                      int64_t index[SPATIAL + 3])
{
    int64_t dims, at = 0;
    const int64_t *size = value(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, &dims);
    int64_t channel = in == X ? p->c : p->k,
            per_group = in == X ? r->geometry.cpg : r->geometry.kpg;
    bool grouped = dims == r->spatial + 3;
    if (!grouped && dims != r->spatial + 2)
        fault("launched, but a tensor has %lld axes", (long long)dims);
    if (in != W)
        index[at++] = p->n;
    if (grouped)
        index[at++] = p->g;
    index[at++] = grouped ? channel : p->g * per_group + channel;
    if (in == W)
        index[at++] = p->c;
    for (int i = SPATIAL - r->spatial; i < SPATIAL; i++)
        index[at++] = p->s[i];
    for (int64_t i = 0; i < dims; i++) {
        if (size[i] == 1)
            index[i] = 0;
        if (index[i] < 0 || index[i] >= size[i])
            fault("launched, but axis %lld of a tensor is too small", (long long)i);
    }
    return (int)dims;
}

uintptr_t plan_address(const reading *r, const library_object *tensor, role in, const point *p)
{
    int64_t index[SPATIAL + 3], strides, offset = 0, bytes = size_of_type(r, tensor);
    int dims = indices_of(r, tensor, in, p, index);
    const int64_t *stride = value(tensor, CUDNN_ATTR_TENSOR_STRIDES, &strides);
    const int64_t *vectors = library_value(tensor, CUDNN_ATTR_TENSOR_VECTOR_COUNT, NULL, NULL);
    if (strides != dims || !bytes || (vectors && *vectors != 1) ||
        flag(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE) ||
        word(tensor, CUDNN_ATTR_TENSOR_REORDERING_MODE, 0))
        fault("launched for a tensor that is not as the kernel takes it");
    for (int i = 0; i < dims; i++)
        offset += index[i] * stride[i];
    return pointer_of(r, uid_of(tensor)) + (uintptr_t)(offset * bytes);
}

static const int64_t *list(const reading *r, const library_object *convolution,
                           cudnnBackendAttributeName_t name)
{
    int64_t count;
    const int64_t *found = value(convolution, name, &count);
    if (count != r->spatial)
        fault("launched, but attribute %d has %lld axes", name, (long long)count);
    return found;
}

static void read_sizes(const reading *r, const library_object *tensor, int64_t *size)
{
    int64_t dims;
    const int64_t *all = value(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, &dims);
    for (int i = 0; i < r->spatial; i++)
        size[SPATIAL - r->spatial + i] = all[dims - r->spatial + i];
}

static const library_object *convolution_part(const reading *r)
{
    return element(r->convolution,
                   r->writes == X   ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC
                   : r->writes == W ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC
                                    : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
}

static void read_geometry(reading *r, const library_object *convolution)
{
    geometry *g = &r->geometry;
    const int64_t *pad = list(r, convolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
                  *after = list(r, convolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
                  *stride = list(r, convolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
                  *dilation = list(r, convolution, CUDNN_ATTR_CONVOLUTION_DILATIONS);
    for (int i = 0; i < SPATIAL; i++) {
        g->in[i] = g->out[i] = g->filter[i] = g->stride[i] = g->dilation[i] = 1;
        g->pad[i] = 0;
    }
    read_sizes(r, part(r->convolution, X), g->in);
    read_sizes(r, part(r->convolution, W), g->filter);
    read_sizes(r, part(r->convolution, Y), g->out);
    for (int i = 0, at = SPATIAL - r->spatial; i < r->spatial; i++, at++) {
        g->pad[at] = pad[i];
        g->stride[at] = stride[i];
        g->dilation[at] = dilation[i];
        int64_t free = g->in[at] + pad[i] + after[i] - (g->filter[at] - 1) * dilation[i] - 1;
        if (stride[i] < 1 || free < 0 || free / stride[i] + 1 != g->out[at])
            fault("launched, but sizes of x, w and y contradict each other");
    }
    g->flipped = word(convolution, CUDNN_ATTR_CONVOLUTION_CONV_MODE, 0) == CUDNN_CONVOLUTION;
}

static double load_of_graph(const void *context, role in, const point *p)
{
    const reading *r = context;
    return value_at(plan_address(r, part(r->convolution, in), in, p));
}

static role role_written(const library_object *operation)
{
    switch (library_type(operation)) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: return X;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: return W;
    default: return Y;
    }
}

static double factor(const reading *r, int forward)
{
    static const short data[] = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                 CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
                       filter[] = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    bool beta = forward == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA;
    int name = r->writes == Y ? forward : r->writes == X ? data[beta] : filter[beta];
    return real(r->convolution, (cudnnBackendAttributeName_t)name, !beta);
}

static double convolution_value(const reading *r, const point *p)
{
    const library_object *result = part(r->convolution, r->writes);
    double sum = convolve(&r->geometry, r->writes, p, load_of_graph, r),
           beta = factor(r, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
    if (beta != 0 && flag(result, CUDNN_ATTR_TENSOR_IS_VIRTUAL))
        fault("launched, but what is added to lies between operations");
    return factor(r, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA) * sum +
           (beta != 0 ? beta * value_at(plan_address(r, result, r->writes, p)) : 0);
}

/* What is scaled by 0 is not read: neither need it be there. */
static double scaled(reading *r, double scale, const library_object *tensor, const point *p)
{
    return scale == 0 && !writer_of(r, tensor) ? 0 : scale * plan_value(r, tensor, p);
}

static double pointwise_value(reading *r, const library_object *operation, const point *p)
{
    const library_object *how = element(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR),
                         *x = element(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    double before = scaled(r, real(operation, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1), x, p);
    double scale = real(operation, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
    double low = real(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
           high = real(how, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, DBL_MAX),
           slope = real(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
    switch (word(how, CUDNN_ATTR_POINTWISE_MODE, -1)) {
    case CUDNN_POINTWISE_ADD:
        return before +
               scaled(r, scale, element(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC), p);
    case CUDNN_POINTWISE_RELU_FWD:
        return before <= low ? low + slope * (before - low) : before > high ? high : before;
    default: fault("launched for a pointwise operation of another mode");
    }
}

double plan_value(reading *r, const library_object *tensor, const point *p)
{
    const library_object *writer = writer_of(r, tensor);
    if (!writer)
        return value_at(plan_address(r, tensor, Y, p));
    if (++r->visited > r->operations)
        fault("launched for a graph that goes in circles");
    return writer == r->convolution ? convolution_value(r, p) : pointwise_value(r, writer, p);
}

const library_object *plan_result(const reading *r)
{
    const library_object *found = NULL;
    for (int i = 0; i < r->operations; i++) {
        const library_object *tensor = written(operation_at(r, i));
        if (flag(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL))
            continue;
        if (found)
            fault("launched for a graph that writes two tensors");
        found = tensor;
    }
    if (!found)
        fault("launched for a graph that writes nothing");
    return found;
}

static const library_object *convolution_of(const reading *r)
{
    const library_object *found = NULL;
    for (int i = 0; i < r->operations; i++) {
        const library_object *operation = operation_at(r, i);
        if (library_type(operation) == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
            continue;
        if (found)
            fault("launched for a graph of two convolutions");
        found = operation;
    }
    if (!found)
        fault("launched for a graph without a convolution");
    return found;
}

/* The sizes that the convolution has; `groups` is how many it has by these. */
static void read_groups(reading *r)
{
    int64_t x_dims, w_dims;
    const int64_t *x = value(part(r->convolution, X), CUDNN_ATTR_TENSOR_DIMENSIONS, &x_dims),
                  *w = value(part(r->convolution, W), CUDNN_ATTR_TENSOR_DIMENSIONS, &w_dims);
    bool x_grouped = x_dims == r->spatial + 3, w_grouped = w_dims == r->spatial + 3;
    geometry *g = &r->geometry;
    g->images = x[0];
    g->cpg = w[w_grouped + 1];
    g->groups = (x_grouped ? x[1] * x[2] : x[1]) / g->cpg;
    g->kpg = w_grouped ? w[1] : w[0] / g->groups;
    if (g->groups < 2)
        fault("launched for a convolution without groups");
}

void plan_begin(reading *r, const library_object *plan, const library_object *pack,
                const char *type)
{
    const library_object *config = element(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG),
                         *engine = element(config, CUDNN_ATTR_ENGINECFG_ENGINE);
    *r = (reading){
        .graph = element(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH), .pack = pack, .type = type};
    int64_t operations;
    if (!library_value(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, NULL, NULL) &&
        !library_value(r->graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, NULL, NULL))
        fault("launched for a deviceless plan");
    value(r->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, &operations);
    r->operations = (int)operations;
    r->convolution = convolution_of(r);
    r->writes = role_written(r->convolution);
    r->spatial = (int)number(convolution_part(r), CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    if (r->spatial < 1 || r->spatial > SPATIAL)
        fault("launched for %d spatial axes", r->spatial);
}

void plan_sizes(reading *r)
{
    read_geometry(r, convolution_part(r));
    read_groups(r);
}
