#include "data.h"
#include "half.h"
#include "memory.h"
#include "problem.h"
#include <stdlib.h>

/* Where element `i`, counted in logical order, stands. */
static int64_t place(const data *d, int64_t i)
{
    int64_t at = 0;
    for (int axis = d->dims - 1; axis >= 0; axis--) {
        at += i % d->size[axis] * d->stride[axis];
        i /= d->size[axis];
    }
    return at;
}

void data_free(data *d)
{
    free(d->bytes);
    free(d->values);
    *d = (data){0};
}

cudnnStatus_t data_read(data *d, gdnn_dtype type, int dims, const int64_t *size,
                        const int64_t *stride, const void *device, cudaStream_t stream)
{
    const size_t width = gdnn_dtype_size(type);
    *d = (data){.type = type, .dims = dims, .elements = 1, .span = 1};
    for (int i = 0; i < dims; i++) {
        d->size[i] = size[i];
        d->stride[i] = stride[i];
        d->elements *= size[i];
        d->span += (size[i] - 1) * stride[i];
    }
    d->bytes = malloc((size_t)d->span * width);
    d->values = malloc((size_t)d->elements * sizeof *d->values);
    cudnnStatus_t status = created(d->bytes);
    if (status == CUDNN_STATUS_SUCCESS)
        status = created(d->values);
    if (status == CUDNN_STATUS_SUCCESS)
        status = read_device(d->bytes, device, (size_t)d->span * width, stream);
    if (status != CUDNN_STATUS_SUCCESS) {
        data_free(d);
        return status;
    }
    for (int64_t i = 0; i < d->elements; i++)
        gdnn_decode(type, d->bytes + (size_t)place(d, i) * width, &d->values[i], 1);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t data_write(data *d, void *device, cudaStream_t stream)
{
    const size_t width = gdnn_dtype_size(d->type);
    for (int64_t i = 0; i < d->elements; i++)
        gdnn_encode(d->type, &d->values[i], d->bytes + (size_t)place(d, i) * width, 1);
    return write_device(device, d->bytes, (size_t)d->span * width, stream);
}
