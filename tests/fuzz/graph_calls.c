/* Bytes as calls of cuDNN's graph interface: what programs do, and whatever else can be said. */
#include "launcher.h"
#include "program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { SLOTS = 40, ELEMENTS = 40, AXES = 6 };

static const uint8_t *input, *input_end;
static descriptor slots[SLOTS];
static int next_slot;

/* Of the last graph, and the last of each sort. */
static descriptor last_graph, last_config, last_plan, last_pack;
static int64_t uids[5];
static int tensors;

/* What counts this down to 0 is not as it should be: an attribute, or that something is finalised. */
static int spoil;

static unsigned byte(void)
{
    return input < input_end ? *input++ : 0;
}

/* One of `count` bits of what a byte says. */
static int take(unsigned *bits, int count)
{
    int taken = (int)(*bits % (unsigned)count);
    *bits /= (unsigned)count;
    return taken;
}

static void drop(descriptor d)
{
    if (library_object_of(d))
        program_destroy(d);
}

static descriptor fresh(int type)
{
    drop(slots[next_slot]);
    descriptor made = program_create(type);
    slots[next_slot] = made;
    next_slot = (next_slot + 1) % SLOTS;
    return made;
}

/* Of tensors, what is not finalised where the library lets it pass; 0: all are. */
static int64_t unfinished;

/* Mostly `last`, which may be gone; else any slot's. */
static descriptor any(descriptor last)
{
    unsigned choice = byte();
    return choice < 192 && last ? last : slots[choice % SLOTS];
}

/* Of any sort. */
static descriptor target(void)
{
    unsigned choice = byte();
    const descriptor last[] = {last_plan, last_pack, last_config, last_graph};
    return choice < 128 ? last[choice % 4] : slots[choice % SLOTS];
}

static void set_elements(descriptor d, int name, int type, int64_t count, const void *elements,
                         size_t bytes)
{
    union {
        unsigned char byte[8 * ELEMENTS];
        descriptor first;
    } copy = {{0}};
    memcpy(copy.byte, elements, (size_t)count * bytes);
    elements = &copy;
    if (spoil && !--spoil) {
        unsigned how = byte(), what = byte();
        switch (how % 8) {
        case 0: return;
        case 1: type = (int)(what % 26); break;
        case 2: count = (int64_t)(what % (ELEMENTS + 1)) - 1; break;
        case 3: name += (int)(what % 9) - 4; break;
        case 4: elements = NULL; break;
        case 5: copy.byte[what % (8 * ELEMENTS)] ^= (unsigned char)(1 + how / 8); break;
        case 6: copy.first = slots[what % SLOTS]; break;
        default: program_set(d, name, type, count, elements); break; /* twice */
        }
    }
    program_set(d, name, type, count, elements);
}

static void finalize(descriptor d)
{
    if (spoil && !--spoil)
        switch (byte() % 3) {
        case 0: return;
        case 1: program_finalize(d); break; /* twice */
        default: program_initialize(d); break;
        }
    program_finalize(d);
}

static void set_numbers(descriptor d, int name, int64_t count, const int64_t *numbers)
{
    set_elements(d, name, CUDNN_TYPE_INT64, count, numbers, sizeof *numbers);
}

static void set_number(descriptor d, int name, int64_t number)
{
    set_numbers(d, name, 1, &number);
}

static void set_word(descriptor d, int name, int type, int word)
{
    set_elements(d, name, type, 1, &word, sizeof word);
}

static void set_flag(descriptor d, int name, bool flag)
{
    set_elements(d, name, CUDNN_TYPE_BOOLEAN, 1, &flag, sizeof flag);
}

static void set_real(descriptor d, int name, double real, bool single)
{
    const float small = (float)real;
    if (single)
        set_elements(d, name, CUDNN_TYPE_FLOAT, 1, &small, sizeof small);
    else
        set_elements(d, name, CUDNN_TYPE_DOUBLE, 1, &real, sizeof real);
}

static void set_one(descriptor d, int name, descriptor element)
{
    set_elements(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &element, sizeof element);
}

static void set_handle(descriptor d, int name, unsigned number)
{
    const uintptr_t handle = number;
    set_elements(d, name, CUDNN_TYPE_HANDLE, 1, &handle, sizeof handle);
}

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

static void make_graph(void)
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

/* Asks the heuristics of a graph, for few or many configurations. */
static void list_configs(void)
{
    static const unsigned char modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B,
                                          CUDNN_HEUR_MODE_FALLBACK, CUDNN_HEUR_MODE_A};
    unsigned how = byte(), odd = byte();
    descriptor heuristics = fresh(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), configs[16] = {0};
    set_one(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, any(last_graph));
    set_word(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, modes[how & 3]);
    finalize(heuristics);
    int64_t requested = how >> 2 & 15, count = -1;
    for (int64_t i = 0; i < requested; i++)
        configs[i] = fresh(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (odd & 128 && requested)
        configs[odd % 16 % (unsigned)requested] =
            odd & 64 ? NULL : slots[(odd + (unsigned)next_slot) % SLOTS];
    program_get(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, requested,
                odd & 32 ? NULL : &count, odd & 16 && odd & 64 ? NULL : configs);
    if (requested)
        last_config = configs[byte() % (unsigned)requested];
    if (odd & 1)
        program_destroy(heuristics);
}

/* Makes a configuration of an engine's number and, maybe, a knob. */
static void build_config(void)
{
    unsigned how = byte();
    descriptor engine = fresh(CUDNN_BACKEND_ENGINE_DESCRIPTOR), graph = any(last_graph);
    set_one(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    set_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, how % 8 % 5);
    finalize(engine);
    last_config = fresh(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_one(last_config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (how & 8) {
        descriptor knob = fresh(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        set_word(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, how >> 4 & 3);
        set_number(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, byte() % LIBRARY_LIST);
        finalize(knob);
        set_one(last_config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knob);
    }
    finalize(last_config);
}

static void make_plan(void)
{
    unsigned how = byte();
    descriptor config = any(last_config);
    last_plan = fresh(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if ((how & 3) != 3)
        set_handle(last_plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, 1 + (how >> 2 & 1));
    set_one(last_plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    if ((how & 0xf0) == 0xf0)
        set_elements(last_plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 9,
                     "{\"a\": {}}", 1);
    finalize(last_plan);
    if (how & 8)
        drop(config);
}

/* Reads back a plan's configuration, or a configuration's engine. */
static void read_back(void)
{
    unsigned how = byte();
    descriptor from = any(how & 1 ? last_config : last_plan),
               part = fresh(how & 1   ? CUDNN_BACKEND_ENGINE_DESCRIPTOR
                            : how & 2 ? CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR
                                      : CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t count = 0;
    program_get(from,
                how & 1 ? CUDNN_ATTR_ENGINECFG_ENGINE : CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, how & 4 ? NULL : &count, &part);
    if (!(how & 1))
        last_config = part;
}

static void make_pack(void)
{
    unsigned how = byte(), odd = byte();
    int64_t uid[7];
    uintptr_t pointer[7], workspace = how & 128 ? 0x7fff0000 : 0;
    int64_t pointers = tensors;
    for (int i = 0; i < tensors; i++) {
        int from = (int)((how + (unsigned)i) % (unsigned)tensors);
        uid[i] = uids[from];
        pointer[i] = 0x10000000u * (unsigned)(from + 1) + 64 * (how >> 3 & 15);
    }
    uid[pointers] = uid[0];
    pointer[pointers] = 0x70000000;
    if (odd & 128 && tensors)
        switch (odd & 7) {
        case 0: uid[odd >> 3 & 3]++; break;
        case 1: pointer[odd >> 3 & 3] += 1 + (odd >> 5); break;
        case 2: pointer[odd >> 3 & 3] = pointer[0]; break;
        case 3: pointer[odd >> 3 & 3] = 0; break;
        case 4: pointers++; break; /* one twice */
        case 5: uid[pointers++] = 99; break;
        case 6: pointers--; break;
        default: break;
        }
    last_pack = fresh(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    if (pointers > 0) {
        set_elements(last_pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                     pointers, pointer, sizeof *pointer);
        set_numbers(last_pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, pointers - (odd == 64), uid);
    }
    set_elements(last_pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace,
                 sizeof workspace);
    if ((odd & 135) != 135)
        finalize(last_pack);
}

static void execute(void)
{
    static const unsigned char handles[] = {1, 2, 3, 1, 2, 0, 9, 1};
    uintptr_t handle = handles[byte() & 7];
    descriptor plan = any(last_plan);
    program_execute((cudnnHandle_t)handle, plan, any(last_pack));
}

/* Names of attributes, some of which there are. */
static int any_name(void)
{
    static const short bases[] = {0, 100, 200, 300, 400, 600, 700, 750, 800, 900, 1000, 1300};
    unsigned base = byte();
    return bases[base % 12] + (int)(byte() % 24);
}

static void any_elements(uint64_t *elements)
{
    unsigned how = byte();
    for (int i = 0; i < ELEMENTS; i++)
        elements[i] =
            how & 1 ? (uint64_t)(uintptr_t)slots[(how / 2 + (unsigned)i) % SLOTS] : byte() & 7;
}

static void set_anything(void)
{
    uint64_t elements[ELEMENTS];
    descriptor d = target();
    int name = any_name(), type = (int)(byte() % 26);
    int64_t count = (int64_t)(byte() % (ELEMENTS + 2)) - 1;
    any_elements(elements);
    program_set(d, name, type, count, byte() & 1 ? NULL : elements);
}

static void get_anything(void)
{
    uint64_t elements[ELEMENTS];
    descriptor d = target();
    int name = any_name();
    unsigned how = byte();
    int type = how & 1 ? CUDNN_TYPE_BACKEND_DESCRIPTOR : (int)(how / 8 % 26);
    int64_t count = 0, requested = (int64_t)(byte() % (ELEMENTS + 2)) - 1;
    any_elements(elements);
    program_get(d, name, type, requested, how & 2 ? NULL : &count, how & 4 ? NULL : elements);
}

static void change_settings(void)
{
    static const short refusals[] = {CUDNN_STATUS_INTERNAL_ERROR, CUDNN_STATUS_BAD_PARAM,
                                     CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_EXECUTION_FAILED};
    unsigned what = byte(), how = byte();
    switch (what % 6) {
    case 0: library.lenient = how & 1; break;
    case 1: library.newest_first = how & 1; break;
    case 2:
        library.refuse_in = (int)how;
        library.refusal = (cudnnStatus_t)refusals[what / 6 % 4];
        break;
    case 3: launcher.no_context = how & 1; break;
    case 4: launcher.refuses_launches = how & 1; break;
    default: library.lists = how; break;
    }
}

static void any_step(void)
{
    unsigned what = byte();
    unsigned when = what & 128 ? byte() : 0;
    spoil = what & 128 ? 1 + (int)(when & 128 ? when % 6 : when % 64) : 0;
    switch (what % 16) {
    case 0: make_graph(); break;
    case 1: list_configs(); break;
    case 2: make_plan(); break;
    case 3: make_pack(); break;
    case 4:
    case 5: execute(); break;
    case 6: build_config(); break;
    case 7: read_back(); break;
    case 8: set_anything(); break;
    case 9: get_anything(); break;
    case 10: change_settings(); break;
    case 11: fresh((int)(byte() % 48)); break;
    case 12: program_destroy(target()); break;
    case 13: program_finalize(target()); break;
    case 14: program_initialize(target()); break;
    default: drop(any(last_plan)); break;
    }
}

static void report(void)
{
    printf("inputs %llu, executes %llu, launches %llu, checked %llu, copies in lists %llu\n",
           program.inputs, program.executes, program.launches, program.checked, program.marked);
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    setenv("GROUPDNN_MODE", "force", 0);
    atexit(report);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    input_end = data + size;
    memset(&library, 0, sizeof library);
    memset(&launcher, 0, sizeof launcher);
    library.lists = byte();
    library.lenient = library.lists & 128;
    library.lies = getenv("GDNN_FUZZ_LIES"); /* then something must be found */
    spoil = next_slot = tensors = 0;
    last_graph = last_config = last_plan = last_pack = NULL;
    program.inputs++;
    while (input < input_end)
        any_step();
    library.refuse_in = 0;
    for (int i = 0; i < SLOTS; i++) {
        drop(slots[i]);
        slots[i] = NULL;
    }
    for (descriptor d; (d = library_any());) /* whose destruction was refused */
        program_destroy(d);
    program_check_end();
    routes_forget();
    return 0;
}
