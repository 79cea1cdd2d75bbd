// Libraries, kernels and launches.
#include "capture.hpp"
#include "device_memory.hpp"
#include "double.hpp"
#include "fault.hpp"
#include "image.hpp"
#include "kernel.hpp"
#include "launches.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace fake
{
struct Library;

struct LoadedKernel {
    const Library *library;
    const emu::Kernel *twin;
    KernelFacts facts;
    std::map<int, int> max_dynamic_shared; // of each device, where set
};

struct Library {
    Image image;
    std::map<std::string, std::unique_ptr<LoadedKernel>> kernels; // asked for
};

// A kernel in a context, as cuKernelGetFunction gives it.
struct Function {
    LoadedKernel *kernel;
    const Device *device;
};

static std::set<Library *> &libraries = *new std::set<Library *>;
static std::set<LoadedKernel *> &kernels = *new std::set<LoadedKernel *>;
static std::set<Function *> &functions = *new std::set<Function *>;
static uint64_t launches;
static const int default_dynamic_shared = 48 * 1024;

uint64_t count_of_launches()
{
    return launches;
}

static Library *find_library(const char *function, CUlibrary handle)
{
    Library *library = reinterpret_cast<Library *>(handle);
    if (!libraries.count(library))
        die(function, "%p is not a live library", (void *)handle);
    return library;
}

static LoadedKernel *find_kernel(const char *function, const void *handle)
{
    LoadedKernel *kernel = static_cast<LoadedKernel *>(const_cast<void *>(handle));
    if (!kernels.count(kernel))
        die(function, "%p is not a kernel of a live library", handle);
    return kernel;
}

static int max_dynamic_shared(const LoadedKernel &kernel, int device)
{
    const auto set = kernel.max_dynamic_shared.find(device);
    return set == kernel.max_dynamic_shared.end() ? default_dynamic_shared : set->second;
}

// The image and the twin must agree on how a launch looks.
static void compare_parameters(const char *function, const emu::Kernel &twin,
                               const KernelFacts &facts)
{
    if (facts.parameter_bytes.size() != twin.parameters.size())
        die(function, "%s has %zu parameters in the image and %zu on the host", twin.name,
            facts.parameter_bytes.size(), twin.parameters.size());
    for (size_t i = 0; i < twin.parameters.size(); i++)
        if (facts.parameter_bytes[i] != twin.parameters[i].bytes)
            die(function, "%s: parameter %zu has %u bytes in the image and %zu on the host",
                twin.name, i, facts.parameter_bytes[i], twin.parameters[i].bytes);
}

static bool grid_is_valid(const CUlaunchConfig &c)
{
    return c.gridDimX && c.gridDimY && c.gridDimZ && c.gridDimX <= 0x7fffffff &&
           c.gridDimY <= 65535 && c.gridDimZ <= 65535;
}

static bool block_is_valid(const CUlaunchConfig &c, unsigned max_threads)
{
    return c.blockDimX && c.blockDimY && c.blockDimZ && c.blockDimX <= 1024 &&
           c.blockDimY <= 1024 && c.blockDimZ <= 64 &&
           (uint64_t)c.blockDimX * c.blockDimY * c.blockDimZ <= max_threads;
}

// Registers are handed out to warps in units of 8 a thread.
static bool registers_suffice(const CUlaunchConfig &c, unsigned registers)
{
    const unsigned threads = c.blockDimX * c.blockDimY * c.blockDimZ;
    return (registers + 7) / 8 * 8 * ((threads + 31) / 32 * 32) <= 65536;
}

// The values of the parameters, copied as the driver does.
typedef std::vector<std::vector<char>> Values;

static std::string name_of(const emu::Kernel &twin, size_t parameter)
{
    return twin.name + (": parameter " + std::to_string(parameter));
}

static Values copy_parameters(const char *function, const Device *device, const emu::Kernel &twin,
                              void **parameters)
{
    Values values;
    for (size_t i = 0; i < twin.parameters.size(); i++) {
        if (!parameters || !parameters[i])
            die(function, "%s: parameter %zu is missing", twin.name, i);
        const char *begin = static_cast<const char *>(parameters[i]);
        values.emplace_back(begin, begin + twin.parameters[i].bytes);
        if (!twin.parameters[i].pointer)
            continue;
        CUdeviceptr pointer;
        memcpy(&pointer, begin, sizeof pointer);
        if (!pointer)
            continue;
        const Allocation *allocation = require_live(function, name_of(twin, i).c_str(), pointer, 1);
        if (allocation->device != device)
            die(function, "%s, %#llx, is memory of device %d, not %d", name_of(twin, i).c_str(),
                pointer, allocation->device->ordinal, device->ordinal);
    }
    return values;
}

// Stream-ordered memory may not be there yet, or no longer.
static void require_memory(const emu::Kernel &twin, const Values &values)
{
    for (size_t i = 0; i < values.size(); i++) {
        CUdeviceptr pointer;
        if (!twin.parameters[i].pointer)
            continue;
        memcpy(&pointer, values[i].data(), sizeof pointer);
        if (pointer)
            require_live(twin.name, name_of(twin, i).c_str(), pointer, 1, true);
    }
}

static void run_kernel(const emu::Kernel &twin, const CUlaunchConfig &c, Values &values,
                       size_t max_shared)
{
    require_memory(twin, values);
    std::vector<void *> arguments;
    for (std::vector<char> &value : values)
        arguments.push_back(value.data());
    emu::Launch launch = {dim3(c.gridDimX, c.gridDimY, c.gridDimZ),
                          dim3(c.blockDimX, c.blockDimY, c.blockDimZ), c.sharedMemBytes,
                          arguments.data(), max_shared};
    {
        FaultReports reports;
        emu::launch(twin, launch);
    }
    check_canaries(twin.name);
}
} // namespace fake

using namespace fake;

DRIVER cuLibraryLoadData(CUlibrary *handle, const void *image, CUjit_option *, void **,
                         unsigned jit_options, CUlibraryOption *, void **, unsigned library_options)
{
    ENTER(cuLibraryLoadData);
    if (!handle || !image)
        return CUDA_ERROR_INVALID_VALUE;
    if (jit_options || library_options)
        die(self, "options are not modelled");
    if ((uintptr_t)image % 8)
        die(self, "the image at %p is not aligned to 8 bytes", image);
    if (!allowed_in_capture())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    std::unique_ptr<Library> library(new Library);
    const CUresult result = read_image(image, settings.sm, &library->image);
    if (result != CUDA_SUCCESS)
        return result;
    libraries.insert(library.get());
    *handle = reinterpret_cast<CUlibrary>(library.release());
    return CUDA_SUCCESS;
}

DRIVER cuLibraryUnload(CUlibrary handle)
{
    ENTER(cuLibraryUnload);
    Library *library = find_library(self, handle);
    if (!allowed_in_capture())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    run_all_work();
    for (const auto &entry : library->kernels) {
        LoadedKernel *kernel = entry.second.get();
        for (auto i = functions.begin(); i != functions.end();)
            if ((*i)->kernel == kernel) {
                delete *i;
                i = functions.erase(i);
            } else {
                ++i;
            }
        kernels.erase(kernel);
    }
    libraries.erase(library);
    delete library;
    return CUDA_SUCCESS;
}

DRIVER cuLibraryGetKernel(CUkernel *handle, CUlibrary library_handle, const char *name)
{
    ENTER(cuLibraryGetKernel);
    Library *library = find_library(self, library_handle);
    std::unique_ptr<LoadedKernel> &kernel = library->kernels[name];
    if (!kernel) {
        const Image &image = library->image;
        const auto facts = image.kernels.find(name);
        if (image.is_read && facts == image.kernels.end())
            return CUDA_ERROR_NOT_FOUND;
        const emu::Kernel *twin = emu::find_kernel(name);
        if (!twin && image.is_read)
            die(self, "%s is in the image and not on the host: GPU_KERNEL is missing", name);
        if (!twin)
            return CUDA_ERROR_NOT_FOUND;
        kernel.reset(new LoadedKernel{library, twin, {}, {}});
        if (image.is_read) {
            kernel->facts = facts->second;
            compare_parameters(self, *twin, kernel->facts);
        }
        kernels.insert(kernel.get());
    }
    *handle = reinterpret_cast<CUkernel>(kernel.get());
    return CUDA_SUCCESS;
}

DRIVER cuKernelGetFunction(CUfunction *handle, CUkernel kernel_handle)
{
    ENTER_CONTEXT(cuKernelGetFunction);
    LoadedKernel *kernel = find_kernel(self, kernel_handle);
    for (Function *function : functions)
        if (function->kernel == kernel && function->device == device) {
            *handle = reinterpret_cast<CUfunction>(function);
            return CUDA_SUCCESS;
        }
    if (!allowed_in_capture())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    Function *function = new Function{kernel, device};
    functions.insert(function);
    *handle = reinterpret_cast<CUfunction>(function);
    return CUDA_SUCCESS;
}

DRIVER cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle,
                            CUdevice device)
{
    ENTER(cuKernelGetAttribute);
    const LoadedKernel *kernel = find_kernel(self, handle);
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)kernel->facts.max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)kernel->facts.shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)kernel->facts.local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)kernel->facts.registers; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = max_dynamic_shared(*kernel, device);
        break;
    default: die(self, "attribute %d is not modelled", (int)attribute);
    }
    return CUDA_SUCCESS;
}

DRIVER cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                            CUdevice device)
{
    ENTER(cuKernelSetAttribute);
    LoadedKernel *kernel = find_kernel(self, handle);
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        die(self, "attribute %d is not modelled", (int)attribute);
    if (value < 0 || (size_t)value + kernel->facts.shared_bytes > settings.max_shared)
        return CUDA_ERROR_INVALID_VALUE;
    kernel->max_dynamic_shared[device] = value;
    return CUDA_SUCCESS;
}

DRIVER cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction handle, void **parameters,
                        void **extra)
{
    ENTER_CONTEXT(cuLaunchKernelEx);
    LoadedKernel *kernel;
    Function *function = reinterpret_cast<Function *>(handle);
    if (functions.count(function)) {
        if (function->device != device)
            return CUDA_ERROR_INVALID_HANDLE;
        kernel = function->kernel;
    } else {
        kernel = find_kernel(self, handle); // a CUkernel serves every context
    }
    if (extra || config->numAttrs)
        die(self, "`extra` and launch attributes are not modelled");
    const KernelFacts &facts = kernel->facts;
    if (!grid_is_valid(*config) || !block_is_valid(*config, facts.max_threads) ||
        config->sharedMemBytes > (unsigned)max_dynamic_shared(*kernel, device->ordinal))
        return CUDA_ERROR_INVALID_VALUE;
    if (!registers_suffice(*config, facts.registers))
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    const CUlaunchConfig launch = *config;
    const emu::Kernel *twin = kernel->twin;
    const size_t max_shared = settings.max_shared;
    Values values = copy_parameters(self, device, *twin, parameters);
    const CUresult result = enqueue(self, device, config->hStream, [=]() mutable {
        run_kernel(*twin, launch, values, max_shared);
    });
    launches += result == CUDA_SUCCESS;
    return result;
}
