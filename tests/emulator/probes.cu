/* Kernels that let each lane's view of a collective be seen from outside. */
#include "gpu.h"

/* out[lane] = what the lane gets of value[lane]; mode as in the order below. */
extern "C" __global__ void probe_shuffle(unsigned *out, const unsigned *value, const int *source,
                                         int mode, int width)
{
    unsigned lane = threadIdx.x, v = value[lane], got = 0;
    if (mode == 0)
        got = __shfl_sync(0xffffffffu, v, source[lane], width);
    else if (mode == 1)
        got = __shfl_up_sync(0xffffffffu, v, (unsigned)source[0], width);
    else if (mode == 2)
        got = __shfl_down_sync(0xffffffffu, v, (unsigned)source[0], width);
    else
        got = __shfl_xor_sync(0xffffffffu, v, source[0], width);
    out[lane] = got;
}
GPU_KERNEL(probe_shuffle)

/* The same exchange for the types that shuffles take. */
extern "C" __global__ void probe_shuffle_types(double *wide, __half *narrow, long long *integer)
{
    int lane = (int)threadIdx.x;
    wide[lane] = __shfl_down_sync(0xffffffffu, lane + 0.5, 1);
    narrow[lane] = __shfl_down_sync(0xffffffffu, __float2half_rn((float)lane), 1);
    integer[lane] = __shfl_down_sync(0xffffffffu, (long long)lane << 40, 1);
}
GPU_KERNEL(probe_shuffle_types)

/* Half warps apart, then together: legal, and the lanes of one half run ahead. */
extern "C" __global__ void probe_masks(unsigned *out)
{
    unsigned lane = threadIdx.x % 32, mask = lane < 16 ? 0xffffu : 0xffff0000u, sum = 1;
    for (int d = 8; d; d /= 2)
        sum += __shfl_xor_sync(mask, sum, d);
    if (lane < 16)
        sum += __ballot_sync(0xffffu, lane % 2) & 1;
    out[threadIdx.x] = sum + __shfl_sync(0xffffffffu, sum, 31);
}
GPU_KERNEL(probe_masks)

/* out[0..8][lane] of votes, matches and reductions over value[] under `mask`; other lanes write
 * nothing. */
extern "C" __global__ void probe_votes(unsigned *out, const unsigned *value, unsigned mask)
{
    unsigned lane = threadIdx.x, v = value[lane];
    if (!(mask >> lane & 1))
        return;
    out[0 * 32 + lane] = __ballot_sync(mask, (int)(v & 1));
    out[1 * 32 + lane] = (unsigned)__any_sync(mask, v == 77);
    out[2 * 32 + lane] = (unsigned)__all_sync(mask, v < 100);
    out[3 * 32 + lane] = __match_any_sync(mask, v);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    out[4 * 32 + lane] = __reduce_add_sync(mask, v);
    out[5 * 32 + lane] = (unsigned)__reduce_min_sync(mask, (int)(v - 50));
    out[6 * 32 + lane] = __reduce_max_sync(mask, v - 50);
    out[7 * 32 + lane] = __reduce_and_sync(mask, v) + (__reduce_or_sync(mask, v) << 8);
    out[8 * 32 + lane] = __reduce_xor_sync(mask, v);
#endif
}
GPU_KERNEL(probe_votes)

extern "C" __global__ void probe_barriers(int *out)
{
    int i = (int)threadIdx.x, n = (int)blockDim.x;
    int last = __syncthreads_count(i == n - 1), none = __syncthreads_or(i == n);
    int most = __syncthreads_and(i != n - 1), odd = __syncthreads_count(i % 2);
    out[i] = last + 2 * none + 4 * most + 8 * odd;
}
GPU_KERNEL(probe_barriers)

/* Registers in, registers out: a[4], b[2], c[4] of each lane one after another. kind 0: m16n8k16
 * f16, 1: m16n8k16 bf16, 2: m16n8k8 f16, 3: m16n8k8 bf16, 4: m16n8k8 tf32. */
extern "C" __global__ void probe_mma(float *d, const uint32_t *a_of, const uint32_t *b_of,
                                     const float *c, int kind)
{
    float acc[4];
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; i++) {
        acc[i] = c[4 * threadIdx.x + i];
        a[i] = a_of[4 * threadIdx.x + i];
    }
    b[0] = b_of[2 * threadIdx.x];
    b[1] = b_of[2 * threadIdx.x + 1];
    if (kind == 0)
        gpu_mma_m16n8k16_f16(acc, a, b);
    else if (kind == 1)
        gpu_mma_m16n8k16_bf16(acc, a, b);
    else if (kind == 2)
        gpu_mma_m16n8k8_f16(acc, a, b[0]);
    else if (kind == 3)
        gpu_mma_m16n8k8_bf16(acc, a, b[0]);
    else
        gpu_mma_m16n8k8_tf32(acc, a, b);
    for (int i = 0; i < 4; i++)
        d[4 * threadIdx.x + i] = acc[i];
}
GPU_KERNEL(probe_mma)

/* Lane i points at row order[i] of 32 rows; r[4] of each lane. kind: log2 of the number of
 * matrices, + 3 for _trans. */
extern "C" __global__ void probe_ldmatrix(uint32_t *out, const uint4 *rows, const int *order,
                                          int kind)
{
    GPU_SHARED(uint4, tile, [32]);
    tile[threadIdx.x] = rows[threadIdx.x];
    __syncthreads();
    uint32_t r[4] = {};
    const void *row = &tile[order[threadIdx.x]];
    if (kind == 0)
        gpu_ldmatrix_x1(r, row);
    else if (kind == 1)
        gpu_ldmatrix_x2(r, row);
    else if (kind == 2)
        gpu_ldmatrix_x4(r, row);
    else if (kind == 3)
        gpu_ldmatrix_x1_trans(r, row);
    else if (kind == 4)
        gpu_ldmatrix_x2_trans(r, row);
    else
        gpu_ldmatrix_x4_trans(r, row);
    for (int i = 0; i < 4; i++)
        out[4 * threadIdx.x + i] = r[i];
}
GPU_KERNEL(probe_ldmatrix)

/* Each thread copies 4, 8 and 16 bytes, of which src_bytes are read. */
extern "C" __global__ void probe_copies(unsigned char *out, const unsigned char *in, int src_bytes)
{
    GPU_SHARED(uint4, stage, [3][32]);
    unsigned i = threadIdx.x;
    gpu_cp_async<4>(&stage[0][i], in + 16 * i, src_bytes < 4 ? src_bytes : 4);
    gpu_cp_async<8>(&stage[1][i], in + 16 * i, src_bytes < 8 ? src_bytes : 8);
    gpu_cp_async<16>(&stage[2][i], in + 16 * i, src_bytes);
    gpu_cp_async_commit();
    gpu_cp_async_wait<0>();
    for (unsigned n = 0; n < 16; n++) {
        if (n < 4)
            out[(0 * 32 + i) * 16 + n] = ((const unsigned char *)&stage[0][i])[n];
        if (n < 8)
            out[(1 * 32 + i) * 16 + n] = ((const unsigned char *)&stage[1][i])[n];
        out[(2 * 32 + i) * 16 + n] = ((const unsigned char *)&stage[2][i])[n];
    }
}
GPU_KERNEL(probe_copies)

extern "C" __global__ void probe_tf32(uint32_t *out, const float *in)
{
    out[threadIdx.x] = gpu_tf32(in[threadIdx.x]);
}
GPU_KERNEL(probe_tf32)

extern "C" __global__ void probe_atomics(int *sum, int *largest, unsigned *bits,
                                         unsigned long long *swaps)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(sum, i);
    atomicMax(largest, i);
    atomicOr(bits, 1u << i % 32);
    unsigned long long seen = atomicCAS(swaps, 0ull, 0ull), before;
    do {
        before = seen;
        seen = atomicCAS(swaps, before, before + 2);
    } while (seen != before);
}
GPU_KERNEL(probe_atomics)

/* out[i] = i for a 3-dimensional grid and block, where i counts with x fastest. */
extern "C" __global__ void probe_indices(int *out)
{
    int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    int block = (int)((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
    int thread = (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
    out[block * threads + thread] = block * threads + thread;
}
GPU_KERNEL(probe_indices)

/* What a block finds in its shared memory. */
extern "C" __global__ void probe_fresh_shared(unsigned *out)
{
    GPU_SHARED(unsigned, fixed, [32]);
    GPU_DYN_SHARED(unsigned, dynamic);
    out[2 * (blockIdx.x * 32 + threadIdx.x)] = fixed[threadIdx.x];
    out[2 * (blockIdx.x * 32 + threadIdx.x) + 1] = dynamic[threadIdx.x];
    fixed[threadIdx.x] = dynamic[threadIdx.x] = 5;
}
GPU_KERNEL(probe_fresh_shared)

/* The order in which threads of two warps come by, as far as the schedule decides it. */
extern "C" __global__ void probe_order(int *order, int *next)
{
    order[atomicAdd(next, 1)] = (int)threadIdx.x;
}
GPU_KERNEL(probe_order)

/* Known traffic: reads n floats with a stride, twice, and writes 2 of 8 bytes; every second
 * thread has a conflict. */
extern "C" __global__ void probe_traffic(float *out, const float *in, int stride)
{
    GPU_SHARED(float, tile, [32 * 32]);
    int i = (int)threadIdx.x;
    tile[i * stride] = in[i * stride] + in[i * stride];
    __syncthreads();
    out[2 * (int)(blockIdx.x * blockDim.x + threadIdx.x)] = tile[i * stride];
}
GPU_KERNEL(probe_traffic)

/* Wide loads of shared memory: each of 32 threads writes 4 words without a conflict, and reads WORDS that are its own, next
 * to its neighbours'. */
template <int WORDS>
static __device__ void load_wide(uint32_t *out)
{
    GPU_SHARED(uint32_t, tile, [32 * 4]);
    int i = (int)threadIdx.x;
    for (int j = 0; j < 4; j++)
        tile[j * 32 + i] = (uint32_t)(j * 32 + i);
    __syncthreads();
    uint32_t word[WORDS];
    gpu_load_shared(word, gpu_shared_address(tile + i * WORDS));
    for (int j = 0; j < WORDS; j++)
        out[i * WORDS + j] = word[j];
}
extern "C" __global__ void probe_wide_1(uint32_t *out)
{
    load_wide<1>(out);
}
GPU_KERNEL(probe_wide_1)
extern "C" __global__ void probe_wide_2(uint32_t *out)
{
    load_wide<2>(out);
}
GPU_KERNEL(probe_wide_2)
extern "C" __global__ void probe_wide_4(uint32_t *out)
{
    load_wide<4>(out);
}
GPU_KERNEL(probe_wide_4)

/* The same by vectors that are assigned. */
template <class V>
static __device__ void assign_vectors(V *out)
{
    GPU_SHARED(V, tile, [32]);
    int i = (int)threadIdx.x;
    V value;
    tile[i] = out[i];
    __syncthreads();
    value = tile[i];
    out[i] = value;
}
extern "C" __global__ void probe_uint2(uint2 *out)
{
    assign_vectors(out);
}
GPU_KERNEL(probe_uint2)
extern "C" __global__ void probe_float4(float4 *out)
{
    assign_vectors(out);
}
GPU_KERNEL(probe_float4)
