/* The kernels of gpu-probe. Each leaves what shows that it did all of its work: nothing can be
 * left out by the compiler, and the host compares it with what it must be. */
#include "conv_args.h"
#include "gpu.h"

/* ---- streams through memory: 256 threads a block or any other number ---- */

enum { AT_ONCE = 4 }; /* accesses that a thread has open */

/* Elements first to first + count - 1; a block for every blockDim.x * AT_ONCE of them. */
template <class T>
static __device__ void copy(T *to, const T *from, size_t first, size_t count)
{
    const size_t begin = (size_t)blockIdx.x * blockDim.x * AT_ONCE + threadIdx.x;
    T v[AT_ONCE];
    GPU_UNROLL
    for (int n = 0; n < AT_ONCE; n++)
        if (begin + n * blockDim.x < count)
            v[n] = from[first + begin + n * blockDim.x];
    GPU_UNROLL
    for (int n = 0; n < AT_ONCE; n++)
        if (begin + n * blockDim.x < count)
            to[first + begin + n * blockDim.x] = v[n];
}

extern "C" __global__ void probe_copy_4(unsigned *__restrict__ to,
                                        const unsigned *__restrict__ from, size_t first,
                                        size_t count)
{
    copy(to, from, first, count);
}
GPU_KERNEL(probe_copy_4)

extern "C" __global__ void probe_copy_16(uint4 *__restrict__ to, const uint4 *__restrict__ from,
                                         size_t first, size_t count)
{
    copy(to, from, first, count);
}
GPU_KERNEL(probe_copy_16)

static __device__ unsigned folded(uint4 v)
{
    return v.x ^ v.y ^ v.z ^ v.w;
}

/* Reads all of `in`, past L1, `passes` times; out gets a word of each thread, whose exclusive or
 * is that of all that was read. */
extern "C" __global__ void probe_read(unsigned *out, const uint4 *in, size_t count, int passes)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    const size_t begin = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int pass = 0; pass < passes; pass++) {
        size_t i = begin;
        for (; i + (AT_ONCE - 1) * step < count; i += AT_ONCE * step) {
            uint4 v[AT_ONCE];
            GPU_UNROLL
            for (int n = 0; n < AT_ONCE; n++)
                v[n] = __ldcg(in + i + n * step);
            GPU_UNROLL
            for (int n = 0; n < AT_ONCE; n++)
                sum ^= folded(v[n]);
        }
        for (; i < count; i += step)
            sum ^= folded(__ldcg(in + i));
    }
    out[begin] = sum;
}
GPU_KERNEL(probe_read)

/* The same in one pass, with cp.async: each thread keeps DEPTH copies of 16 bytes open and reads
 * its own. Dynamic shared memory: at least DEPTH * blockDim.x * 16 bytes. */
template <int DEPTH>
static __device__ void ring(unsigned *out, const uint4 *in, size_t count)
{
    GPU_DYN_SHARED(uint4, stage);
    const size_t step = (size_t)gridDim.x * blockDim.x;
    const size_t begin = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t next = begin;
    unsigned sum = 0;
    GPU_UNROLL
    for (int n = 0; n < DEPTH; n++, next += step) {
        if (next < count)
            gpu_cp_async<16>(&stage[n * blockDim.x + threadIdx.x], in + next);
        gpu_cp_async_commit();
    }
    for (size_t i = begin; i < count;) {
        GPU_UNROLL
        for (int n = 0; n < DEPTH; n++, i += step, next += step) {
            gpu_cp_async_wait<DEPTH - 1>();
            uint4 *slot = &stage[n * blockDim.x + threadIdx.x];
            if (i < count)
                sum ^= folded(*slot);
            if (next < count)
                gpu_cp_async<16>(slot, in + next);
            gpu_cp_async_commit();
        }
    }
    out[begin] = sum;
}

#define RING(depth)                                                                                \
    extern "C" __global__ void probe_ring_##depth(unsigned *out, const uint4 *in, size_t count)    \
    {                                                                                              \
        ring<depth>(out, in, count);                                                               \
    }                                                                                              \
    GPU_KERNEL(probe_ring_##depth)
RING(1)
RING(2)
RING(4)
RING(8)

/* ---- launches ---- */

extern "C" __global__ void probe_empty()
{
}
GPU_KERNEL(probe_empty)

extern "C" __global__ void probe_arguments(__grid_constant__ const gdnn_args args)
{
    (void)args;
}
GPU_KERNEL(probe_arguments)

/* ---- chains of one instruction: CHAINS sums a thread, each iterations * STEPS instructions long.
 * out gets the total of a thread's sums; clocks gets what each block took. ---- */

enum { CHAINS = 8, STEPS = 16 };

template <class T, class Step>
static __device__ void chains(T (&sum)[CHAINS], long long *clocks, int iterations, Step step)
{
    __syncthreads();
    const long long start = clock64();
    GPU_NO_UNROLL
    for (int n = 0; n < iterations; n++) {
        GPU_UNROLL
        for (int s = 0; s < STEPS; s++) {
            GPU_UNROLL
            for (int c = 0; c < CHAINS; c++)
                step(sum[c]);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        clocks[blockIdx.x] = clock64() - start;
}

/* Sum c begins at c, and then v = v * a + b. */
extern "C" __global__ void __launch_bounds__(1024)
    probe_ffma(float *out, long long *clocks, int iterations, float a, float b)
{
    float sum[CHAINS], total = 0;
    for (int c = 0; c < CHAINS; c++)
        sum[c] = a * (float)c;
    chains(sum, clocks, iterations, [=](float &v) { v = fmaf(v, a, b); });
    for (int c = 0; c < CHAINS; c++)
        total += sum[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
GPU_KERNEL(probe_ffma)

/* A lane's part of the sums of one chain. */
struct Tile {
    float acc[4];
};

/* Products of matrices whose elements are all alike: `a` and `b` are a register of each. */
template <class Step>
static __device__ void products(float *out, long long *clocks, int iterations, Step step)
{
    Tile tile[CHAINS] = {};
    float total = 0;
    chains(tile, clocks, iterations, step);
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < 4; i++)
            total += tile[c].acc[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

#define MMA(name, ...)                                                                             \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
        probe_##name(float *out, long long *clocks, int iterations, uint32_t a, uint32_t b)        \
    {                                                                                              \
        const uint32_t a_of[4] = {a, a, a, a}, b_of[2] = {b, b};                                   \
        products(out, clocks, iterations,                                                          \
                 [&](Tile &tile) { gpu_##name(tile.acc, a_of, b_of __VA_ARGS__); });               \
    }                                                                                              \
    GPU_KERNEL(probe_##name)
MMA(mma_m16n8k8_f16, [0])
MMA(mma_m16n8k8_bf16, [0])
MMA(mma_m16n8k8_tf32)
MMA(mma_m16n8k16_f16)
MMA(mma_m16n8k16_bf16)

/* ---- reads of shared memory: STEPS an iteration; out gets the exclusive or of what a thread read
 * ---- */

enum { WORDS = 8192 };

template <class Read>
static __device__ void reads(unsigned *out, long long *clocks, int iterations, Read read)
{
    GPU_SHARED(unsigned, words, [WORDS]);
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)
        words[i] = i * 2654435761u;
    __syncthreads();
    unsigned sum = 0;
    const long long start = clock64();
    GPU_NO_UNROLL
    for (int n = 0; n < iterations; n++) {
        /* Another place in each iteration, else the compiler keeps what it read. */
        const unsigned *from = words + (unsigned)n % 4 * (WORDS / 8);
        GPU_UNROLL
        for (unsigned s = 0; s < STEPS; s++)
            sum ^= read(from, s);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        clocks[blockIdx.x] = clock64() - start;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#define SHARED(name, read)                                                                         \
    extern "C" __global__ void probe_shared_##name(unsigned *out, long long *clocks,               \
                                                   int iterations)                                 \
    {                                                                                              \
        const unsigned lane = threadIdx.x % 32;                                                    \
        reads(out, clocks, iterations, [=](const unsigned *from, unsigned s) { return read; });    \
    }                                                                                              \
    GPU_KERNEL(probe_shared_##name)

static __device__ unsigned matrices(const unsigned *row)
{
    uint32_t r[4];
    gpu_ldmatrix_x4(r, row);
    return r[0] ^ r[1] ^ r[2] ^ r[3];
}

SHARED(4, from[s * 32 + lane])
SHARED(16, folded(((const uint4 *)from)[s * 32 + lane]))
SHARED(conflict, from[s * 64 + 2 * lane])
SHARED(ldmatrix, matrices(from + (s * 32 + lane) * 4))

/* ---- layouts: what each lane of one warp gets ---- */

/* out[mode][lane] for idx, up, down, xor. */
extern "C" __global__ void probe_shuffle(unsigned *out, const unsigned *in, int operand, int width)
{
    const unsigned lane = threadIdx.x, v = in[lane];
    out[0 * 32 + lane] = __shfl_sync(0xffffffffu, v, operand + 5 * (int)lane, width);
    out[1 * 32 + lane] = __shfl_up_sync(0xffffffffu, v, (unsigned)operand, width);
    out[2 * 32 + lane] = __shfl_down_sync(0xffffffffu, v, (unsigned)operand, width);
    out[3 * 32 + lane] = __shfl_xor_sync(0xffffffffu, v, operand, width);
}
GPU_KERNEL(probe_shuffle)

/* Lane i points at row order[i] of 32 rows of 16 bytes; out[kind][matrix][lane] for x1, x2, x4,
 * and those with .trans; words of matrices that a kind does not have stay. */
extern "C" __global__ void probe_ldmatrix(uint32_t *out, const uint4 *rows, const int *order)
{
    GPU_SHARED(uint4, tile, [32]);
    const unsigned lane = threadIdx.x;
    tile[lane] = rows[lane];
    __syncthreads();
    const void *row = &tile[order[lane]];
    uint32_t r[6][4] = {};
    gpu_ldmatrix_x1(r[0], row);
    gpu_ldmatrix_x2(r[1], row);
    gpu_ldmatrix_x4(r[2], row);
    gpu_ldmatrix_x1_trans(r[3], row);
    gpu_ldmatrix_x2_trans(r[4], row);
    gpu_ldmatrix_x4_trans(r[5], row);
    GPU_UNROLL
    for (int kind = 0; kind < 6; kind++) {
        GPU_UNROLL
        for (int matrix = 0; matrix < 4; matrix++)
            out[(kind * 4 + matrix) * 32 + lane] = r[kind][matrix];
    }
}
GPU_KERNEL(probe_ldmatrix)

/* Registers in, registers out, of 32 lanes each: a[4], b[2], d[4]; d begins as `c`. */
#define PRODUCT(name, ...)                                                                         \
    extern "C" __global__ void probe_layout_##name(float *d, const uint32_t *a_of,                 \
                                                   const uint32_t *b_of, const float *c)           \
    {                                                                                              \
        const unsigned lane = threadIdx.x;                                                         \
        uint32_t a[4], b[2];                                                                       \
        float acc[4];                                                                              \
        for (int i = 0; i < 4; i++) {                                                              \
            a[i] = a_of[i * 32 + lane];                                                            \
            b[i % 2] = b_of[i % 2 * 32 + lane];                                                    \
            acc[i] = c[i * 32 + lane];                                                             \
        }                                                                                          \
        gpu_##name(acc, a, b __VA_ARGS__);                                                         \
        for (int i = 0; i < 4; i++)                                                                \
            d[i * 32 + lane] = acc[i];                                                             \
    }                                                                                              \
    GPU_KERNEL(probe_layout_##name)
PRODUCT(mma_m16n8k8_f16, [0])
PRODUCT(mma_m16n8k8_bf16, [0])
PRODUCT(mma_m16n8k8_tf32)
PRODUCT(mma_m16n8k16_f16)
PRODUCT(mma_m16n8k16_bf16)

/* out[size][lane] is what cp.async of 4, 8 and 16 bytes made of in[lane], with at most src_bytes
 * of it read. */
extern "C" __global__ void probe_copies(uint4 *out, const uint4 *in, int src_bytes)
{
    GPU_SHARED(uint4, stage, [3][32]);
    const unsigned lane = threadIdx.x;
    for (int size = 0; size < 3; size++)
        stage[size][lane] = make_uint4(~0u, ~0u, ~0u, ~0u);
    __syncthreads();
    gpu_cp_async<4>(&stage[0][lane], in + lane, src_bytes < 4 ? src_bytes : 4);
    gpu_cp_async<8>(&stage[1][lane], in + lane, src_bytes < 8 ? src_bytes : 8);
    gpu_cp_async<16>(&stage[2][lane], in + lane, src_bytes);
    gpu_cp_async_commit();
    gpu_cp_async_wait<0>();
    for (int size = 0; size < 3; size++)
        out[size * 32 + lane] = stage[size][lane];
}
GPU_KERNEL(probe_copies)
