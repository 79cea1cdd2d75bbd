#include "rotation.h"

#include "error.h"
#include "fill.h"
#include "half.h"
#include "problem.h"
#include <stdlib.h>

enum { MOST_COPIES = 128, ALIGNMENT = 256, PATTERN_VALUES = 1 << 16 };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t l2_of(const session *s)
{
    int bytes = 0;
    CUresult result =
        s->driver->cuDeviceGetAttribute(&bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, s->device);
    return result == CUDA_SUCCESS && bytes > 0 ? (size_t)bytes : 0;
}

static int wanted_copies(const rotation *r)
{
    size_t copies = 2 * r->l2_bytes / r->set + 1;
    return copies < 2 ? 2 : copies > MOST_COPIES ? MOST_COPIES : (int)copies;
}

/* Allocates `bytes`, or less down to `least`: what the device has. */
static gdnn_status allocate(session *s, CUdeviceptr *memory, size_t *bytes, size_t least)
{
    for (;;) {
        CUresult result = s->driver->cuMemAlloc(memory, *bytes);
        if (result == CUDA_SUCCESS)
            return GDNN_OK;
        *memory = 0;
        if (result != CUDA_ERROR_OUT_OF_MEMORY)
            return gdnn_driver_check(result, "cuMemAlloc");
        if (*bytes / 2 < least || *bytes < 2)
            return gdnn_fail(GDNN_UNSUPPORTED, "%zu bytes do not fit into the device's memory",
                             *bytes);
        *bytes /= 2;
    }
}

/* Writes random values once, and copies them on, twice as many each time. */
static gdnn_status fill(session *s, const rotation *r, gdnn_dtype dtype)
{
    const size_t all = r->set * (size_t)r->copies, size = gdnn_dtype_size(dtype);
    size_t done = PATTERN_VALUES * size < all ? PATTERN_VALUES * size : all;
    double *values = malloc(PATTERN_VALUES * sizeof *values);
    void *image = malloc(PATTERN_VALUES * size);
    gdnn_status status = GDNN_OK;
    if (values && image) {
        fill_values(values, PATTERN_VALUES, FILL_UNIFORM, 1, FILL_X, dtype);
        gdnn_encode(dtype, values, image, PATTERN_VALUES);
        status = gdnn_driver_check(s->driver->cuMemcpyHtoDAsync(r->memory, image, done, s->stream),
                                   "cuMemcpyHtoDAsync");
        if (status == GDNN_OK)
            status = session_wait(s);
    } else {
        status = gdnn_fail(GDNN_FAILED, "out of memory");
    }
    while (done < all && status == GDNN_OK) {
        size_t more = done < all - done ? done : all - done;
        status = gdnn_driver_check(
            s->driver->cuMemcpyDtoDAsync(r->memory + done, r->memory, more, s->stream),
            "cuMemcpyDtoDAsync");
        done += more;
    }
    free(values);
    free(image);
    return status == GDNN_OK ? session_wait(s) : status;
}

gdnn_status rotation_open(session *s, rotation *r, const gdnn_conv *conv, size_t workspace)
{
    *r = (rotation){.l2_bytes = l2_of(s), .workspace_bytes = workspace};
    for (tensor_name i = 0; i < TENSORS; i++) {
        r->used[i] = tensor_used(conv, i);
        r->offset[i] = r->set;
        if (!r->used[i])
            continue;
        tensor t = tensor_of(conv, i);
        r->set += aligned(tensor_bytes(&t));
    }
    size_t bytes = r->set * (size_t)wanted_copies(r);
    gdnn_status status = allocate(s, &r->memory, &bytes, r->set);
    if (status != GDNN_OK)
        return status;
    r->copies = (int)(bytes / r->set);
    status = fill(s, r, conv->dtype);
    if (status != GDNN_OK || !workspace)
        return status;
    status = allocate(s, &r->workspace, &r->workspace_bytes, 1);
    if (status == GDNN_UNSUPPORTED) {
        r->workspace_bytes = 0;
        status = GDNN_OK;
    }
    return status;
}

gdnn_tensors rotation_tensors(const rotation *r, int copy)
{
    void *place[TENSORS];
    CUdeviceptr begin = r->memory + (size_t)(copy % r->copies) * r->set;
    for (tensor_name i = 0; i < TENSORS; i++)
        place[i] = r->used[i] ? (void *)(uintptr_t)(begin + r->offset[i]) : NULL;
    return (gdnn_tensors){place[TENSOR_X], place[TENSOR_W], place[TENSOR_Y], place[TENSOR_Z],
                          place[TENSOR_BIAS]};
}

void *rotation_workspace(const rotation *r)
{
    return (void *)(uintptr_t)r->workspace;
}

void rotation_close(session *s, rotation *r)
{
    if (r->memory)
        s->driver->cuMemFree(r->memory);
    if (r->workspace)
        s->driver->cuMemFree(r->workspace);
    r->memory = r->workspace = 0;
}
