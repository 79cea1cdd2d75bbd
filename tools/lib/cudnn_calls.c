#include "cudnn_calls.h"

#include "error.h"
#include "open_file.h"
#include <dlfcn.h>

static gdnn_status find_calls(cudnn_calls *c, void *library)
{
#define CALL(name)                                                                                 \
    *(void **)&c->name = dlsym(library, #name);                                                    \
    if (!c->name)                                                                                  \
        return gdnn_fail(GDNN_UNSUPPORTED, "%s has no " #name, c->file.path);
    CUDNN_CALLS(CALL)
#undef CALL
    return GDNN_OK;
}

gdnn_status cudnn_calls_open(cudnn_calls *c, const session *s)
{
    char why[512];
    size_t version;
    *c = (cudnn_calls){.handle = NULL};
    if (!cudnn_find(NULL, &c->file, NULL, NULL))
        return gdnn_fail(GDNN_UNSUPPORTED, "%s", c->file.trouble);
    if (!c->file.version) /* it was not survived */
        return gdnn_fail(GDNN_UNSUPPORTED, "%s: %s", c->file.path, c->file.trouble);
    void *library = gdnn_open_file(c->file.path, &version, why, sizeof why);
    if (!library)
        return gdnn_fail(GDNN_UNSUPPORTED, "%s: this file %s", c->file.path, why);
    gdnn_status status = find_calls(c, library);
    if (status == GDNN_OK)
        status = cudnn_calls_check(c, c->cudnnCreate(&c->handle), "cudnnCreate");
    if (status == GDNN_OK)
        status = cudnn_calls_check(c, c->cudnnSetStream(c->handle, s->stream), "cudnnSetStream");
    return status;
}

void cudnn_calls_close(cudnn_calls *c)
{
    if (c->handle)
        c->cudnnDestroy(c->handle);
    c->handle = NULL;
}

gdnn_status cudnn_calls_check(const cudnn_calls *c, cudnnStatus_t status, const char *call)
{
    if (status == CUDNN_STATUS_SUCCESS)
        return GDNN_OK;
    return gdnn_fail(GDNN_UNSUPPORTED, "%s: %s (%d)", call, c->cudnnGetErrorString(status),
                     (int)status);
}

cudnnDataType_t cudnn_type_of(gdnn_dtype dtype)
{
    static const cudnnDataType_t types[] = {[GDNN_F16] = CUDNN_DATA_HALF,
                                            [GDNN_BF16] = CUDNN_DATA_BFLOAT16,
                                            [GDNN_F32] = CUDNN_DATA_FLOAT,
                                            [GDNN_F64] = CUDNN_DATA_DOUBLE};
    return types[dtype];
}

/* Moves the entry of the one axis to the second place. */
static void push(int64_t *axes, int64_t first)
{
    axes[1] = axes[0];
    axes[0] = first;
}

gdnn_status cudnn_problem(const gdnn_conv *conv, gdnn_conv *asked)
{
    int64_t out[GDNN_MAX_SPATIAL];
    *asked = *conv;
    if (conv->bias || conv->z || conv->act != GDNN_ACT_NONE)
        return gdnn_fail(GDNN_UNSUPPORTED, "cuDNN is timed without bias, z and activation alone");
    if (conv->spatial > 1)
        return GDNN_OK;
    gdnn_conv_out(conv, out);
    push(asked->x_stride + 2, conv->x_stride[2] * conv->in[0]);
    push(asked->w_stride + 2, conv->w_stride[2] * conv->filter[0]);
    push(asked->y_stride + 2, conv->y_stride[2] * out[0]);
    push(asked->in, 1);
    push(asked->filter, 1);
    push(asked->pad, 0);
    push(asked->pad_after, 0);
    push(asked->stride, 1);
    push(asked->dilation, 1);
    asked->spatial = 2;
    return GDNN_OK;
}
