/* Kernels that are right, and the same with one mistake: what the emulator must accept and what
 * it must find. */
#include "gpu.h"

/* right_<name> and bug_<name>, from `template <bool BUG> ... <name>`. */
#define PAIR(name)                                                                                 \
    extern "C" __global__ void right_##name(float *out, const float *in, int n)                    \
    {                                                                                              \
        name<false>(out, in, n);                                                                   \
    }                                                                                              \
    GPU_KERNEL(right_##name)                                                                       \
    extern "C" __global__ void bug_##name(float *out, const float *in, int n)                      \
    {                                                                                              \
        name<true>(out, in, n);                                                                    \
    }                                                                                              \
    GPU_KERNEL(bug_##name)

static __device__ __forceinline__ int thread_of_grid()
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

template <bool BUG>
static __device__ void missing_barrier(float *out, const float *in, int n)
{
    GPU_SHARED(float, tile, [64]);
    tile[threadIdx.x] = in[thread_of_grid()];
    if (!BUG)
        __syncthreads();
    out[thread_of_grid()] = tile[63 - threadIdx.x] + (float)n;
}
PAIR(missing_barrier)

/* Two rounds over one buffer: the second may only be filled when all have read the first. */
template <bool BUG>
static __device__ void missing_second_barrier(float *out, const float *in, int)
{
    GPU_SHARED(float, tile, [64]);
    float sum = 0;
    for (int round = 0; round < 2; round++) {
        if (round == 1 && !BUG)
            __syncthreads();
        tile[threadIdx.x] = in[thread_of_grid()] * (float)(round + 1);
        __syncthreads();
        sum += tile[63 - threadIdx.x];
    }
    out[thread_of_grid()] = sum;
}
PAIR(missing_second_barrier)

template <bool BUG>
static __device__ void missing_syncwarp(float *out, const float *in, int)
{
    GPU_SHARED(float, tile, [64]);
    tile[threadIdx.x] = in[thread_of_grid()];
    if (!BUG)
        __syncwarp();
    out[thread_of_grid()] = tile[threadIdx.x ^ 1];
}
PAIR(missing_syncwarp)

/* A shuffle makes lanes meet, and orders no memory. */
template <bool BUG>
static __device__ void shuffle_as_syncwarp(float *out, const float *in, int)
{
    GPU_SHARED(float, tile, [64]);
    tile[threadIdx.x] = in[thread_of_grid()];
    float lane = __shfl_sync(0xffffffffu, (float)(threadIdx.x % 32), 0);
    if (!BUG)
        __syncwarp();
    out[thread_of_grid()] = tile[threadIdx.x ^ 1] + lane;
}
PAIR(shuffle_as_syncwarp)

template <bool BUG>
static __device__ void uninitialised_shared(float *out, const float *in, int)
{
    GPU_SHARED(float, tile, [65]);
    tile[threadIdx.x] = in[thread_of_grid()];
    if (threadIdx.x == 0 && !BUG)
        tile[64] = 0;
    __syncthreads();
    out[thread_of_grid()] = tile[threadIdx.x + 1];
}
PAIR(uninitialised_shared)

template <bool BUG>
static __device__ void shared_overflow(float *out, const float *in, int)
{
    GPU_SHARED(float, tile, [64]);
    GPU_SHARED(float, other, [64]);
    float *volatile start = tile; /* else the compiler sees the overflow */
    start[threadIdx.x + BUG] = in[thread_of_grid()];
    other[threadIdx.x] = 1;
    __syncthreads();
    out[thread_of_grid()] = tile[threadIdx.x == 0 ? 1 : threadIdx.x] + other[threadIdx.x];
}
PAIR(shared_overflow)

template <bool BUG>
static __device__ void dynamic_shared_overflow(float *out, const float *in, int)
{
    GPU_DYN_SHARED(float, tile);
    tile[threadIdx.x + BUG] = in[thread_of_grid()];
    __syncthreads();
    out[thread_of_grid()] = tile[threadIdx.x == 0 ? 1 : threadIdx.x];
}
PAIR(dynamic_shared_overflow)

template <bool BUG>
static __device__ void read_past_the_end(float *out, const float *in, int n)
{
    int i = thread_of_grid();
    out[i] = in[i] + (i + 1 < n + BUG ? in[i + 1] : 0);
}
PAIR(read_past_the_end)

template <bool BUG>
static __device__ void write_before_the_start(float *out, const float *in, int)
{
    int i = thread_of_grid();
    out[i - (BUG && i == 0)] = in[i];
}
PAIR(write_before_the_start)

template <bool BUG>
static __device__ void misaligned_vector(float *out, const float *in, int n)
{
    int i = 4 * thread_of_grid();
    if (i + 8 > n)
        return; /* 128 values, 4 a thread */
    *(float4 *)(out + i) = *(const float4 *)(in + i + BUG);
}
PAIR(misaligned_vector)

template <bool BUG>
static __device__ void divergent_barrier(float *out, const float *in, int)
{
    if (BUG && threadIdx.x < 32)
        __syncthreads();
    else if (BUG)
        __syncthreads();
    out[thread_of_grid()] = in[thread_of_grid()];
}
PAIR(divergent_barrier)

template <bool BUG>
static __device__ void barrier_after_exit(float *out, const float *in, int)
{
    if (BUG && threadIdx.x == 5)
        return;
    __syncthreads();
    out[thread_of_grid()] = in[thread_of_grid()];
}
PAIR(barrier_after_exit)

template <bool BUG>
static __device__ void divergent_shuffle(float *out, const float *in, int)
{
    float v = in[thread_of_grid()];
    if (!BUG || threadIdx.x % 32 < 16)
        v = __shfl_xor_sync(0xffffffffu, v, 1);
    out[thread_of_grid()] = v;
}
PAIR(divergent_shuffle)

template <bool BUG>
static __device__ void shuffle_from_outside(float *out, const float *in, int)
{
    float v = in[thread_of_grid()];
    if (threadIdx.x % 32 < 16)
        v = __shfl_xor_sync(0xffffu, v, BUG ? 16 : 8);
    out[thread_of_grid()] = v;
}
PAIR(shuffle_from_outside)

template <bool BUG>
static __device__ void crossed_masks(float *out, const float *in, int)
{
    unsigned lane = threadIdx.x % 32;
    if (BUG)
        __syncwarp(lane % 2 ? 0xffffffffu : 0x55555555u | 2u);
    else
        __syncwarp(lane % 2 ? 0xaaaaaaaau : 0x55555555u);
    out[thread_of_grid()] = in[thread_of_grid()];
}
PAIR(crossed_masks)

template <bool BUG>
static __device__ void not_in_own_mask(float *out, const float *in, int)
{
    __syncwarp(BUG ? 0xfffffffeu : 0xffffffffu);
    out[thread_of_grid()] = in[thread_of_grid()];
}
PAIR(not_in_own_mask)

/* Half of a warp waits for the block, the other half for the warp. */
template <bool BUG>
static __device__ void deadlock(float *out, const float *in, int)
{
    if (threadIdx.x % 32 < 16 || !BUG)
        __syncthreads();
    __syncwarp();
    if (threadIdx.x % 32 >= 16 && BUG)
        __syncthreads();
    out[thread_of_grid()] = in[thread_of_grid()];
}
PAIR(deadlock)

template <bool BUG>
static __device__ void race_between_blocks(float *out, const float *in, int)
{
    float v = in[thread_of_grid()];
    if (threadIdx.x != 0)
        out[thread_of_grid()] = v;
    else if (BUG)
        out[0] = 7;
    else if (blockIdx.x == 0)
        out[0] = 7;
}
PAIR(race_between_blocks)

/* in[] is read by all blocks while one of them writes it. */
template <bool BUG>
static __device__ void write_after_read_between_blocks(float *out, const float *in, int n)
{
    out[thread_of_grid()] = in[threadIdx.x];
    if (BUG && thread_of_grid() == n - 1)
        const_cast<float *>(in)[0] = 3;
}
PAIR(write_after_read_between_blocks)

template <bool BUG>
static __device__ void unordered_total(float *out, const float *in, int)
{
    float v = in[thread_of_grid()];
    if (thread_of_grid() != 0)
        out[thread_of_grid()] = v;
    if (threadIdx.x < 32)
        for (int d = 16; d; d /= 2)
            v += __shfl_xor_sync(0xffffffffu, v, d);
    GPU_SHARED(float, total, [1]);
    if (threadIdx.x == 0) {
        total[0] = 0;
        if (blockIdx.x == 0)
            out[0] = 0;
    }
    __syncthreads();
    if (BUG)
        total[0] += 1; /* every thread: some of it is lost on a GPU */
    else
        atomicAdd(&total[0], 1);
    __syncthreads();
    if (thread_of_grid() == 0)
        out[0] = total[0];
}
PAIR(unordered_total)

/* 128 floats in two stages of 64 by cp.async. */
template <bool BUG>
static __device__ void weak_wait(float *out, const float *in, int n)
{
    GPU_SHARED(float, stage, [2][64]);
    for (int s = 0; s < 2; s++) {
        gpu_cp_async<4>(&stage[s][threadIdx.x], in + (s * 64 + (int)threadIdx.x) % n);
        gpu_cp_async_commit();
    }
    if (BUG)
        gpu_cp_async_wait<2>();
    else
        gpu_cp_async_wait<1>();
    __syncthreads();
    float sum = stage[0][63 - threadIdx.x];
    gpu_cp_async_wait<0>();
    __syncthreads();
    out[thread_of_grid()] = sum + stage[1][63 - threadIdx.x];
}
PAIR(weak_wait)

/* The copy for the next round is issued before all have read the last. */
template <bool BUG>
static __device__ void copy_too_soon(float *out, const float *in, int n)
{
    GPU_SHARED(float, stage, [64]);
    float sum = 0;
    gpu_cp_async<4>(&stage[threadIdx.x], in + threadIdx.x);
    gpu_cp_async_commit();
    for (int round = 0; round < 2; round++) {
        gpu_cp_async_wait<0>();
        __syncthreads();
        if (BUG && round == 0) {
            gpu_cp_async<4>(&stage[threadIdx.x], in + (64 + (int)threadIdx.x) % n);
            gpu_cp_async_commit();
        }
        sum += stage[63 - threadIdx.x];
        __syncthreads();
        if (!BUG && round == 0) {
            gpu_cp_async<4>(&stage[threadIdx.x], in + (64 + (int)threadIdx.x) % n);
            gpu_cp_async_commit();
        }
    }
    out[thread_of_grid()] = sum;
}
PAIR(copy_too_soon)

template <bool BUG>
static __device__ void misaligned_copy(float *out, const float *in, int)
{
    GPU_SHARED(float, stage, [64 * 4]);
    gpu_cp_async<16>(&stage[4 * threadIdx.x], in + BUG, 16);
    gpu_cp_async_commit();
    gpu_cp_async_wait<0>();
    out[thread_of_grid()] = stage[4 * threadIdx.x];
}
PAIR(misaligned_copy)

template <bool BUG>
static __device__ void copy_to_global(float *out, const float *in, int)
{
    GPU_SHARED(float, stage, [64]);
    float *target = BUG ? out + thread_of_grid() : &stage[threadIdx.x];
    gpu_cp_async<4>(target, in + thread_of_grid());
    gpu_cp_async_commit();
    gpu_cp_async_wait<0>();
    out[thread_of_grid()] = *target;
}
PAIR(copy_to_global)

template <bool BUG>
static __device__ void ldmatrix_before_syncwarp(float *out, const float *in, int)
{
    GPU_SHARED(uint4, rows, [64]);
    float v = in[thread_of_grid()];
    rows[threadIdx.x] = make_uint4(__float_as_uint(v), 0, 0, 0);
    if (!BUG)
        __syncwarp();
    uint32_t r[4];
    gpu_ldmatrix_x4(r, &rows[threadIdx.x]);
    out[thread_of_grid()] = __uint_as_float(r[0]);
}
PAIR(ldmatrix_before_syncwarp)

template <bool BUG>
static __device__ void misaligned_ldmatrix(float *out, const float *in, int)
{
    GPU_SHARED(uint2, rows, [130]);
    rows[2 * threadIdx.x] = make_uint2(__float_as_uint(in[thread_of_grid()]), 0);
    rows[2 * threadIdx.x + 1] = make_uint2(0, 0);
    if (threadIdx.x < 2)
        rows[128 + threadIdx.x] = make_uint2(0, 0);
    __syncthreads();
    uint32_t r[1];
    gpu_ldmatrix_x1(r, &rows[2 * threadIdx.x + BUG]);
    out[thread_of_grid()] = __uint_as_float(r[0]);
}
PAIR(misaligned_ldmatrix)

template <bool BUG>
static __device__ void mma_in_part_of_a_warp(float *out, const float *in, int)
{
    float acc[4] = {in[thread_of_grid()], 0, 0, 0};
    uint32_t a[4] = {}, b[2] = {};
    if (!BUG || threadIdx.x < 32 + 16)
        gpu_mma_m16n8k16_f16(acc, a, b);
    out[thread_of_grid()] = acc[0];
}
PAIR(mma_in_part_of_a_warp)

template <bool BUG>
static __device__ void different_collectives(float *out, const float *in, int)
{
    float v = in[thread_of_grid()];
    if (BUG && threadIdx.x % 2)
        v += (float)__any_sync(0xffffffffu, 1);
    else
        v += __shfl_sync(0xffffffffu, v, 0);
    out[thread_of_grid()] = v;
}
PAIR(different_collectives)

template <bool BUG>
static __device__ void too_much_static_shared(float *out, const float *in, int)
{
    GPU_SHARED(float, large, [BUG ? 12 * 1024 + 1 : 12 * 1024]);
    large[threadIdx.x] = in[thread_of_grid()];
    out[thread_of_grid()] = large[threadIdx.x];
}
PAIR(too_much_static_shared)

/* Atomics are in order with each other, not with a plain write. */
template <bool BUG>
static __device__ void atomic_and_plain(float *out, const float *in, int)
{
    float *cell = const_cast<float *>(in);
    if (threadIdx.x != 0)
        out[thread_of_grid()] = in[thread_of_grid()];
    else if (blockIdx.x == 0 || !BUG)
        out[thread_of_grid()] = atomicAdd(cell, 0.0f);
    else
        out[thread_of_grid()] = cell[0] = 1;
}
PAIR(atomic_and_plain)

/* Lanes 1 and 2 meet without lane 0, whose read is then in order with nothing. */
template <bool BUG>
static __device__ void forgotten_lane(float *out, const float *in, int)
{
    GPU_SHARED(float, cell, [2]);
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = 0;
    if (lane == 0)
        cell[warp] = in[0];
    __syncwarp();
    unsigned mask = BUG ? 6 : 7;
    if (lane == 0)
        v = cell[warp];
    if (mask >> lane & 1)
        __syncwarp(mask);
    if (lane == 1)
        v = cell[warp];
    if (mask >> lane & 1)
        __syncwarp(mask);
    if (lane == 2)
        cell[warp] = 3;
    out[thread_of_grid()] = v;
}
PAIR(forgotten_lane)

/* The halves of a word are written by two threads, the word is read by one of them. */
template <bool BUG>
static __device__ void two_writers_of_a_word(float *out, const float *in, int)
{
    GPU_SHARED(uint32_t, words, [32]);
    unsigned short *halves = (unsigned short *)words;
    if (threadIdx.x < 32)
        words[threadIdx.x] = 0;
    __syncthreads();
    halves[threadIdx.x] = (unsigned short)in[thread_of_grid()];
    if (!BUG)
        __syncwarp();
    out[thread_of_grid()] = threadIdx.x % 2 ? 0 : (float)words[threadIdx.x / 2];
}
PAIR(two_writers_of_a_word)

/* A word is written by one thread, its halves are read by others. */
template <bool BUG>
static __device__ void two_readers_of_a_word(float *out, const float *in, int)
{
    GPU_SHARED(uint32_t, words, [64]);
    words[threadIdx.x] = (uint32_t)in[thread_of_grid()];
    if (!BUG)
        __syncthreads();
    out[thread_of_grid()] = (float)((const unsigned short *)words)[2 * (63 - threadIdx.x) + 1];
}
PAIR(two_readers_of_a_word)

/* Between a thread's write of half a word and another's read of it the word is read as a whole. */
template <bool BUG>
static __device__ void word_read_in_between(float *out, const float *in, int)
{
    GPU_SHARED(uint32_t, words, [32]);
    unsigned short *halves = (unsigned short *)words;
    if (threadIdx.x < 32)
        words[threadIdx.x] = 0;
    __syncthreads();
    float v = 0;
    if (threadIdx.x < 32) {
        halves[2 * threadIdx.x + 1] = (unsigned short)in[thread_of_grid()];
        v = (float)words[threadIdx.x];
    }
    if (!BUG)
        __syncthreads();
    if (threadIdx.x >= 32)
        v = (float)halves[2 * (threadIdx.x - 32) + 1];
    out[thread_of_grid()] = v;
}
PAIR(word_read_in_between)

/* Many lanes read, one writes after meeting only some of them. */
template <bool BUG>
static __device__ void write_after_reads_of_a_warp(float *out, const float *in, int)
{
    GPU_SHARED(float, cell, [2]);
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        cell[warp] = in[0];
    __syncwarp();
    float v = cell[warp];
    if (lane >= BUG)
        __syncwarp(BUG ? 0xfffffffeu : 0xffffffffu);
    if (lane == 5)
        cell[warp] = 1;
    out[thread_of_grid()] = v;
}
PAIR(write_after_reads_of_a_warp)

/* What one lane has learnt of others it passes on: 0 meets 1, then 1 meets 2. */
template <bool BUG>
static __device__ void order_is_passed_on(float *out, const float *in, int)
{
    GPU_SHARED(float, cell, [2]);
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = 0;
    if (lane == 0)
        cell[warp] = in[0];
    if (lane < 2 && !BUG)
        __syncwarp(3);
    if (lane == 1 || lane == 2)
        __syncwarp(6);
    if (lane == 2)
        v = cell[warp];
    out[thread_of_grid()] = v;
}
PAIR(order_is_passed_on)

/* Both warps read, one of them writes; with a random schedule after the other's read. */
template <bool BUG>
static __device__ void other_warp_has_read(float *out, const float *in, int)
{
    GPU_SHARED(float, cell, [1]);
    if (threadIdx.x == 0)
        cell[0] = in[0];
    __syncthreads();
    out[thread_of_grid()] = cell[0];
    for (int i = 0; i < 4; i++)
        __syncwarp();
    if (!BUG)
        __syncthreads();
    if (threadIdx.x == 8)
        cell[0] = 2;
}
PAIR(other_warp_has_read)

template <bool BUG>
static __device__ void initialised_by_another_block(float *out, const float *in, int)
{
    GPU_SHARED(float, tile, [64]);
    if (blockIdx.x == 0 || !BUG)
        tile[threadIdx.x] = in[threadIdx.x];
    out[thread_of_grid()] = tile[threadIdx.x];
}
PAIR(initialised_by_another_block)

template <bool BUG>
static __device__ void first_thread_exits(float *out, const float *in, int)
{
    if (BUG && threadIdx.x == 0)
        return;
    __syncthreads();
    out[thread_of_grid()] = in[thread_of_grid()];
}
PAIR(first_thread_exits)

/* By memcpy of a size that the compiler does not know. */
template <bool BUG>
static __device__ void copied_too_soon(float *out, const float *in, int n)
{
    GPU_SHARED(float, tile, [64]);
    GPU_SHARED(float, copy, [64]);
    tile[threadIdx.x] = in[thread_of_grid()];
    if (!BUG)
        __syncthreads();
    if (threadIdx.x == 0)
        memcpy(copy, tile, (size_t)n * 2);
    __syncthreads();
    out[thread_of_grid()] = copy[threadIdx.x];
}
PAIR(copied_too_soon)
