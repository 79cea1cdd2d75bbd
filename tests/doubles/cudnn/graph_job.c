#include "graph_job.h"
#include "../../clients/device.h"
#include "half.h"
#include "problem.h"
#include "unit.h"
#include <dlfcn.h>

driver_functions driver;
CUcontext context;

static int64_t place(const buffer *b, int64_t i)
{
    int64_t at = 0;
    for (int axis = b->dims - 1; axis >= 0; axis--) {
        at += i % b->size[axis] * b->stride[axis];
        i /= b->size[axis];
    }
    return at;
}

static void add_buffer(job *j, int64_t uid, gdnn_role role, const int64_t *stride, double *values)
{
    const gdnn_conv *conv = &j->problem.conv;
    const size_t width = gdnn_dtype_size(conv->dtype);
    buffer *b = &j->tensor[j->tensors++];
    *b = (buffer){.uid = uid, .dims = gdnn_dims(conv), .stride = stride, .values = values};
    gdnn_sizes(conv, role, b->size);
    if (uid == UID_BIAS)
        b->dims = 1, b->size[0] = conv->k;
    b->count = b->span = 1;
    for (int i = 0; i < b->dims; i++) {
        b->count *= b->size[i];
        b->span += (b->size[i] - 1) * stride[i];
    }
    b->bytes = malloc((size_t)b->span * width);
    assert_non_null(b->bytes);
    memset(b->bytes, 0xff, (size_t)b->span * width); /* NaN in the gaps */
    for (int64_t i = 0; i < b->count; i++)
        gdnn_encode(conv->dtype, values + i, b->bytes + (size_t)place(b, i) * width, 1);
    b->device = device_new((size_t)b->span * width);
    device_put(b->device, b->bytes, (size_t)b->span * width);
}

job *begin(const char *text)
{
    static const int64_t packed[] = {1};
    job *j = calloc(1, sizeof *j);
    assert_non_null(j);
    fixture *f = &j->problem;
    const gdnn_conv *conv = &f->conv;
    read_problem(f, text);
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnCreate(&j->handle));
    add_buffer(j, UID_X, GDNN_ROLE_X, conv->x_stride, f->x);
    add_buffer(j, UID_W, GDNN_ROLE_W, conv->w_stride, f->w);
    add_buffer(j, UID_Y, GDNN_ROLE_Y, conv->y_stride, f->y);
    if (conv->bias)
        add_buffer(j, UID_BIAS, GDNN_ROLE_Y, packed, f->bias);
    if (conv->z)
        add_buffer(j, UID_Z, GDNN_ROLE_Y, conv->z_stride, f->z);
    run(f, conv->dir);
    return j;
}

void end(job *j)
{
    for (int i = 0; i < j->tensors; i++) {
        free(j->tensor[i].bytes);
        device_free(j->tensor[i].device);
    }
    device_free(j->workspace);
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnDestroy(j->handle));
    free(j);
}

descriptor pack_of(job *j, descriptor plan)
{
    int64_t uids[TENSORS];
    void *pointers[TENSORS];
    for (int i = 0; i < j->tensors; i++) {
        uids[i] = j->tensor[i].uid;
        pointers[i] = j->tensor[i].device;
    }
    const int64_t bytes = workspace_size(plan);
    device_free(j->workspace);
    j->workspace = bytes ? device_new((size_t)bytes) : NULL;
    return make_pack(j->tensors, uids, pointers, j->workspace);
}

int64_t count_wrong(const job *j, bool computed, cudaStream_t stream)
{
    const gdnn_conv *conv = &j->problem.conv;
    const size_t width = gdnn_dtype_size(conv->dtype);
    int64_t wrong = 0;
    for (int t = 0; t < j->tensors; t++) {
        const buffer *b = &j->tensor[t];
        unsigned char *wanted = malloc((size_t)b->span * width),
                      *found = malloc((size_t)b->span * width);
        assert_true(wanted && found);
        memcpy(wanted, b->bytes, (size_t)b->span * width);
        for (int64_t i = 0; computed && t == (int)gdnn_written(conv->dir) && i < b->count; i++)
            gdnn_encode(conv->dtype, b->values + i, wanted + (size_t)place(b, i) * width, 1);
        device_get(found, b->device, (size_t)b->span * width, stream);
        for (int64_t i = 0; i < b->span; i++)
            wrong += memcmp(wanted + (size_t)i * width, found + (size_t)i * width, width) != 0;
        free(wanted);
        free(found);
    }
    return wrong;
}

void put_back(const job *j)
{
    const size_t width = gdnn_dtype_size(j->problem.conv.dtype);
    for (int t = 0; t < j->tensors; t++)
        device_put(j->tensor[t].device, j->tensor[t].bytes, (size_t)j->tensor[t].span * width);
}

void open_scene(scene *s, const char *text, int64_t workspace)
{
    s->j = begin(text);
    descriptor graph =
        make_graph(s->j->handle, &s->j->problem.conv, false, CUDNN_POINTWISE_RELU_FWD);
    descriptor config = make_config(graph, workspace);
    s->plan = make_plan(s->j->handle, config);
    s->pack = pack_of(s->j, s->plan);
    for (int i = 0; i < s->j->tensors; i++) {
        s->uids[i] = s->j->tensor[i].uid;
        s->pointers[i] = s->j->tensor[i].device;
    }
    destroy(config);
    destroy(graph);
}

void close_scene(scene *s)
{
    destroy(s->pack);
    destroy(s->plan);
    end(s->j);
}

bool open_driver(void)
{
    if (!device_open())
        return false;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return false;
    driver.get = (__typeof__(driver.get))dlsym(library, "cuCtxGetCurrent");
    driver.push = (__typeof__(driver.push))dlsym(library, "cuCtxPushCurrent_v2");
    driver.pop = (__typeof__(driver.pop))dlsym(library, "cuCtxPopCurrent_v2");
    driver.begin_capture =
        (__typeof__(driver.begin_capture))dlsym(library, "cuStreamBeginCapture_v2");
    driver.end_capture = (__typeof__(driver.end_capture))dlsym(library, "cuStreamEndCapture");
    return driver.get && driver.push && driver.pop && driver.begin_capture && driver.end_capture &&
           driver.get(&context) == CUDA_SUCCESS;
}
