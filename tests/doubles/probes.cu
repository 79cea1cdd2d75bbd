/* Kernels with which the double's strictness is tested. */
#include "gpu.h"

extern "C" __global__ void probe_copy(float *dst, const float *src, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        dst[i] = src[i];
}
GPU_KERNEL(probe_copy)

/* Writes 1 at dst[at]. */
extern "C" __global__ void probe_poke(float *dst, long long at)
{
    if (threadIdx.x == 0)
        dst[at] = 1;
}
GPU_KERNEL(probe_poke)

/* dst[0] = sum of src[0..n), with n floats of dynamic shared memory. */
extern "C" __global__ void probe_sum(float *dst, const float *src, int n)
{
    GPU_DYN_SHARED(float, tile);
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
        tile[i] = src[i];
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += tile[i];
    dst[0] = sum;
}
GPU_KERNEL(probe_sum)

/* 20 KiB of static shared memory. */
extern "C" __global__ void probe_static_shared(float *dst)
{
    GPU_SHARED(float, tile, [5 * 1024]);
    for (int i = (int)threadIdx.x; i < 5 * 1024; i += (int)blockDim.x)
        tile[i] = dst[0];
    __syncthreads();
    dst[1 + threadIdx.x] = tile[5 * 1024 - 1 - threadIdx.x];
}
GPU_KERNEL(probe_static_shared)

extern "C" __global__ void __launch_bounds__(64) probe_bounds(float *dst)
{
    dst[threadIdx.x] = 1;
}
GPU_KERNEL(probe_bounds)

/* Needs more than 64 registers: too many for 1024 threads. */
extern "C" __global__ void probe_registers(float *dst, const float *src)
{
    float v[100];
    GPU_UNROLL
    for (int i = 0; i < 100; i++)
        v[i] = src[i * (int)blockDim.x + (int)threadIdx.x];
    __syncthreads();
    GPU_UNROLL
    for (int i = 0; i < 100; i++)
        dst[i * (int)blockDim.x + (int)threadIdx.x] = v[99 - i];
}
GPU_KERNEL(probe_registers)

struct probe_struct {
    int values[5];
    double last;
};
extern "C" __global__ void probe_by_value(double *dst, probe_struct s)
{
    if (threadIdx.x == 0)
        dst[0] = s.values[0] + 10 * s.values[4] + 100 * s.last;
}
GPU_KERNEL(probe_by_value)

/* More local memory than a thread has on the host. */
extern "C" __global__ void probe_deep(float *dst, int depth)
{
    volatile float local[1 << 15];
    for (int i = 0; i < depth; i++)
        local[i] = (float)i;
    volatile float more[1 << 16];
    for (int i = 0; i < depth; i++)
        more[i] = local[i];
    dst[0] = more[depth - 1];
}
GPU_KERNEL(probe_deep)

/* A missing barrier. */
extern "C" __global__ void probe_race(float *dst)
{
    GPU_SHARED(float, tile, [64]);
    tile[threadIdx.x] = (float)threadIdx.x;
    dst[threadIdx.x] = tile[63 - threadIdx.x];
}
GPU_KERNEL(probe_race)

/* The image and the host disagree on these. */
#if defined(__CUDACC__)
typedef int probe_number;
#else
typedef long long probe_number;
#endif
extern "C" __global__ void probe_other_size(float *dst, probe_number n)
{
    dst[0] = (float)n;
}
GPU_KERNEL(probe_other_size)

#if defined(__CUDACC__)
extern "C" __global__ void probe_other_count(float *dst, int n)
{
    dst[0] = (float)n;
}
extern "C" __global__ void probe_only_in_image(float *dst)
{
    dst[0] = 1;
}
#else
extern "C" __global__ void probe_other_count(float *dst)
{
    dst[0] = 1;
}
GPU_KERNEL(probe_other_count)
extern "C" __global__ void probe_only_on_host(float *dst)
{
    dst[0] = 1;
}
GPU_KERNEL(probe_only_on_host)
#endif
