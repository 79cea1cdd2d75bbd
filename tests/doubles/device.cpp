// Initialisation, devices and contexts.
#include "device_memory.hpp"
#include "double.hpp"
#include "streams.hpp"

#include <cstdio>

namespace fake
{
bool initialised;

static std::vector<Device> &all = *new std::vector<Device>;
static thread_local std::vector<CUcontext> context_stack;

std::vector<Device> &devices()
{
    return all;
}

Device *device_of(CUcontext context)
{
    for (Device &device : all)
        if ((CUcontext)&device == context)
            return device.retained ? &device : nullptr;
    return nullptr;
}

Device *current_device()
{
    return context_stack.empty() ? nullptr : device_of(context_stack.back());
}

bool is_device(CUdevice device)
{
    return device >= 0 && device < (int)all.size();
}

static int attribute(int name, bool *known)
{
    *known = true;
    switch (name) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return settings.sm / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return settings.sm % 10;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 132;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 * 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return (int)settings.max_shared;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000;        // kHz
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 3201000; // kHz
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 6144;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 64 * 1024; // so that outgrowing it costs little
    default: *known = false; return 0;
    }
}
} // namespace fake

using namespace fake;

DRIVER cuInit(unsigned flags)
{
    ENTER_UNINITIALISED(cuInit);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!settings.devices)
        return CUDA_ERROR_NO_DEVICE;
    // Handles point at devices: none may move.
    if (all.empty())
        for (int i = 0; i < settings.devices; i++)
            all.push_back({i, 0, 0});
    initialised = true;
    return CUDA_SUCCESS;
}

DRIVER cuDriverGetVersion(int *version)
{
    ENTER_UNINITIALISED(cuDriverGetVersion);
    *version = settings.driver_version;
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGetCount(int *count)
{
    ENTER(cuDeviceGetCount);
    *count = (int)all.size();
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER(cuDeviceGet);
    if (!is_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGetName(char *name, int size, CUdevice device)
{
    ENTER(cuDeviceGetName);
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!name || size < 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (settings.name.empty())
        snprintf(name, (size_t)size, "emulated GPU (sm_%d)", settings.sm);
    else
        snprintf(name, (size_t)size, "%s", settings.name.c_str());
    return CUDA_SUCCESS;
}

DRIVER cuDeviceGetAttribute(int *value, int name, CUdevice device)
{
    ENTER(cuDeviceGetAttribute);
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    bool known;
    const int answer = attribute(name, &known);
    if (!known)
        die(self, "attribute %d is not modelled", name);
    *value = answer;
    return CUDA_SUCCESS;
}

DRIVER cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRetain);
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    all[(size_t)device].retained++;
    *context = (CUcontext)&all[(size_t)device];
    return CUDA_SUCCESS;
}

DRIVER cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRelease);
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    Device &released = all[(size_t)device];
    if (!released.retained)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (released.retained == 1) {
        run_all_work();
        const size_t allocations = live_allocations(&released);
        const size_t streams = live_streams(&released), events = live_events(&released);
        if (allocations || streams || events)
            die(self, "device %d: leak of %zu allocations, %zu streams, %zu events", device,
                allocations, streams, events);
    }
    released.retained--;
    return CUDA_SUCCESS;
}

DRIVER cuCtxGetCurrent(CUcontext *context)
{
    ENTER(cuCtxGetCurrent);
    *context = context_stack.empty() ? nullptr : context_stack.back();
    return CUDA_SUCCESS;
}

DRIVER cuCtxGetDevice(CUdevice *device_out)
{
    ENTER_CONTEXT(cuCtxGetDevice);
    *device_out = device->ordinal;
    return CUDA_SUCCESS;
}

DRIVER cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER(cuCtxPushCurrent);
    if (!device_of(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    context_stack.push_back(context);
    return CUDA_SUCCESS;
}

DRIVER cuCtxPopCurrent_v2(CUcontext *context)
{
    ENTER(cuCtxPopCurrent);
    if (context_stack.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
        *context = context_stack.back();
    context_stack.pop_back();
    return CUDA_SUCCESS;
}
