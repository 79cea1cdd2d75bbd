/* Depthwise convolution of any filter, channels first. */
#include "dw_gplane.h"

#define INSTANCE(dtype, T, end, plain)                                                             \
    extern "C" __global__ void __launch_bounds__(GDNN_GPLANE_THREADS, 5)                           \
        gdnn_dw_gplane_fwd_nchw_##dtype##end(const T *x, const T *w, T *y, const T *z,             \
                                             const T *bias, void *, gdnn_args a)                   \
    {                                                                                              \
        dw_gplane<T, false, plain>(x, w, y, z, bias, a);                                           \
    }                                                                                              \
    GPU_KERNEL(gdnn_dw_gplane_fwd_nchw_##dtype##end)
#define INSTANCES(dtype, T)                                                                        \
    INSTANCE(dtype, T, _plain, true)                                                               \
    INSTANCE(dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
