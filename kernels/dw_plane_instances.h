/* The instances of a plane kernel: INSTANCES(dtype, T) for all types, each with PLANE_KERNEL(name, shape, blocks, dtype, T) in
 * both epilogues, for blocks of GDNN_PLANE_THREADS threads of which `blocks` fit an SM, one fewer where the
 * epilogue is full. */
#define PLANE_INSTANCE(name, shape, blocks, dtype, T, end, plain)                                  \
    extern "C" __global__ void __launch_bounds__(GDNN_PLANE_THREADS, blocks)                       \
        gdnn_##name##_nchw_##dtype##end(const T *x, const T *w, T *y, const T *z, const T *bias,   \
                                        void *, gdnn_args a)                                       \
    {                                                                                              \
        dw_plane<T, shape, plain>(x, w, y, z, bias, a);                                            \
    }                                                                                              \
    GPU_KERNEL(gdnn_##name##_nchw_##dtype##end)
#define PLANE_KERNEL(name, shape, blocks, dtype, T)                                                \
    PLANE_INSTANCE(name, shape, blocks, dtype, T, _plain, true)                                    \
    PLANE_INSTANCE(name, shape, blocks - 1, dtype, T, , false)

INSTANCES(f16, __half)
INSTANCES(bf16, __nv_bfloat16)
INSTANCES(f32, float)
