/* The instances of a kernel of dw_plane_up.h: INSTANCES(dtype, T) for all types, each with PLANE_UP_KERNEL(name, shape,
 * blocks, dtype, T) in both epilogues, for blocks of GDNN_PLANE_THREADS threads of which `blocks` fit an SM. */
#define PLANE_UP_INSTANCE(name, shape, blocks, dtype, T, end, plain)                               \
    extern "C" __global__ void __launch_bounds__(GDNN_PLANE_THREADS, blocks)                       \
        gdnn_##name##_nchw_##dtype##end(T *dx, const T *w, const T *dy, const T *z, const T *bias, \
                                        void *, gdnn_args a)                                       \
    {                                                                                              \
        dw_plane<T, shape, plain>(dy, w, dx, z, bias, a);                                          \
    }                                                                                              \
    GPU_KERNEL(gdnn_##name##_nchw_##dtype##end)
#define PLANE_UP_KERNEL(name, shape, blocks, dtype, T)                                             \
    PLANE_UP_INSTANCE(name, shape, blocks, dtype, T, _plain, true)                                 \
    PLANE_UP_INSTANCE(name, shape, blocks, dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
