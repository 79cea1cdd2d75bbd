#include "device.h"
#include "driver.h"
#include "error.h"
#include "problem.h"
#include <string.h>

static const struct {
    const char *name;
    gdnn_device facts;
} known[] = {
#define GDNN_DEVICE(name, model, sm, multiprocessors, shared, gbs, fp32, tensor16)                 \
    {name, {model, sm, multiprocessors, (int64_t)shared * 1024, gbs, fp32, tensor16}},
#include "devices.def"
#undef GDNN_DEVICE
};
enum { KNOWN = sizeof known / sizeof known[0] };

/* A launch that does nothing takes about this long in a stream. */
static const double launch_us = 2.0;

const char *gdnn_device_names(void)
{
    /* each name brings its separator; the first one's is skipped */
    static const char names[] = ""
#define GDNN_DEVICE(name, model, sm, multiprocessors, shared, gbs, fp32, tensor16) ", " name
#include "devices.def"
#undef GDNN_DEVICE
        ;
    return names + 2;
}

gdnn_status gdnn_device_known(const char *name, gdnn_device *device)
{
    if (!name || !device)
        return gdnn_fail(GDNN_INVALID, "gdnn_device_known: an argument is NULL");
    for (int i = 0; i < KNOWN; i++)
        if (!strcmp(known[i].name, name)) {
            *device = known[i].facts;
            return GDNN_OK;
        }
    return gdnn_fail(GDNN_INVALID, "device '%s' is not known: use one of %s", name,
                     gdnn_device_names());
}

gdnn_status gdnn_device_read(CUdevice ordinal, gdnn_device *device)
{
    const gdnn_driver *cu = gdnn_driver_get();
    if (!cu)
        return GDNN_UNSUPPORTED;
    memset(device, 0, sizeof *device);
    int major = 0, minor = 0, shared = 0;
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } facts[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &device->multiprocessors},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shared},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        CUresult result = cu->cuDeviceGetAttribute(facts[i].value, facts[i].attribute, ordinal);
        if (result != CUDA_SUCCESS)
            return gdnn_driver_check(result, "cuDeviceGetAttribute");
    }
    CUresult result = cu->cuDeviceGetName(device->name, sizeof device->name, ordinal);
    if (result != CUDA_SUCCESS)
        return gdnn_driver_check(result, "cuDeviceGetName");
    device->name[sizeof device->name - 1] = 0;
    device->sm = 10 * major + minor;
    device->shared_bytes = shared;
    for (int i = 0; i < KNOWN; i++)
        if (!strcmp(known[i].facts.name, device->name)) {
            device->bandwidth_gbs = known[i].facts.bandwidth_gbs;
            device->fp32_tflops = known[i].facts.fp32_tflops;
            device->tensor16_tflops = known[i].facts.tensor16_tflops;
        }
    return GDNN_OK;
}

gdnn_status gdnn_device_current(gdnn_device *device)
{
    if (!device)
        return gdnn_fail(GDNN_INVALID, "gdnn_device_current: device is NULL");
    const gdnn_driver *cu = gdnn_driver_get();
    if (!cu)
        return GDNN_UNSUPPORTED;
    CUcontext context = NULL;
    CUdevice ordinal = 0;
    int count = 0;
    CUresult result = cu->cuCtxGetCurrent(&context);
    if (result != CUDA_SUCCESS)
        return gdnn_driver_check(result, "cuCtxGetCurrent");
    if (context) {
        result = cu->cuCtxGetDevice(&ordinal);
        return result == CUDA_SUCCESS ? gdnn_device_read(ordinal, device)
                                      : gdnn_driver_check(result, "cuCtxGetDevice");
    }
    result = cu->cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return gdnn_driver_check(result, "cuDeviceGetCount");
    if (!count)
        return gdnn_fail(GDNN_UNSUPPORTED,
                         "the driver sees no GPU: check CUDA_VISIBLE_DEVICES and nvidia-smi");
    result = cu->cuDeviceGet(&ordinal, 0);
    return result == CUDA_SUCCESS ? gdnn_device_read(ordinal, device)
                                  : gdnn_driver_check(result, "cuDeviceGet");
}

/* Peak of the units that products of this problem may use. */
static double peak_tflops(const gdnn_conv *conv, const gdnn_device *device)
{
    switch (conv->dtype) {
    case GDNN_F16:
    case GDNN_BF16: return device->tensor16_tflops;
    case GDNN_F32:
        return conv->math == GDNN_MATH_TF32 ? device->tensor16_tflops / 2 : device->fp32_tflops;
    default: return 0; /* no peak is known for double: memory and launch decide */
    }
}

double gdnn_floor_us(const gdnn_conv *conv, const gdnn_device *device)
{
    if (device->bandwidth_gbs <= 0)
        return 0;
    double floor = launch_us, memory = gdnn_bytes(conv) / device->bandwidth_gbs * 1e-3;
    double peak = peak_tflops(conv, device);
    if (memory > floor)
        floor = memory;
    if (peak > 0 && 2 * gdnn_macs(conv) / peak * 1e-6 > floor)
        floor = 2 * gdnn_macs(conv) / peak * 1e-6;
    return floor;
}
