/* The instances of a backward-filter kernel: INSTANCES(dtype, T) for all types, with FILTER_KERNEL(name, shape, dtype, T)
 * for blocks of THREADS threads of which BLOCKS fit an SM, and the second launch of the file, FINISH_KERNEL. */
#include "filter_finish.h"

#define FILTER_KERNEL(name, shape, blocks, dtype, T)                                               \
    extern "C" __global__ void __launch_bounds__(THREADS, blocks) gdnn_##name##_nhwc_##dtype(      \
        const T *x, T *dw, const T *dy, const T *, const T *, void *workspace, gdnn_args a)        \
    {                                                                                              \
        dw_filter<T, shape>(x, dw, dy, static_cast<float *>(workspace), a);                        \
    }                                                                                              \
    GPU_KERNEL(gdnn_##name##_nhwc_##dtype)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
