#include "tensors.h"
#include "problem.h"
#include "reference.h"

static cudnnStatus_t read_one(data *d, const gdnn_conv *conv, gdnn_role role, const int64_t *stride,
                              const void *device, cudaStream_t stream)
{
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(conv, role, size);
    return data_read(d, conv->dtype, gdnn_dims(conv), size, stride, device, stream);
}

cudnnStatus_t tensors_read(tensors *t, const gdnn_conv *conv, const places *device,
                           cudaStream_t stream)
{
    static const int64_t packed[] = {1};
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    if (conv->bias)
        status = data_read(&t->bias, conv->dtype, 1, &conv->k, packed, device->bias, stream);
    if (conv->z && conv->alpha2 != 0 && status == CUDNN_STATUS_SUCCESS)
        status = read_one(&t->z, conv, GDNN_ROLE_Y, conv->z_stride, device->z, stream);
    for (int i = 0; i < 3 && status == CUDNN_STATUS_SUCCESS; i++) {
        const gdnn_role role = (gdnn_role)i;
        status =
            read_one(&t->role[i], conv, role, gdnn_strides(conv, role), device->role[i], stream);
    }
    return status;
}

void tensors_compute(tensors *t, const gdnn_conv *conv)
{
    gdnn_reference_run(conv, &(gdnn_reference){.x = t->role[GDNN_ROLE_X].values,
                                               .w = t->role[GDNN_ROLE_W].values,
                                               .y = t->role[GDNN_ROLE_Y].values,
                                               .z = t->z.values,
                                               .bias = t->bias.values});
}

cudnnStatus_t tensors_write(tensors *t, const gdnn_conv *conv, const places *device,
                            cudaStream_t stream)
{
    const gdnn_role written = gdnn_written(conv->dir);
    return data_write(&t->role[written], device->role[written], stream);
}

void tensors_free(tensors *t)
{
    for (int role = 0; role < 3; role++)
        data_free(&t->role[role]);
    data_free(&t->z);
    data_free(&t->bias);
}
