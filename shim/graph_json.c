#include "graph_json.h"
#include "graph_types.h"
#include "json_text.h"
#include <float.h>
#include <string.h>

enum { SCHEMA = 4 }; /* cuDNN restores no plan of another one */

/* The objects of a plan's text. */
enum {
    PLAN = 1,
    GRAPH = 2,
    TENSOR = 4,
    FORWARD = 8,
    BWD_DATA = 16,
    BWD_FILTER = 32,
    POINTWISE = 64,
    CONVOLUTION = FORWARD | BWD_DATA | BWD_FILTER
};

typedef struct member member;

/* Reads a member's value into the record of its object, which was all zeros. `tensors` are those of the graph. False:
 * the value is not understood. */
typedef bool reader(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record);

/* A member of an object. */
struct member {
    unsigned of; /* objects that have it */
    const char *name;
    reader *read;
    size_t offset;            /* of the field in a gdnn_graph_tensor or _node */
    size_t given;             /* of how many values there are, or whether there is one */
    int most;                 /* values in a list */
    const struct word *words; /* up to one without text */
    bool optional;
    bool repeats; /* may be said more than once */
};

typedef struct word {
    const char *text;
    int number;
} word;

static const word types[] = {{"CUDNN_DATA_HALF", CUDNN_DATA_HALF},
                             {"CUDNN_DATA_BFLOAT16", CUDNN_DATA_BFLOAT16},
                             {"CUDNN_DATA_FLOAT", CUDNN_DATA_FLOAT},
                             {"CUDNN_DATA_DOUBLE", CUDNN_DATA_DOUBLE},
                             {0}};
static const word modes[] = {{"CUDNN_CONVOLUTION", CUDNN_CONVOLUTION},
                             {"CUDNN_CROSS_CORRELATION", CUDNN_CROSS_CORRELATION},
                             {0}};
static const word pointwise_modes[] = {{"CUDNN_POINTWISE_ADD", CUDNN_POINTWISE_ADD},
                                       {"CUDNN_POINTWISE_RELU_FWD", CUDNN_POINTWISE_RELU_FWD},
                                       {0}};
static const word reorderings[] = {{"CUDNN_TENSOR_REORDERING_NONE", CUDNN_TENSOR_REORDERING_NONE},
                                   {0}};

static bool read_nothing(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    (void)m, (void)value, (void)tensors, (void)record;
    return true;
}

static bool read_schema(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    int64_t version;
    (void)m, (void)tensors, (void)record;
    return gdnn_json_whole(value, &version) && version == SCHEMA;
}

/* Another word becomes a number that cuDNN has not: no problem has it. */
static bool read_word(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    const word *known = m->words;
    gdnn_json bytes;
    (void)tensors;
    while (known->text && !gdnn_json_is(value, known->text))
        known++;
    const int number = known->text ? known->number : -1;
    memcpy(record + m->offset, &number, sizeof number);
    return gdnn_json_string(value, &bytes);
}

static bool read_number(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    int64_t number;
    (void)tensors;
    if (!gdnn_json_whole(value, &number))
        return false;
    memcpy(record + m->offset, &number, sizeof number);
    return true;
}

static bool read_real(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    double number;
    (void)tensors;
    if (!gdnn_json_real(value, &number))
        return false;
    memcpy(record + m->offset, &number, sizeof number);
    return true;
}

static bool read_flag(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    bool flag;
    (void)tensors;
    if (!gdnn_json_flag(value, &flag))
        return false;
    memcpy(record + m->offset, &flag, sizeof flag);
    return true;
}

/* A tensor is named by its unique id. */
static bool read_name(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    gdnn_json bytes;
    return gdnn_json_string(value, &bytes) && read_number(m, bytes, tensors, record);
}

/* False also where another member has filled the list already. */
static bool read_list(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    gdnn_json_items items = gdnn_json_open(value);
    gdnn_json unnamed, element;
    int64_t before, count = 0, number;
    (void)tensors;
    memcpy(&before, record + m->given, sizeof before);
    if (before || !gdnn_json_is_array(value))
        return false;
    for (; gdnn_json_next(&items, &unnamed, &element); count++) {
        if (count == m->most || !gdnn_json_whole(element, &number))
            return false;
        memcpy(record + m->offset + (size_t)count * sizeof number, &number, sizeof number);
    }
    memcpy(record + m->given, &count, sizeof count);
    return count > 0;
}

static reader read_pads, read_tensor;

#define SKIP(of, name)                                                                             \
    {                                                                                              \
        of, name, .read = read_nothing                                                             \
    }
#define IN(type, of, name, how, field, ...)                                                        \
    {                                                                                              \
        of, name, .read = read_##how, .offset = offsetof(type, field), __VA_ARGS__                 \
    }
#define LIST_IN(type, of, name, how, field, count, ...)                                            \
    IN(type, of, name, how, field, .given = offsetof(type, count),                                 \
       .most = sizeof((type *)NULL)->field / sizeof(int64_t), __VA_ARGS__)
#define IN_TENSOR(...)           IN(gdnn_graph_tensor, TENSOR, __VA_ARGS__)
#define LIST_IN_TENSOR(...)      LIST_IN(gdnn_graph_tensor, TENSOR, __VA_ARGS__)
#define IN_NODE(...)             IN(gdnn_graph_node, __VA_ARGS__)
#define LIST_IN_CONVOLUTION(...) LIST_IN(gdnn_graph_node, CONVOLUTION, __VA_ARGS__)
#define TENSOR_OF(of, name, field, ...)                                                            \
    IN_NODE(of, name, tensor, field, .given = offsetof(gdnn_graph_node, has_##field), __VA_ARGS__)

/* All that is understood. Each is said once, unless noted otherwise. */
static const member members[] = {
    SKIP(PLAN, "cudnnVersion"),
    {PLAN, "schemaVersion", .read = read_schema},
    SKIP(PLAN, "operationGraph"),
    SKIP(PLAN, "GPUProfile"),
    SKIP(PLAN, "engine"),

    SKIP(GRAPH, "finalizeMode"),
    SKIP(GRAPH, "tensors"),
    SKIP(GRAPH, "nodes"),

    IN_TENSOR("name", name, uid),
    IN_TENSOR("dataType", word, type, .words = types),
    LIST_IN_TENSOR("dim", list, size, dims),
    LIST_IN_TENSOR("stride", list, stride, strides),
    IN_TENSOR("isVirtual", flag, is_virtual),
    IN_TENSOR("isByValue", flag, by_value),
    IN_TENSOR("vectCount", number, vector_count),
    SKIP(TENSOR, "vectDim"), /* of a vector count that is not 1 */
    IN_TENSOR("ptrAlignment", number, alignment),
    IN_TENSOR("reordering", word, reordering, .words = reorderings),

    SKIP(CONVOLUTION | POINTWISE, "operation"),

    IN_NODE(CONVOLUTION, "mode", word, convolution.mode, .words = modes),
    IN_NODE(CONVOLUTION, "mathPrec", word, convolution.type, .words = types),
    IN_NODE(CONVOLUTION, "alpha", real, alpha),
    IN_NODE(CONVOLUTION, "beta", real, beta),
    LIST_IN_CONVOLUTION("stride", list, convolution.stride, convolution.strides),
    LIST_IN_CONVOLUTION("dilation", list, convolution.dilation, convolution.dilations),
    /* Either one list, or two where they differ. */
    LIST_IN_CONVOLUTION("pad", pads, convolution.pad, convolution.pads, .optional = true),
    LIST_IN_CONVOLUTION("pad_lower", list, convolution.pad, convolution.pads, .optional = true),
    LIST_IN_CONVOLUTION("pad_upper", list, convolution.pad_after, convolution.pads_after,
                        .optional = true),
    /* Sizes tell how many groups there are. Where tensors have an axis of groups, cuDNN says it twice, and the second
     * number is wrong. */
    {CONVOLUTION, "groupCount", .read = read_nothing, .optional = true, .repeats = true},
    TENSOR_OF(FORWARD | BWD_FILTER, "X", x),
    TENSOR_OF(BWD_DATA, "dX", x),
    TENSOR_OF(FORWARD | BWD_DATA, "W", w),
    TENSOR_OF(BWD_FILTER, "dW", w),
    TENSOR_OF(FORWARD, "Y", y),
    TENSOR_OF(BWD_DATA | BWD_FILTER, "dY", y),

    IN_NODE(POINTWISE, "pointwiseMode", word, pointwise.mode, .words = pointwise_modes),
    IN_NODE(POINTWISE, "mathPrec", word, pointwise.type, .words = types),
    IN_NODE(POINTWISE, "upperClip", real, pointwise.upper_clip, .optional = true),
    IN_NODE(POINTWISE, "lowerClip", real, pointwise.lower_clip, .optional = true),
    IN_NODE(POINTWISE, "lowerClipSlope", real, pointwise.lower_slope, .optional = true),
    IN_NODE(POINTWISE, "alpha1", real, alpha),
    IN_NODE(POINTWISE, "alpha2", real, beta),
    TENSOR_OF(POINTWISE, "X", x),
    TENSOR_OF(POINTWISE, "B", b, .optional = true),
    TENSOR_OF(POINTWISE, "Y", y)};

enum { MEMBERS = sizeof members / sizeof *members };

/* The index of a member; MEMBERS if an object of that kind has none of that name. */
static int find_member(unsigned kind, gdnn_json name)
{
    int i = 0;
    while (i < MEMBERS && (!(members[i].of & kind) || !gdnn_json_is(name, members[i].name)))
        i++;
    return i;
}

/* Reads an object. False unless it has all members that it must have, and all that it has are understood. */
static bool read_members(unsigned kind, gdnn_json object, gdnn_json tensors, void *record)
{
    gdnn_json_items items = gdnn_json_open(object);
    gdnn_json name, value;
    bool seen[MEMBERS] = {0};
    if (!gdnn_json_is_object(object))
        return false;
    while (gdnn_json_next(&items, &name, &value)) {
        int at = find_member(kind, name);
        if (at == MEMBERS || (seen[at] && !members[at].repeats) ||
            !members[at].read(&members[at], value, tensors, record))
            return false;
        seen[at] = true;
    }
    for (int i = 0; i < MEMBERS; i++)
        if ((members[i].of & kind) && !members[i].optional && !seen[i])
            return false;
    return true;
}

/* Pads of both sides. */
static bool read_pads(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    member after = *m;
    after.offset = offsetof(gdnn_graph_node, convolution.pad_after);
    after.given = offsetof(gdnn_graph_node, convolution.pads_after);
    return read_list(m, value, tensors, record) && read_list(&after, value, tensors, record);
}

/* The one tensor of the name that `value` is. */
static bool read_tensor(const member *m, gdnn_json value, gdnn_json tensors, unsigned char *record)
{
    gdnn_json_items items = gdnn_json_open(tensors);
    gdnn_json unnamed, object, name;
    gdnn_graph_tensor tensor = {0};
    const bool yes = true;
    bool found = false;
    while (gdnn_json_next(&items, &unnamed, &object)) {
        if (!gdnn_json_find(object, "name", &name) || !gdnn_json_equal(name, value))
            continue;
        if (found || !read_members(TENSOR, object, tensors, &tensor))
            return false;
        found = true;
    }
    memcpy(record + m->offset, &tensor, sizeof tensor);
    memcpy(record + m->given, &yes, sizeof yes);
    return found;
}

static void read_node(gdnn_json object, gdnn_json tensors, gdnn_graph_node *node)
{
    static const struct {
        const char *operation;
        unsigned object;
        gdnn_graph_kind kind;
    } kinds[] = {
        {"CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR", FORWARD, GDNN_GRAPH_FORWARD},
        {"CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR", BWD_DATA,
         GDNN_GRAPH_BWD_DATA},
        {"CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR", BWD_FILTER,
         GDNN_GRAPH_BWD_FILTER},
        {"CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR", POINTWISE, GDNN_GRAPH_POINTWISE}};
    gdnn_json operation;
    node->kind = GDNN_GRAPH_OTHER;
    if (!gdnn_json_find(object, "operation", &operation))
        return;
    node->pointwise.upper_clip = DBL_MAX; /* where it is not said */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!gdnn_json_is(operation, kinds[i].operation))
            continue;
        node->kind = kinds[i].kind;
        node->unknown = !read_members(kinds[i].object, object, tensors, node);
    }
    node->convolution.spatial = node->convolution.strides;
}

bool gdnn_graph_json_read(const char *text, size_t length, gdnn_graph *graph)
{
    gdnn_json plan, operations, tensors, nodes, unnamed, node;
    memset(graph, 0, sizeof *graph);
    if (!gdnn_json_read(text, length, &plan) ||
        !gdnn_json_find(plan, "operationGraph", &operations) ||
        !gdnn_json_find(operations, "tensors", &tensors) || !gdnn_json_is_array(tensors) ||
        !gdnn_json_find(operations, "nodes", &nodes) || !gdnn_json_is_array(nodes))
        return false;
    graph->unknown =
        !read_members(PLAN, plan, tensors, NULL) || !read_members(GRAPH, operations, tensors, NULL);
    gdnn_json_items items = gdnn_json_open(nodes);
    while (gdnn_json_next(&items, &unnamed, &node)) {
        if (graph->nodes == GDNN_GRAPH_NODES)
            return false;
        read_node(node, tensors, &graph->node[graph->nodes++]);
    }
    return true;
}
