/* The calls around a bias. */
#include "calls.h"
#include "device.h"
#include "number.h"
#include "report.h"
#include "tensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static cudnnHandle_t handle;

static cudnnTensorDescriptor_t describe(const tensor *t)
{
    cudnnTensorDescriptor_t descriptor;
    cudnnCreateTensorDescriptor(&descriptor);
    cudnnSetTensorNdDescriptor(descriptor, t->type, t->axes, t->size, t->stride);
    return descriptor;
}

/* One of the two calls, with y (2, 6, 4, 3) and a bias of 6. */
static void run(int gradient, cudnnDataType_t type, order how, double alpha, double beta)
{
    static const int full[4] = {2, 6, 4, 3}, bias[4] = {1, 6, 1, 1};
    const float narrow[2] = {(float)alpha, (float)beta};
    const double wide[2] = {alpha, beta};
    const int is_wide = type == CUDNN_DATA_DOUBLE;
    const void *a = is_wide ? (const void *)&wide[0] : &narrow[0];
    const void *b = is_wide ? (const void *)&wide[1] : &narrow[1];
    double result[144], bound[144], worst;
    tensor y, db;

    number_seed(3);
    tensor_make(&y, type, 4, full, how, !gradient && beta == 0);
    tensor_make(&db, type, 4, bias, CHANNELS_FIRST, gradient && beta == 0);
    cudnnTensorDescriptor_t y_descriptor = describe(&y), b_descriptor = describe(&db);
    tensor *written = gradient ? &db : &y;
    cudnnStatus_t status;
    if (gradient)
        status = CALL("", cudnnConvolutionBackwardBias(handle, a, y_descriptor, y.device, b,
                                                       b_descriptor, db.device));
    else
        status =
            CALL("", cudnnAddTensor(handle, a, b_descriptor, db.device, b, y_descriptor, y.device));
    for (int i = 0; i < written->elements; i++) {
        result[i] = beta != 0 ? beta * written->numbers[i] : 0;
        bound[i] = 100 * (is_wide ? 0x1p-53 : 0x1p-24);
    }
    for (int i = 0; i < y.elements; i++) {
        const int k = i / 12 % 6;
        if (gradient)
            result[k] += alpha * y.numbers[i];
        else
            result[i] += alpha * db.numbers[k];
    }
    show("type=%d order=%d alpha=%g beta=%g", (int)type, (int)how, alpha, beta);
    if (status == CUDNN_STATUS_SUCCESS) {
        const int wrong = tensor_wrong(written, result, bound, NULL, &worst);
        show("result=%s bits=%016llx worst=%.3g", wrong ? "WRONG" : "ok", tensor_bits(written),
             worst);
    }
    cudnnDestroyTensorDescriptor(y_descriptor);
    cudnnDestroyTensorDescriptor(b_descriptor);
    tensor_free(&y);
    tensor_free(&db);
}

void call_bias(void)
{
    cudnnCreate(&handle);
    for (int gradient = 0; gradient <= 1; gradient++) {
        run(gradient, CUDNN_DATA_FLOAT, CHANNELS_FIRST, 1, 0);
        run(gradient, CUDNN_DATA_FLOAT, CHANNELS_LAST, 0.5, 2);
        run(gradient, CUDNN_DATA_HALF, CHANNELS_LAST, 1, 1);
        run(gradient, CUDNN_DATA_DOUBLE, WITH_GAPS, -1, 0.25);
    }
    cudnnDestroy(handle);
}
