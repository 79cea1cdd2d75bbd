#include "graph_device.h"
#include "../../clients/gpus.h"
#include "double.h"
#include "passthrough.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char properties[1024];
static int length;
static cudnnBackendDescriptor_t device; /* NULL: NVIDIA's library has none */

static cudnnStatus_t set_properties(cudnnBackendDescriptor_t descriptor)
{
    return REAL(cudnnBackendSetAttribute)(descriptor, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                          CUDNN_TYPE_CHAR, length, properties);
}

static void describe_once(void)
{
    const char *name = getenv("GDNN_DOUBLE_GPU");
    if (!name || !*name)
        name = "h200";
    length = gpu_properties(name, properties, sizeof properties);
    if (!length) {
        fprintf(stderr, "cuDNN double: GDNN_DOUBLE_GPU: %s is not h200, a100 or t4\n", name);
        abort();
    }
    cudnnBackendDescriptor_t made = NULL;
    if (REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &made) !=
        CUDNN_STATUS_SUCCESS)
        return;
    if (set_properties(made) == CUDNN_STATUS_SUCCESS &&
        REAL(cudnnBackendFinalize)(made) == CUDNN_STATUS_SUCCESS)
        device = made;
    else
        REAL(cudnnBackendDestroyDescriptor)(made);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

cudnnStatus_t describe_device(cudnnBackendDescriptor_t descriptor)
{
    pthread_once(&once, describe_once);
    return set_properties(descriptor);
}

void give_device(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attribute)
{
    pthread_once(&once, describe_once);
    if (device &&
        REAL(cudnnBackendSetAttribute)(descriptor, attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                       &device) != CUDNN_STATUS_SUCCESS)
        forget_real_text();
}
