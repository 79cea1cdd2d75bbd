/* Depthwise backward-data of any filter, channels first. */
#include "dw_gplane.h"

#define INSTANCE(dtype, T, end, plain)                                                             \
    extern "C" __global__ void __launch_bounds__(GDNN_GPLANE_THREADS, 5)                           \
        gdnn_dw_gplane_bwd_data_nchw_##dtype##end(T *dx, const T *w, const T *dy, const T *,       \
                                                  const T *, void *, gdnn_args a)                  \
    {                                                                                              \
        dw_gplane<T, true, plain>(dy, w, dx, dx, dx, a);                                           \
    }                                                                                              \
    GPU_KERNEL(gdnn_dw_gplane_bwd_data_nchw_##dtype##end)
#define INSTANCES(dtype, T)                                                                        \
    INSTANCE(dtype, T, _plain, true)                                                               \
    INSTANCE(dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
