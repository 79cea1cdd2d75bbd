/* Depthwise backward-filter of any filter, both layouts. */
#include "dw_gfilter.h"
#include "filter_finish.h"

#define INSTANCE(layout, last, blocks, dtype, T)                                                   \
    extern "C" __global__ void __launch_bounds__(GDNN_GFILTER_THREADS, blocks)                     \
        gdnn_dw_gfilter_bwd_filter_##layout##_##dtype(const T *x, T *dw, const T *dy, const T *,   \
                                                      const T *, void *workspace, gdnn_args a)     \
    {                                                                                              \
        dw_gfilter<last>(x, dw, dy, static_cast<float *>(workspace), a);                           \
    }                                                                                              \
    GPU_KERNEL(gdnn_dw_gfilter_bwd_filter_##layout##_##dtype)                                      \
    extern "C" __global__ void __launch_bounds__(GDNN_FINISH_WEIGHTS *GDNN_FINISH_SLICES)          \
        gdnn_dw_gfilter_finish_##layout##_##dtype(const T *, T *dw, const T *, const T *,          \
                                                  const T *, void *workspace, gdnn_args a)         \
    {                                                                                              \
        filter_finish(dw, static_cast<const float *>(workspace), a);                               \
    }                                                                                              \
    GPU_KERNEL(gdnn_dw_gfilter_finish_##layout##_##dtype)
#define INSTANCES(dtype, T)                                                                        \
    INSTANCE(nchw, false, 2, dtype, T)                                                             \
    INSTANCE(nhwc, true, 2, dtype, T)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
