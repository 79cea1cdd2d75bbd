/* The instances of a ring kernel: INSTANCES(dtype, T) for all types, each with RING_KERNEL(name, shape, dtype, T) in both
 * epilogues, for blocks of THREADS threads of which BLOCKS(T) fit an SM. */
#define RING_INSTANCE(name, shape, dtype, T, end, plain)                                           \
    extern "C" __global__ void __launch_bounds__(THREADS, plain ? BLOCKS(T) : 2)                   \
        gdnn_##name##_nhwc_##dtype##end(const T *x, const T *w, T *y, const T *z, const T *bias,   \
                                        void *, gdnn_args a)                                       \
    {                                                                                              \
        dw_ring<T, shape, plain>(x, w, y, z, bias, a);                                             \
    }                                                                                              \
    GPU_KERNEL(gdnn_##name##_nhwc_##dtype##end)
#define RING_KERNEL(name, shape, dtype, T)                                                         \
    RING_INSTANCE(name, shape, dtype, T, _plain, true)                                             \
    RING_INSTANCE(name, shape, dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
