/* Depthwise backward-data of any filter, channels last. */
#include "dw_general_data.h"

#define INSTANCE(dtype, T, end, plain)                                                             \
    extern "C" __global__ void __launch_bounds__(GDNN_DW_GENERAL_THREADS, 2)                       \
        gdnn_dw_general_strided_bwd_data_nhwc_##dtype##end(                                        \
            T *dx, const T *w, const T *dy, const T *, const T *, void *, gdnn_args a)             \
    {                                                                                              \
        dw_general_data<T, plain>(dx, w, dy, a);                                                   \
    }                                                                                              \
    GPU_KERNEL(gdnn_dw_general_strided_bwd_data_nhwc_##dtype##end)
#define INSTANCES(dtype, T)                                                                        \
    INSTANCE(dtype, T, _plain, true)                                                               \
    INSTANCE(dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
