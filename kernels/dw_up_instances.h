/* The instances of a kernel of dw_up.h: INSTANCES(dtype, T) for all types, each with UP_KERNEL(name, shape, dtype, T) in
 * both epilogues, for blocks of THREADS threads of which BLOCKS fit an SM. */
#define UP_INSTANCE(name, shape, dtype, T, end, plain)                                             \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) gdnn_##name##_nhwc_##dtype##end( \
        T *dx, const T *w, const T *dy, const T *, const T *, void *, gdnn_args a)                 \
    {                                                                                              \
        dw_up<T, shape, plain>(dx, w, dy, a);                                                      \
    }                                                                                              \
    GPU_KERNEL(gdnn_##name##_nhwc_##dtype##end)
#define UP_KERNEL(name, shape, dtype, T)                                                           \
    UP_INSTANCE(name, shape, dtype, T, _plain, true)                                               \
    UP_INSTANCE(name, shape, dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
