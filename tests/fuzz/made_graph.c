#include "made_graph.h"
#include <string.h>

enum { AXES = 6 };

int64_t uids[5];
int tensors;

/* The tensor that is not finalised where the library lets it pass; 0: all are. */
static int64_t unfinished;

/* What bytes say of a convolution. */
typedef struct shape {
    int type, sums, virtual_type;
    int64_t n, groups, cpg, kpg, in, out, filter, pad, pad_after, stride, dilation;
    int spatial;
    bool nhwc, flipped, wide;
    bool odd; /* the first axis of channels has another stride than packed tensors have */
} shape;

static shape read_shape(void)
{
    static const unsigned char types[] = {CUDNN_DATA_FLOAT,    CUDNN_DATA_HALF,   CUDNN_DATA_FLOAT,
                                          CUDNN_DATA_BFLOAT16, CUDNN_DATA_DOUBLE, CUDNN_DATA_INT8};
    static const unsigned char groups[] = {4, 2, 1, 3};
    unsigned kind = byte(), sizes = byte() | byte() << 8, geometry = byte();
    shape s = {.type = types[take(&kind, 6)], .sums = CUDNN_DATA_FLOAT};
    s.sums = take(&kind, 4) == 3 || s.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : s.sums;
    s.virtual_type = take(&kind, 2) ? s.type : s.sums;
    bool large = take(&kind, 5) == 4; /* so that blocks share a sum */
    s.groups = groups[take(&sizes, 4)];
    s.cpg = 1 + take(&sizes, 2);
    s.kpg = 1 + take(&sizes, 3);
    s.n = 1 + take(&sizes, 2);
    s.nhwc = take(&sizes, 2);
    s.flipped = take(&sizes, 4) == 3;
    s.wide = take(&sizes, 4) == 3;
    s.spatial = 1 + (take(&sizes, 8) + 1) % 3;
    s.in = 3 + take(&sizes, 2);
    s.filter = 1 + take(&geometry, 2) + (s.spatial < 3 ? take(&geometry, 2) : 0);
    s.pad = take(&geometry, 2);
    s.pad_after = take(&geometry, 4) == 3 ? 2 : s.pad;
    s.stride = 1 + take(&geometry, 2);
    s.dilation = 1 + take(&geometry, 2);
    s.odd = take(&geometry, 2);
    if (large && s.spatial == 2) {
        s.n *= 4;
        s.in += 28;
    }
    s.out = (s.in + s.pad + s.pad_after - (s.filter - 1) * s.dilation - 1) / s.stride + 1;
    return s;
}

/* Axes of a tensor from the slowest one. */
typedef struct axes {
    int count,
        channels; /* where the first axis of channels is: it goes on up to the first spatial one */
    int64_t size[AXES];
} axes;

static axes axes_of(const shape *s, int64_t first, int64_t groups, int64_t channels, bool grouped,
                    int64_t spatial)
{
    axes a = {.channels = 1};
    if (first)
        a.size[a.count++] = first;
    if (grouped)
        a.size[a.count++] = groups;
    a.size[a.count++] = grouped ? channels : groups * channels;
    for (int i = 0; i < s->spatial; i++)
        a.size[a.count++] = spatial;
    return a;
}

static axes axes_of_w(const shape *s, bool grouped)
{
    axes a = axes_of(s, 0, s->groups, s->kpg, grouped, s->filter);
    int k = grouped ? 2 : 1;
    memmove(a.size + k + 1, a.size + k, (size_t)s->spatial * sizeof *a.size);
    a.size[k] = s->cpg;
    a.channels = k;
    a.count++;
    return a;
}

static descriptor make_tensor(const shape *s, const axes *a, int type, int64_t uid, bool is_virtual)
{
    int64_t stride[AXES], step = s->wide ? 2 : 1;
    int spatial = a->count - s->spatial;
    for (int i = spatial - 1; s->nhwc && i >= a->channels; step *= a->size[i--])
        stride[i] = step;
    for (int i = a->count - 1; i >= spatial; step *= a->size[i--])
        stride[i] = step;
    for (int i = (s->nhwc ? a->channels : spatial) - 1; i >= 0; step *= a->size[i--])
        stride[i] = step;
    if (s->odd)
        stride[a->channels] *= 2;
    descriptor d = fresh(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_word(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    set_numbers(d, CUDNN_ATTR_TENSOR_DIMENSIONS, a->count, a->size);
    set_numbers(d, CUDNN_ATTR_TENSOR_STRIDES, a->count, stride);
    set_number(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
    set_number(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
    set_number(d, CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1);
    set_flag(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
    if (uid != unfinished)
        finalize(d);
    if (!is_virtual && tensors < 5)
        uids[tensors++] = uid;
    return d;
}

static descriptor make_convolution(const shape *s)
{
    const int64_t pad[] = {s->pad, s->pad, s->pad},
                  after[] = {s->pad_after, s->pad_after, s->pad_after},
                  stride[] = {s->stride, s->stride, s->stride},
                  dilation[] = {s->dilation, s->dilation, s->dilation};
    descriptor d = fresh(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set_word(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, s->sums);
    set_word(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
             s->flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION);
    set_number(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, s->spatial);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, s->spatial, pad);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, s->spatial, after);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, s->spatial, stride);
    set_numbers(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, s->spatial, dilation);
    finalize(d);
    return d;
}

static const double factors[] = {1, 1, 0.5, 0};

/* Operations of a graph that is being made, and the tensor that the last one writes. */
typedef struct chain {
    const shape *shape;
    descriptor operation[4], result;
    int operations;
    int64_t uid;
} chain;

static void convolve(chain *c, int direction, descriptor x, descriptor w, unsigned factor)
{
    static const struct {
        int type, x, w, y, convolution, alpha, beta;
    } names[] = {
#define NAMES(type, way, x, w, y)                                                                  \
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_##type##_DESCRIPTOR,                                      \
     CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_##x,                                                 \
     CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_##w,                                                 \
     CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_##y,                                                 \
     CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_CONV_DESC,                                           \
     CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_ALPHA,                                               \
     CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_BETA}
        NAMES(FORWARD, FORWARD, X, W, Y), NAMES(BACKWARD_DATA, BWD_DATA, DX, W, DY),
        NAMES(BACKWARD_FILTER, BWD_FILTER, X, DW, DY)};
    descriptor d = fresh(names[direction].type), convolution = make_convolution(c->shape);
    set_one(d, names[direction].convolution, convolution);
    set_one(d, names[direction].x, x);
    set_one(d, names[direction].w, w);
    set_one(d, names[direction].y, c->result);
    if (factor & 1)
        set_real(d, names[direction].alpha, factors[factor >> 2 & 3], factor & 2);
    if (factor >> 4 & 1)
        set_real(d, names[direction].beta, factor >> 5 & 1, factor & 2);
    if (!library.lenient || !(factor & 64))
        finalize(d);
    c->operation[c->operations++] = d;
}

/* Of the last result and `b`, which may be NULL. */
static void pointwise(chain *c, int mode, descriptor b, const axes *y, bool last, unsigned factor)
{
    descriptor how = fresh(CUDNN_BACKEND_POINTWISE_DESCRIPTOR),
               d = fresh(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), before = c->result;
    set_word(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    set_word(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, c->shape->sums);
    finalize(how);
    c->result =
        make_tensor(c->shape, y, last ? c->shape->type : c->shape->virtual_type, c->uid++, !last);
    bool swapped = b && factor & 1;
    set_one(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    set_one(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, swapped ? b : before);
    if (b)
        set_one(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, swapped ? before : b);
    set_one(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, c->result);
    if (factor & 2)
        set_real(d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, factors[factor >> 2 & 3], false);
    if (factor & 16)
        set_real(d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, factors[factor >> 5 & 3], true);
    finalize(d);
    c->operation[c->operations++] = d;
}

static void append_pointwise(chain *c, unsigned fused, unsigned grouped, const axes *y)
{
    const shape *s = c->shape;
    bool z = fused & 1, bias = fused & 2, relu = fused & 4;
    if (z) {
        axes a = axes_of(s, s->n, s->groups, s->kpg, grouped & 8, s->out);
        descriptor d = make_tensor(s, &a, s->type, c->uid++, false);
        pointwise(c, CUDNN_POINTWISE_ADD, d, y, !bias && !relu, byte());
    }
    if (bias) {
        shape packed = *s;
        packed.wide &= grouped >> 6 & 1;
        packed.odd &= grouped >> 6 & 1;
        axes a = axes_of(s, 1, s->groups, s->kpg, grouped & 16, 1);
        descriptor d = make_tensor(&packed, &a, s->type, c->uid++, false);
        pointwise(c, CUDNN_POINTWISE_ADD, d, y, !relu, byte());
    }
    if (relu)
        pointwise(c, CUDNN_POINTWISE_RELU_FWD, NULL, y, true, 0);
}

void make_graph(void)
{
    unsigned how = byte();
    int direction = (int)(how % 4 % 3);
    unsigned handle = how >> 2 & 1 ? 0 : 1 + (how >> 3 & 1), fused = direction ? 0 : how >> 4 & 7;
    const shape s = read_shape();
    unsigned grouped = byte(), factor = byte();
    unfinished = library.lenient && grouped & 32 ? 10 + (grouped >> 3 & 3) : 0;
    grouped = grouped & 128 ? grouped : (grouped & 64) | (grouped & 1 ? 31 : 0); /* all or none */
    axes x = axes_of(&s, s.n, s.groups, s.cpg, grouped & 1, s.in), w = axes_of_w(&s, grouped & 2),
         y = axes_of(&s, s.n, s.groups, s.kpg, grouped & 4, s.out);
    if (grouped & 64 && grouped & 2 && s.groups == 4) { /* than x has */
        w.size[0] /= 2;
        w.size[1] *= 2;
    }
    chain c = {.shape = &s, .uid = 10};
    tensors = 0;
    descriptor tensor_x = make_tensor(&s, &x, s.type, c.uid++, false),
               tensor_w = make_tensor(&s, &w, s.type, c.uid++, false);
    c.result = make_tensor(&s, &y, fused ? s.virtual_type : s.type, c.uid++, fused);
    convolve(&c, direction, tensor_x, tensor_w, factor);
    append_pointwise(&c, fused, grouped, &y);
    last_graph = fresh(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (handle)
        set_handle(last_graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
    set_elements(last_graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 c.operations, c.operation, sizeof *c.operation);
    finalize(last_graph);
}
