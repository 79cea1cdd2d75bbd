// Compiles where our declarations of the CUDA driver agree with NVIDIA's cuda.h: values, layouts,
// and the types of every function of driver_api.def and capture_api.def. Not linked, not run.
#include <cstddef>
#include <cuda.h>
#include <type_traits>

namespace ours
{
// Typedefs of these tags must be ours here, not those that cuda.h has declared outside.
#include "fake_cuda.h"
} // namespace ours

#define SAME_VALUE(name) static_assert((int)ours::name == (int)::name, #name);
SAME_VALUE(CUDA_SUCCESS)
SAME_VALUE(CUDA_ERROR_INVALID_VALUE)
SAME_VALUE(CUDA_ERROR_OUT_OF_MEMORY)
SAME_VALUE(CUDA_ERROR_NOT_INITIALIZED)
SAME_VALUE(CUDA_ERROR_NO_DEVICE)
SAME_VALUE(CUDA_ERROR_INVALID_DEVICE)
SAME_VALUE(CUDA_ERROR_INVALID_IMAGE)
SAME_VALUE(CUDA_ERROR_INVALID_CONTEXT)
SAME_VALUE(CUDA_ERROR_NO_BINARY_FOR_GPU)
SAME_VALUE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
SAME_VALUE(CUDA_ERROR_INVALID_HANDLE)
SAME_VALUE(CUDA_ERROR_ILLEGAL_STATE)
SAME_VALUE(CUDA_ERROR_NOT_FOUND)
SAME_VALUE(CUDA_ERROR_NOT_READY)
SAME_VALUE(CUDA_ERROR_ILLEGAL_ADDRESS)
SAME_VALUE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
SAME_VALUE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
SAME_VALUE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
SAME_VALUE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
SAME_VALUE(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
SAME_VALUE(CUDA_ERROR_UNKNOWN)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
SAME_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
SAME_VALUE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
SAME_VALUE(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
SAME_VALUE(CU_FUNC_ATTRIBUTE_NUM_REGS)
SAME_VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
SAME_VALUE(CU_STREAM_CAPTURE_MODE_GLOBAL)
SAME_VALUE(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
SAME_VALUE(CU_STREAM_CAPTURE_MODE_RELAXED)
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_NONE)
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_ACTIVE)
SAME_VALUE(CU_STREAM_CAPTURE_STATUS_INVALIDATED)
SAME_VALUE(CU_STREAM_DEFAULT)
SAME_VALUE(CU_STREAM_NON_BLOCKING)
SAME_VALUE(CU_EVENT_DEFAULT)

#define SAME_PLACE(field)                                                                          \
    static_assert(offsetof(ours::CUlaunchConfig, field) == offsetof(::CUlaunchConfig, field) &&    \
                      sizeof(ours::CUlaunchConfig::field) == sizeof(::CUlaunchConfig::field),      \
                  #field);
SAME_PLACE(gridDimX)
SAME_PLACE(gridDimY)
SAME_PLACE(gridDimZ)
SAME_PLACE(blockDimX)
SAME_PLACE(blockDimY)
SAME_PLACE(blockDimZ)
SAME_PLACE(sharedMemBytes)
SAME_PLACE(hStream)
SAME_PLACE(attrs)
SAME_PLACE(numAttrs)
static_assert(sizeof(ours::CUlaunchConfig) == sizeof(::CUlaunchConfig), "size of CUlaunchConfig");
static_assert(std::is_same<ours::CUdeviceptr, ::CUdeviceptr>::value, "CUdeviceptr");
static_assert(std::is_same<ours::CUdevice, ::CUdevice>::value, "CUdevice");

// Types that travel in the same way: pointers, integers and enumerations of one size.
template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer<A>::value
                                                     == std::is_pointer<B>::value;

template <class Ours, class Theirs>
struct SameFunction : std::false_type {
};
template <class R, class S, class... A, class... B>
struct SameFunction<R(A...), S(B...)> {
    template <bool same_count, class = void>
    struct Compare : std::false_type {
    };
    template <class Unused>
    struct Compare<true, Unused> : std::bool_constant<(alike<A, B> && ...)> {
    };
    static constexpr bool value = alike<R, S> && Compare<sizeof...(A) == sizeof...(B)>::value;
};

// cuda.h spells versions by macros (cuMemAlloc is cuMemAlloc_v2) and does not declare what it has
// replaced. The table names the symbol, so the functions are looked at by that; cuEventElapsedTime
// alone is older in our table than in newer headers, with the same parameters.
#if defined(cuEventElapsedTime)
#undef cuEventElapsedTime
#define cuEventElapsedTime cuEventElapsedTime_v2
#endif
namespace ours
{
#define GDNN_CU(name, symbol, parameters)                                                          \
    static_assert(SameFunction<CUresult parameters, decltype(::symbol)>::value, #symbol);
#include "capture_api.def"
#include "driver_api.def"
#undef GDNN_CU
} // namespace ours
