#include "graph_library.h"
#include "api.h"
#include "graph_table.h"

graph_library library;
_Thread_local const void *library_arguments[6];

/* Descriptors are bytes from malloc, so that a sanitizer sees it if somebody looks into one that is gone. */
static void *_Atomic last_destroyed;

void graph_library_reset(void)
{
    library = (graph_library){.filled = -1, .workspace = 1000, .note = -1, .type = CUDNN_DATA_HALF};
    free(atomic_exchange(&last_destroyed, NULL));
}

static void note(const void *a, const void *b, const void *c, const void *d, const void *e,
                 const void *f)
{
    const void *const arguments[] = {a, b, c, d, e, f};
    memcpy(library_arguments, arguments, sizeof arguments);
}

#define NUMBER(value) ((const void *)(uintptr_t)(value))

static cudnnStatus_t create_descriptor(cudnnBackendDescriptorType_t type,
                                       cudnnBackendDescriptor_t *descriptor)
{
    note(NUMBER(type), descriptor, NULL, NULL, NULL, NULL);
    if (library.answer)
        return library.answer;
    void *again = library.reuses ? atomic_exchange(&last_destroyed, NULL) : NULL;
    *descriptor = again ? again : malloc(16);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t real_destroy(cudnnBackendDescriptor_t descriptor)
{
    note(descriptor, NULL, NULL, NULL, NULL, NULL);
    gdnn_graph_entry *entry = gdnn_graph_table_lock(descriptor);
    if (entry) {
        library.seen_at_destroy = true;
        gdnn_graph_table_unlock(entry);
    }
    free(atomic_exchange(&last_destroyed, descriptor));
    return library.answer;
}

static cudnnStatus_t one_descriptor(cudnnBackendDescriptor_t descriptor)
{
    note(descriptor, NULL, NULL, NULL, NULL, NULL);
    return library.answer;
}

static cudnnStatus_t set_attribute(cudnnBackendDescriptor_t descriptor,
                                   cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type, int64_t count,
                                   const void *elements)
{
    note(descriptor, NUMBER(name), NUMBER(type), NUMBER(count), elements, NULL);
    return library.answer;
}

static cudnnStatus_t get_attribute(cudnnBackendDescriptor_t descriptor,
                                   cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type, int64_t requested,
                                   int64_t *count, void *elements)
{
    note(descriptor, NUMBER(name), NUMBER(type), NUMBER(requested), count, elements);
    if (library.answer)
        return library.answer;
    if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION && library.text) {
        *count = (int64_t)strlen(library.text);
        if (requested)
            memcpy(elements, library.text, (size_t)(requested < *count ? requested : *count));
        return CUDNN_STATUS_SUCCESS;
    }
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
        library.results = requested;
    if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
        memcpy(elements, &library.workspace, sizeof library.workspace);
    if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
        memcpy(elements, &library.note, sizeof library.note);
        *count = library.note >= 0;
        return CUDNN_STATUS_SUCCESS;
    }
    if (count)
        *count = library.filled < 0 ? requested : library.filled;
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                             cudnnBackendDescriptor_t pack)
{
    note(handle, plan, pack, NULL, NULL, NULL);
    library.executed++;
    return library.answer;
}

static cudnnStatus_t get_stream(cudnnHandle_t handle, CUstream *stream)
{
    (void)handle;
    library.streams_asked++;
    *stream = library.stream;
    return library.stream_answer;
}

static void get_text(char *text, size_t size)
{
    if (size)
        *text = '\0';
}

void *gdnn_real(gdnn_api which)
{
    switch (which) {
    case GDNN_API_cudnnBackendCreateDescriptor: return (void *)create_descriptor;
    case GDNN_API_cudnnBackendDestroyDescriptor: return (void *)real_destroy;
    case GDNN_API_cudnnBackendInitialize: return (void *)one_descriptor;
    case GDNN_API_cudnnBackendFinalize: return (void *)one_descriptor;
    case GDNN_API_cudnnBackendSetAttribute: return (void *)set_attribute;
    case GDNN_API_cudnnBackendGetAttribute: return (void *)get_attribute;
    case GDNN_API_cudnnBackendExecute: return (void *)execute;
    case GDNN_API_cudnnGetLastErrorString: return (void *)get_text;
    case GDNN_API_cudnnGetStream: return (void *)get_stream;
    default: fail_msg("function %d was not expected", which); return NULL;
    }
}

cudnnBackendDescriptor_t create(cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t descriptor = NULL;
    assert_int_equal(gdnn_cudnnBackendCreateDescriptor(type, &descriptor), CUDNN_STATUS_SUCCESS);
    return descriptor;
}

void destroy(cudnnBackendDescriptor_t descriptor)
{
    assert_int_equal(gdnn_cudnnBackendDestroyDescriptor(descriptor), library.answer);
}

void finalize(cudnnBackendDescriptor_t descriptor)
{
    assert_int_equal(gdnn_cudnnBackendFinalize(descriptor), library.answer);
}

void set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
    assert_int_equal(gdnn_cudnnBackendSetAttribute(descriptor, name, type, count, elements),
                     library.answer);
}

void set_number(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                int64_t number)
{
    set(descriptor, name, CUDNN_TYPE_INT64, 1, &number);
}

void set_word(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
              cudnnBackendAttributeType_t type, int word)
{
    set(descriptor, name, type, 1, &word);
}

void set_one(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
             cudnnBackendDescriptor_t element)
{
    set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &element);
}

void get(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, int64_t requested,
         int64_t *count, cudnnBackendDescriptor_t *elements)
{
    assert_int_equal(gdnn_cudnnBackendGetAttribute(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                   requested, count, elements),
                     library.answer);
}

cudnnBackendDescriptor_t make_tensor(int64_t uid, int64_t n, int64_t c, int64_t h, int64_t w)
{
    cudnnBackendDescriptor_t tensor = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const int64_t size[] = {n, c, h, w}, stride[] = {c * h * w, h * w, w, 1};
    set_word(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, (int)library.type);
    set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, size);
    set(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride);
    set_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
    set_number(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16);
    finalize(tensor);
    return tensor;
}

cudnnBackendDescriptor_t make_convolution(void)
{
    return make_convolution_padded(1);
}

cudnnBackendDescriptor_t make_convolution_padded(int64_t pad)
{
    cudnnBackendDescriptor_t convolution = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const int64_t one[] = {1, 1}, pads[] = {pad, pad};
    set_word(convolution, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    set_word(convolution, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
             CUDNN_CROSS_CORRELATION);
    set_number(convolution, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
    set(convolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
    set(convolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
    set(convolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, one);
    set(convolution, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
    finalize(convolution);
    return convolution;
}

cudnnBackendDescriptor_t make_forward(int64_t groups)
{
    cudnnBackendDescriptor_t parts[] = {make_tensor('x', 2, 16, 8, 9),
                                        make_tensor('w', 32, 16 / groups, 3, 3),
                                        make_tensor('y', 2, 32, 8, 9), make_convolution()};
    cudnnBackendDescriptor_t operation =
        create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, parts[0]);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, parts[1]);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, parts[2]);
    set_one(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, parts[3]);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        destroy(parts[i]);
    finalize(operation);
    return operation;
}

cudnnBackendDescriptor_t make_graph(int64_t count, const cudnnBackendDescriptor_t *operations)
{
    cudnnBackendDescriptor_t graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, operations);
    finalize(graph);
    return graph;
}

cudnnBackendDescriptor_t make_plan(cudnnBackendDescriptor_t graph)
{
    cudnnBackendDescriptor_t engine = create(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    set_one(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    finalize(engine);
    destroy(graph);
    cudnnBackendDescriptor_t config = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_one(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    finalize(config);
    destroy(engine);
    cudnnBackendDescriptor_t plan = create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set_one(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finalize(plan);
    destroy(config);
    return plan;
}
