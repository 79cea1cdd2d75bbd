#include "meaning.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { SPATIAL = 3, SAMPLES = 3 };

/* An element of a tensor: what it is, whatever axes the tensor has. */
typedef struct point {
    int64_t n, g, c, k; /* channels in their group; x has no k, y no c, w no n */
    int64_t s[SPATIAL]; /* the last axes; missing ones come first and are 0 */
    int64_t o[SPATIAL]; /* an output where `s` is a tap */
} point;

typedef enum role { X, W, Y } role;

/* Memory is full of these. */
static double value_at(uintptr_t address)
{
    uint64_t z = address * UINT64_C(0x9e3779b97f4a7c15);
    return (double)((z ^ z >> 29) % 7) - 3;
}

static int64_t random_below(uint64_t *state, int64_t end)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int64_t)((*state >> 33) % (uint64_t)end);
}

/* A convolution's geometry; axes that are missing come first. */
typedef struct geometry {
    int64_t images, groups, cpg, kpg;
    int64_t in[SPATIAL], out[SPATIAL], filter[SPATIAL];
    int64_t pad[SPATIAL], stride[SPATIAL], dilation[SPATIAL];
    bool flipped; /* tap 0 has the last weight */
} geometry;

/* The plan. */

typedef struct reading {
    const library_object *graph, *pack, *convolution; /* the last is the operation */
    const launch *launch;
    role writes; /* of the convolution */
    int spatial;
    geometry geometry;
    int operations, visited;
} reading;

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
    const char *name = strrchr(r->launch->kernel, '_') + 1;
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

static uintptr_t address_of(const reading *r, const library_object *tensor, role in, const point *p)
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

/* Steps through all combinations of three indices. False: it was the last. */
static bool step(int64_t s[SPATIAL], const int64_t end[SPATIAL])
{
    for (int i = SPATIAL - 1; i >= 0; s[i--] = 0)
        if (++s[i] < end[i])
            return true;
    return false;
}

/* The input that output `o` reads at tap `t`. False: it is padding. */
static bool reads(const geometry *g, const int64_t *o, const int64_t *t, int64_t *i)
{
    for (int a = 0; a < SPATIAL; a++) {
        i[a] = o[a] * g->stride[a] - g->pad[a] + t[a] * g->dilation[a];
        if (i[a] < 0 || i[a] >= g->in[a])
            return false;
    }
    return true;
}

/* The weight that tap `t` has. */
static void weight(const geometry *g, const int64_t *t, int64_t *w)
{
    for (int a = 0; a < SPATIAL; a++)
        w[a] = g->flipped ? g->filter[a] - 1 - t[a] : t[a];
}

static bool same(const int64_t *a, const int64_t *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

typedef double loader(const void *context, role r, const point *p);

/* One product of the sum for `p`, if outputs `o` and taps `t` have one. */
static double product(const geometry *g, role writes, const point *p, const point *at, loader *load,
                      const void *context)
{
    point x = *at, w = *at, y = *at;
    weight(g, at->s, w.s);
    memcpy(y.s, at->o, sizeof y.s);
    if (!reads(g, at->o, at->s, x.s) || (writes == X && !same(x.s, p->s)) ||
        (writes == W && !same(w.s, p->s)))
        return 0;
    return (writes == X ? load(context, Y, &y) : load(context, X, &x)) *
           (writes == W ? load(context, Y, &y) : load(context, W, &w));
}

/* The element `p` of what a convolution writes, from what `load` gives: the definition. */
static double convolve(const geometry *g, role writes, const point *p, loader *load,
                       const void *context)
{
    double sum = 0;
    point at = *p;
    const int64_t n_end = writes == W ? g->images : p->n + 1,
                  c_end = writes == Y ? g->cpg : p->c + 1, k_end = writes == X ? g->kpg : p->k + 1;
    for (at.n = writes == W ? 0 : p->n; at.n < n_end; at.n++)
        for (at.c = writes == Y ? 0 : p->c; at.c < c_end; at.c++)
            for (at.k = writes == X ? 0 : p->k; at.k < k_end; at.k++) {
                memset(at.o, 0, sizeof at.o);
                do {
                    if (writes == Y && !same(at.o, p->s))
                        continue;
                    memset(at.s, 0, sizeof at.s);
                    do
                        sum += product(g, writes, p, &at, load, context);
                    while (step(at.s, g->filter));
                } while (step(at.o, g->out));
            }
    return sum;
}

static double load_of_graph(const void *context, role in, const point *p)
{
    const reading *r = context;
    return value_at(address_of(r, part(r->convolution, in), in, p));
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
           (beta != 0 ? beta * value_at(address_of(r, result, r->writes, p)) : 0);
}

static double tensor_value(reading *r, const library_object *tensor, const point *p);

static double pointwise_value(reading *r, const library_object *operation, const point *p)
{
    const library_object *how = element(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR),
                         *x = element(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    double before =
        real(operation, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1) * tensor_value(r, x, p);
    double scale = real(operation, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
    double low = real(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
           high = real(how, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, DBL_MAX),
           slope = real(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
    switch (word(how, CUDNN_ATTR_POINTWISE_MODE, -1)) {
    case CUDNN_POINTWISE_ADD:
        return before +
               scale * tensor_value(r, element(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC), p);
    case CUDNN_POINTWISE_RELU_FWD:
        return before <= low ? low + slope * (before - low) : before > high ? high : before;
    default: fault("launched for a pointwise operation of another mode");
    }
}

/* An element of a tensor that has the axes of what the convolution writes. */
static double tensor_value(reading *r, const library_object *tensor, const point *p)
{
    const library_object *writer = writer_of(r, tensor);
    if (!writer)
        return value_at(address_of(r, tensor, Y, p));
    if (++r->visited > r->operations)
        fault("launched for a graph that goes in circles");
    return writer == r->convolution ? convolution_value(r, p) : pointwise_value(r, writer, p);
}

/* What the graph writes: all but one of the results lie between operations. */
static const library_object *result_of(const reading *r)
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

static geometry geometry_of(const launch *l)
{
    const gdnn_args *a = &l->args;
    geometry g = {
        .images = a->n, .groups = a->c / a->cpg.value, .cpg = a->cpg.value, .kpg = a->kpg.value};
    for (int i = 0; i < SPATIAL; i++) {
        g.in[i] = a->axis[i].in;
        g.out[i] = a->axis[i].out;
        g.filter[i] = a->axis[i].filter_div.value;
        g.pad[i] = a->axis[i].pad;
        g.stride[i] = a->axis[i].stride.value;
        g.dilation[i] = a->axis[i].dilation.value;
    }
    return g;
}

/* The launch. */

static uintptr_t address_in_launch(const launch *l, const void *base, role in, bool z,
                                   const point *p)
{
    const gdnn_args *a = &l->args;
    const char *type = strrchr(l->kernel, '_') + 1;
    int64_t c = p->g * a->cpg.value + p->c, k = p->g * a->kpg.value + p->k, offset;
    offset = in == X   ? p->n * a->x_stride_n + c * a->x_stride_c
             : in == W ? k * a->w_stride_k + p->c * a->w_stride_c + a->w_offset
             : z       ? p->n * a->z_stride_n + k * a->z_stride_k
                       : p->n * a->y_stride_n + k * a->y_stride_k;
    for (int i = 0; i < SPATIAL; i++)
        offset += p->s[i] * (in == X   ? a->axis[i].x_stride
                             : in == W ? a->axis[i].w_stride
                             : z       ? a->axis[i].z_stride
                                       : a->axis[i].y_stride);
    int64_t bytes = !strcmp(type, "f64") ? 8 : !strcmp(type, "f32") ? 4 : 2;
    return (uintptr_t)base + (uintptr_t)(offset * bytes);
}

static const void *base_of(const launch *l, role in)
{
    return in == X ? l->x : in == W ? l->w : l->y;
}

static double load_of_launch(const void *context, role in, const point *p)
{
    const launch *l = context;
    return value_at(address_in_launch(l, base_of(l, in), in, false, p));
}

static double launch_value(const launch *l, const geometry *g, role writes, const point *p)
{
    const gdnn_args *a = &l->args;
    const char *type = strrchr(l->kernel, '_') + 1;
    int64_t bytes = !strcmp(type, "f64") ? 8 : !strcmp(type, "f32") ? 4 : 2;
    double result = a->alpha.f64 * convolve(g, writes, p, load_of_launch, l);
    if (a->beta.nonzero)
        result += a->beta.f64 * load_of_launch(l, writes, p);
    if (a->has_z)
        result += a->alpha2.f64 * value_at(address_in_launch(l, l->z, Y, true, p));
    if (a->has_bias)
        result += value_at((uintptr_t)l->bias + (uintptr_t)((p->g * g->kpg + p->k) * bytes));
    return a->relu && result < 0 ? 0 : result;
}

static bool equal(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b));
}

static point any_point(const geometry *g, role writes, uint64_t *random)
{
    const int64_t *end = writes == X ? g->in : writes == W ? g->filter : g->out;
    point p = {.g = random_below(random, g->groups)};
    p.n = writes == W ? 0 : random_below(random, g->images);
    p.c = writes == Y ? 0 : random_below(random, g->cpg);
    p.k = writes == X ? 0 : random_below(random, g->kpg);
    for (int i = 0; i < SPATIAL; i++)
        p.s[i] = random_below(random, end[i]);
    return p;
}

static void check_point(reading *r, const library_object *result, const geometry *theirs, point p)
{
    const launch *l = r->launch;
    point there = p; /* a kernel numbers taps from the other end where they are flipped */
    if (r->writes == W)
        weight(&r->geometry, p.s, there.s);
    r->visited = 0;
    double is = launch_value(l, theirs, r->writes, &there), wanted = tensor_value(r, result, &p);
    if (r->visited != r->operations)
        fault("launched for a graph of %d operations, of which %d matter", r->operations,
              r->visited);
    uintptr_t at = address_in_launch(l, base_of(l, r->writes), r->writes, false, &there),
              wanted_at = address_of(r, result, r->writes, &p);
    if (at != wanted_at)
        fault("launched to write at %#lx instead of %#lx", (long)at, (long)wanted_at);
    if (!equal(is, wanted))
        fault("launched to write %g instead of %g", is, wanted);
}

/* Whether the elements can be counted and computed here. */
static bool small(const geometry *g)
{
    double all = (double)g->images * (double)g->groups * (double)g->cpg * (double)g->kpg;
    for (int i = 0; i < SPATIAL; i++)
        all *= (double)g->out[i] * (double)g->filter[i];
    return all < 1e6;
}

bool meaning_check(const library_object *plan, const library_object *pack, const launch *l,
                   uint64_t random)
{
    static const char *const direction[] = {[X] = "bwd_data", [W] = "bwd_filter", [Y] = "fwd"};
    const library_object *config = element(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG),
                         *engine = element(config, CUDNN_ATTR_ENGINECFG_ENGINE);
    reading r = {
        .graph = element(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH), .pack = pack, .launch = l};
    int64_t operations;
    if (!library_value(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, NULL, NULL) &&
        !library_value(r.graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, NULL, NULL))
        fault("launched for a deviceless plan");
    value(r.graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, &operations);
    r.operations = (int)operations;
    r.convolution = convolution_of(&r);
    r.writes = role_written(r.convolution);
    if (!strstr(l->kernel, direction[r.writes]))
        fault("launched %s for an operation of type %d", l->kernel, library_type(r.convolution));
    const library_object *convolution = convolution_part(&r);
    r.spatial = (int)number(convolution, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    if (r.spatial < 1 || r.spatial > SPATIAL)
        fault("launched for %d spatial axes", r.spatial);
    const geometry theirs = geometry_of(l);
    if (!small(&theirs))
        return false;
    read_geometry(&r, convolution);
    read_groups(&r);
    const geometry *g = &r.geometry;
    if (g->images != theirs.images || g->groups != theirs.groups || g->cpg != theirs.cpg ||
        g->kpg != theirs.kpg || !same(g->in, theirs.in) || !same(g->out, theirs.out) ||
        !same(g->filter, theirs.filter))
        fault("launched with other sizes");
    const library_object *result = result_of(&r);
    for (int i = 0; i < SAMPLES; i++)
        check_point(&r, result, &theirs, any_point(g, r.writes, &random));
    return true;
}
