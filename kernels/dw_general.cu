/* Depthwise convolution of any filter, channels last. */
#include "dw_general.h"

#define INSTANCE(name, columns, blocks, dtype, T, end, plain)                                      \
    extern "C" __global__ void __launch_bounds__(GDNN_DW_GENERAL_THREADS, blocks)                  \
        gdnn_##name##_nhwc_##dtype##end(const T *x, const T *w, T *y, const T *z, const T *bias,   \
                                        void *, gdnn_args a)                                       \
    {                                                                                              \
        dw_general<T, columns, plain>(x, w, y, z, bias, a);                                        \
    }                                                                                              \
    GPU_KERNEL(gdnn_##name##_nhwc_##dtype##end)
#define INSTANCES(dtype, T)                                                                        \
    INSTANCE(dw_general_fwd, 1, 2, dtype, T, _plain, true)                                         \
    INSTANCE(dw_general_fwd, 1, 2, dtype, T, , false)                                              \
    INSTANCE(dw_general_s1_fwd, 2, 1, dtype, T, _plain, true)                                      \
    INSTANCE(dw_general_s1_fwd, 2, 1, dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
