#include "texts.h"
#include <float.h>
#include <stdarg.h>
#include <stdio.h>

/* A text that is written; `full`, and no more is, where something has no words, for it is not finalised, or no room. */
typedef struct writing {
    char *text;
    size_t length;
    bool full;
} writing;

__attribute__((format(printf, 2, 3))) static void say(writing *w, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = w->full ? -1 : vsnprintf(w->text + w->length, TEXT_MOST - w->length, format, list);
    va_end(list);
    w->full |= length < 0 || w->length + (size_t)length >= TEXT_MOST;
    if (!w->full)
        w->length += (size_t)length;
}

static const void *value(writing *w, const library_object *object, int name, int64_t *count)
{
    static const int64_t nothing[8];
    const void *found = library_value(object, (cudnnBackendAttributeName_t)name, NULL, count);
    w->full |= !found;
    return found ? found : (*count = 1, nothing);
}

static int64_t number(writing *w, const library_object *object, int name)
{
    int64_t count;
    return *(const int64_t *)value(w, object, name, &count);
}

/* Of an attribute that may be unsaid. */
static int word(const library_object *object, int name, int otherwise)
{
    const int *found = library_value(object, (cudnnBackendAttributeName_t)name, NULL, NULL);
    return found ? *found : otherwise;
}

static const char *flag(const library_object *object, int name)
{
    const unsigned char *found =
        library_value(object, (cudnnBackendAttributeName_t)name, NULL, NULL);
    return found && *found ? "true" : "false";
}

static double real(const library_object *object, int name, double otherwise)
{
    int type = 0;
    const void *found = library_value(object, (cudnnBackendAttributeName_t)name, &type, NULL);
    if (!found)
        return otherwise;
    return type == CUDNN_TYPE_FLOAT ? (double)*(const float *)found : *(const double *)found;
}

static void say_list(writing *w, const char *name, const library_object *object, int attribute)
{
    int64_t count;
    const int64_t *numbers = value(w, object, attribute, &count);
    say(w, "\"%s\":[", name);
    for (int64_t i = 0; i < count; i++)
        say(w, "%s%lld", i ? "," : "", (long long)numbers[i]);
    say(w, "],");
}

static const char *type_of(writing *w, int type)
{
    switch (type) {
    case CUDNN_DATA_HALF: return "CUDNN_DATA_HALF";
    case CUDNN_DATA_BFLOAT16: return "CUDNN_DATA_BFLOAT16";
    case CUDNN_DATA_FLOAT: return "CUDNN_DATA_FLOAT";
    case CUDNN_DATA_DOUBLE: return "CUDNN_DATA_DOUBLE";
    default: w->full = true; return "";
    }
}

/* The parts of operations, by the names that texts have for them. */
typedef struct operation_part {
    int of;
    const char *name;
    int attribute;
} operation_part;

#define FORWARD   CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
#define DATA      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
#define FILTER    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR
#define POINTWISE CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR

static const operation_part parts[] = {
    {FORWARD, "X", CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X},
    {FORWARD, "W", CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
    {FORWARD, "Y", CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {DATA, "dX", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
    {DATA, "W", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W},
    {DATA, "dY", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
    {FILTER, "X", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X},
    {FILTER, "dW", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
    {FILTER, "dY", CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
    {POINTWISE, "X", CUDNN_ATTR_OPERATION_POINTWISE_XDESC},
    {POINTWISE, "B", CUDNN_ATTR_OPERATION_POINTWISE_BDESC},
    {POINTWISE, "Y", CUDNN_ATTR_OPERATION_POINTWISE_YDESC}};
enum { PARTS = sizeof parts / sizeof *parts, TENSORS = 40 };

static const library_object *part_of(const library_object *operation, int i)
{
    return parts[i].of == library_type(operation)
               ? library_element(operation, (cudnnBackendAttributeName_t)parts[i].attribute, 0)
               : NULL;
}

static void say_tensor(writing *w, const library_object *tensor)
{
    const int64_t *vectors = library_value(tensor, CUDNN_ATTR_TENSOR_VECTOR_COUNT, NULL, NULL);
    w->full |= !library_finalized(tensor);
    say(w, "{\"name\":\"%lld\",\"dataType\":\"%s\",",
        (long long)number(w, tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID),
        type_of(w, word(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, -1)));
    say_list(w, "dim", tensor, CUDNN_ATTR_TENSOR_DIMENSIONS);
    say_list(w, "stride", tensor, CUDNN_ATTR_TENSOR_STRIDES);
    say(w, "\"isVirtual\":%s,\"isByValue\":%s,\"vectCount\":%lld,\"vectDim\":-1,",
        flag(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL), flag(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE),
        vectors ? (long long)*vectors : 1);
    say(w, "\"ptrAlignment\":16,\"reordering\":\"%s\"}",
        word(tensor, CUDNN_ATTR_TENSOR_REORDERING_MODE, 0) ? "CUDNN_TENSOR_REORDERING_INT8x32"
                                                           : "CUDNN_TENSOR_REORDERING_NONE");
}

/* Each tensor once. */
static void say_tensors(writing *w, const library_object *graph, int64_t operations)
{
    int64_t met[TENSORS];
    int tensors = 0;
    for (int64_t i = 0; i < operations; i++)
        for (int p = 0; p < PARTS; p++) {
            const library_object *tensor =
                part_of(library_element(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, i), p);
            int at = 0;
            while (tensor && at < tensors &&
                   met[at] != number(w, tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID))
                at++;
            if (!tensor || at < tensors || w->full)
                continue;
            met[tensors++] = number(w, tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID);
            say(w, "%s", tensors > 1 ? "," : "");
            say_tensor(w, tensor);
        }
}

static void say_convolution(writing *w, const library_object *operation, const char *name,
                            int convolution, int alpha, int beta)
{
    const library_object *how =
        library_element(operation, (cudnnBackendAttributeName_t)convolution, 0);
    if (!how || !library_finalized(how)) {
        w->full = true;
        return;
    }
    say(w, "\"operation\":\"CUDNN_BACKEND_OPERATION_CONVOLUTION_%s_DESCRIPTOR\",", name);
    say(w, "\"mode\":\"%s\",\"mathPrec\":\"%s\",\"alpha\":%.17g,\"beta\":%.17g,",
        word(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, 0) ? "CUDNN_CROSS_CORRELATION"
                                                       : "CUDNN_CONVOLUTION",
        type_of(w, word(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, -1)), real(operation, alpha, 1),
        real(operation, beta, 0));
    say_list(w, "pad_lower", how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    say_list(w, "pad_upper", how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
    say_list(w, "stride", how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    say_list(w, "dilation", how, CUDNN_ATTR_CONVOLUTION_DILATIONS);
}

static void say_pointwise(writing *w, const library_object *operation)
{
    const library_object *how =
        library_element(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, 0);
    int mode = how && library_finalized(how) ? word(how, CUDNN_ATTR_POINTWISE_MODE, -1) : -1;
    if (mode != CUDNN_POINTWISE_ADD && mode != CUDNN_POINTWISE_RELU_FWD) {
        w->full = true;
        return;
    }
    say(w, "\"operation\":\"CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR\",");
    say(w, "\"pointwiseMode\":\"CUDNN_POINTWISE_%s\",\"mathPrec\":\"%s\",",
        mode == CUDNN_POINTWISE_ADD ? "ADD" : "RELU_FWD",
        type_of(w, word(how, CUDNN_ATTR_POINTWISE_MATH_PREC, -1)));
    say(w, "\"upperClip\":%.17g,\"lowerClip\":%.17g,\"lowerClipSlope\":%.17g,",
        real(how, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, DBL_MAX),
        real(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
        real(how, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0));
    say(w, "\"alpha1\":%.17g,\"alpha2\":%.17g,",
        real(operation, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1),
        real(operation, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1));
}

static void say_operation(writing *w, const library_object *operation)
{
    const char *comma = "";
    w->full |= !library_finalized(operation);
    say(w, "{");
    switch (library_type(operation)) {
#define SAY(type, way)                                                                             \
    say_convolution(w, operation, #type, CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_CONV_DESC,       \
                    CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_ALPHA,                                \
                    CUDNN_ATTR_OPERATION_CONVOLUTION_##way##_BETA)
    case FORWARD: SAY(FORWARD, FORWARD); break;
    case DATA: SAY(BACKWARD_DATA, BWD_DATA); break;
    case FILTER: SAY(BACKWARD_FILTER, BWD_FILTER); break;
    case POINTWISE: say_pointwise(w, operation); break;
    default: w->full = true; break;
    }
    for (int p = 0; p < PARTS; p++) {
        const library_object *tensor = part_of(operation, p);
        if (!tensor)
            continue;
        say(w, "%s\"%s\":\"%lld\"", comma, parts[p].name,
            (long long)number(w, tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID));
        comma = ",";
    }
    say(w, "}");
}

size_t text_of_plan(const library_object *plan, char text[TEXT_MOST])
{
    writing w = {.text = text};
    const library_object *config =
                             library_element(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, 0),
                         *engine = config ? library_element(config, CUDNN_ATTR_ENGINECFG_ENGINE, 0)
                                          : NULL,
                         *graph =
                             engine ? library_element(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, 0)
                                    : NULL;
    int64_t operations;
    if (!graph || !library_value(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, NULL, &operations))
        return 0;
    say(&w, "{\"cudnnVersion\":\"9.0.0\",\"schemaVersion\":4,\"operationGraph\":{");
    say(&w, "\"finalizeMode\":\"\",\"tensors\":[");
    say_tensors(&w, graph, operations);
    say(&w, "],\"nodes\":[");
    for (int64_t i = 0; i < operations; i++) {
        say(&w, "%s", i ? "," : "");
        say_operation(&w, library_element(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, i));
    }
    say(&w, "]},\"GPUProfile\":{},\"engine\":{}}");
    return w.full ? 0 : w.length;
}
