/* Everything of a GPU that a kernel uses beyond CUDA's ordinary names: the only header with inline
 * PTX, and beside conv_args.h the only one that a kernel includes. The text of a kernel is compiled
 * twice: by nvcc for the GPU, and by the host's C++ compiler for the tests, where
 * tests/emulator/emulator.hpp defines the same names.
 *
 * GPU_KERNEL(name)             after the definition of a kernel: makes it known to the emulator
 * GPU_SHARED(T, name, dims)    static shared memory: GPU_SHARED(float, tile, [32][33]);
 * GPU_DYN_SHARED(T, name)      the dynamic shared memory as `T *name`, aligned to 16 bytes
 * GPU_UNROLL                   before a loop: unroll it fully
 *
 * Matrix products of a whole warp, acc += A * B, with the sums in float32. Lane = 4 * g + t; two
 * 16-bit values in a register, the one with the lower index in the lower half;
 * acc[0..1] = C[g][2t..2t+1], acc[2..3] = C[g + 8][2t..2t+1].
 *
 * gpu_mma_m16n8k16_f16, _bf16
 *       a[0] = A[g][2t..2t+1], a[1] = A[g + 8][2t..], a[2] = A[g][2t + 8..],
 *       a[3] = A[g + 8][2t + 8..]; b[0] = B[2t..2t+1][g], b[1] = B[2t + 8..][g]
 * gpu_mma_m16n8k8_f16, _bf16
 *       a[0] = A[g][2t..2t+1], a[1] = A[g + 8][2t..]; b = B[2t..2t+1][g]
 * gpu_mma_m16n8k8_tf32
 *       a[0] = A[g][t], a[1] = A[g + 8][t], a[2] = A[g][t + 4], a[3] = A[g + 8][t + 4];
 *       b[0] = B[t][g], b[1] = B[t + 4][g]; operands from gpu_tf32
 * gpu_tf32(float)
 *       nearest TF32, ties away from zero, as the bits of a float
 *
 * bfloat16 and TF32 products need sm_80: below it they trap, so the host must not launch a kernel
 * that reaches one.
 *
 * gpu_ldmatrix_x1, _x2, _x4 (r, row), and with _trans
 *       loads 1, 2 or 4 8x8 matrices of 16-bit values from shared memory: lane 8 * j + i gives the
 *       address of row i of matrix j (16 bytes, aligned), lane 4 * g + t gets elements
 *       [g][2t..2t+1] of matrix j in r[j]; with _trans elements [2t][g] and [2t + 1][g]
 *
 * gpu_cp_async<4 | 8 | 16>(dst, src, src_bytes)
 *       starts a copy from global to shared memory; both aligned to the size; the bytes after
 *       src_bytes become zero and are not read. Complete for the issuing thread after
 *       gpu_cp_async_commit and gpu_cp_async_wait<n>, which waits until at most n commits are open;
 *       others see it after a barrier. Below sm_80 a plain copy.
 *
 * gpu_shared                    an address in shared memory, counted in bytes: one register
 * gpu_shared_address(pointer)   of a pointer into shared memory
 * gpu_load_shared(word, at)     1, 2 or 4 words of 4 bytes, aligned to all of them; 4 floats; one of 2 bytes
 * gpu_shared_value<T>(at)       one value; constants added to `at` cost nothing
 * gpu_store_shared(at, value)   one value
 * gpu_copy_shared<4 | 8 | 16>(at, from)   gpu_cp_async of all bytes
 *
 * gpu_keep(value)               makes the compiler keep an int, rather than compute it again where it is used
 *
 * gpu_unpack(pair, low, high)   the two values of a __half2 or __nv_bfloat162 as floats
 * gpu_pack(low, high, pair)     both rounded to nearest
 */
#ifndef GDNN_GPU_H
#define GDNN_GPU_H

#if !defined(__CUDACC__)
#include "emulator.hpp"
#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define GPU_KERNEL(name)
#define GPU_SHARED(T, name, dims) __shared__ __align__(16) T name dims
#define GPU_DYN_SHARED(T, name)                                                                    \
    extern __shared__ __align__(16) unsigned char gpu_dynamic_shared[];                            \
    T *const name = reinterpret_cast<T *>(gpu_dynamic_shared)
#define GPU_UNROLL    _Pragma("unroll")
#define GPU_NO_UNROLL _Pragma("unroll 1")

/* Host passes of nvcc see no __CUDA_ARCH__; they parse these functions and compile none of them. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define GPU_BELOW_SM80 1
#else
#define GPU_BELOW_SM80 0
#endif
#define GPU_FUNCTION static __device__ __forceinline__

#define GPU_MMA_M16N8K8(acc, a, b, types)                                                          \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." types ".f32 "                             \
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                                    \
                 : "+f"((acc)[0]), "+f"((acc)[1]), "+f"((acc)[2]), "+f"((acc)[3])                  \
                 : "r"((a)[0]), "r"((a)[1]), "r"(b))

#define GPU_MMA_4_2(acc, a, b, shape_types)                                                        \
    asm volatile("mma.sync.aligned." shape_types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "        \
                 "{%0,%1,%2,%3};"                                                                  \
                 : "+f"((acc)[0]), "+f"((acc)[1]), "+f"((acc)[2]), "+f"((acc)[3])                  \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))

GPU_FUNCTION void gpu_mma_m16n8k8_f16(float acc[4], const uint32_t a[2], uint32_t b)
{
    GPU_MMA_M16N8K8(acc, a, b, "f16.f16");
}

GPU_FUNCTION void gpu_mma_m16n8k16_f16(float acc[4], const uint32_t a[4], const uint32_t b[2])
{
#if GPU_BELOW_SM80
    GPU_MMA_M16N8K8(acc, a, b[0], "f16.f16");
    GPU_MMA_M16N8K8(acc, a + 2, b[1], "f16.f16");
#else
    GPU_MMA_4_2(acc, a, b, "m16n8k16.row.col.f32.f16.f16.f32");
#endif
}

GPU_FUNCTION void gpu_mma_m16n8k8_bf16(float acc[4], const uint32_t a[2], uint32_t b)
{
#if GPU_BELOW_SM80
    __trap();
#else
    GPU_MMA_M16N8K8(acc, a, b, "bf16.bf16");
#endif
}

GPU_FUNCTION void gpu_mma_m16n8k16_bf16(float acc[4], const uint32_t a[4], const uint32_t b[2])
{
#if GPU_BELOW_SM80
    __trap();
#else
    GPU_MMA_4_2(acc, a, b, "m16n8k16.row.col.f32.bf16.bf16.f32");
#endif
}

GPU_FUNCTION void gpu_mma_m16n8k8_tf32(float acc[4], const uint32_t a[4], const uint32_t b[2])
{
#if GPU_BELOW_SM80
    __trap();
#else
    GPU_MMA_4_2(acc, a, b, "m16n8k8.row.col.f32.tf32.tf32.f32");
#endif
}

GPU_FUNCTION uint32_t gpu_tf32(float value)
{
#if GPU_BELOW_SM80
    __trap();
    return __float_as_uint(value);
#else
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
#endif
}

GPU_FUNCTION void gpu_keep(int &value)
{
    asm volatile("" : "+r"(value));
}

/* __half22float2 moves each half first; this splits the register once. */
GPU_FUNCTION void gpu_unpack(const __half2 &pair, float &low, float &high)
{
    asm("{.reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(low), "=f"(high)
        : "r"(reinterpret_cast<const uint32_t &>(pair)));
}

GPU_FUNCTION void gpu_unpack(const __nv_bfloat162 &pair, float &low, float &high)
{
    uint32_t bits = reinterpret_cast<const uint32_t &>(pair);
    low = __uint_as_float(bits << 16);
    high = __uint_as_float(bits & 0xffff0000u);
}

GPU_FUNCTION void gpu_pack(float low, float high, __half2 &pair)
{
    pair = __floats2half2_rn(low, high);
}

GPU_FUNCTION void gpu_pack(float low, float high, __nv_bfloat162 &pair)
{
    pair = __floats2bfloat162_rn(low, high);
}

typedef uint32_t gpu_shared;

GPU_FUNCTION gpu_shared gpu_shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

GPU_FUNCTION void gpu_load_shared(uint16_t (&word)[1], gpu_shared at)
{
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(word[0]) : "r"(at));
}

GPU_FUNCTION void gpu_load_shared(uint32_t (&word)[1], gpu_shared at)
{
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word[0]) : "r"(at));
}

GPU_FUNCTION void gpu_load_shared(uint32_t (&word)[2], gpu_shared at)
{
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(at));
}

GPU_FUNCTION void gpu_load_shared(uint32_t (&word)[4], gpu_shared at)
{
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(at));
}

GPU_FUNCTION void gpu_load_shared(float (&word)[4], gpu_shared at)
{
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(word[0]), "=f"(word[1]), "=f"(word[2]), "=f"(word[3])
                 : "r"(at));
}

#define GPU_LDMATRIX(suffix, trans)                                                                \
    GPU_FUNCTION void gpu_ldmatrix_x1##suffix(uint32_t r[1], const void *row)                      \
    {                                                                                              \
        asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%0}, [%1];"               \
                     : "=r"(r[0])                                                                  \
                     : "r"(gpu_shared_address(row))                                                \
                     : "memory");                                                                  \
    }                                                                                              \
    GPU_FUNCTION void gpu_ldmatrix_x2##suffix(uint32_t r[2], const void *row)                      \
    {                                                                                              \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0,%1}, [%2];"            \
                     : "=r"(r[0]), "=r"(r[1])                                                      \
                     : "r"(gpu_shared_address(row))                                                \
                     : "memory");                                                                  \
    }                                                                                              \
    GPU_FUNCTION void gpu_ldmatrix_x4##suffix(uint32_t r[4], const void *row)                      \
    {                                                                                              \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0,%1,%2,%3}, [%4];"      \
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                              \
                     : "r"(gpu_shared_address(row))                                                \
                     : "memory");                                                                  \
    }
GPU_LDMATRIX(, "")
GPU_LDMATRIX(_trans, ".trans")

template <int BYTES>
GPU_FUNCTION void gpu_cp_async(void *dst, const void *src, int src_bytes = BYTES)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
#if GPU_BELOW_SM80
    struct __align__(BYTES) chunk
    {
        unsigned char byte[BYTES];
    }
    value = {};
    if (src_bytes == BYTES)
        value = *(const chunk *)src;
    else
        for (int i = 0; i < BYTES; i++)
            if (i < src_bytes)
                value.byte[i] = ((const unsigned char *)src)[i];
    *(chunk *)dst = value;
#else
    /* Only the 16-byte form can bypass L1. */
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(gpu_shared_address(dst)),
                     "l"(__cvta_generic_to_global(src)), "r"(src_bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(gpu_shared_address(dst)),
                     "l"(__cvta_generic_to_global(src)), "n"(BYTES), "r"(src_bytes)
                     : "memory");
#endif
}

template <class T>
GPU_FUNCTION T gpu_shared_value(gpu_shared at)
{
    return *static_cast<const T *>(__cvta_shared_to_generic(at));
}

template <class T>
GPU_FUNCTION void gpu_store_shared(gpu_shared at, T value)
{
    *static_cast<T *>(__cvta_shared_to_generic(at)) = value;
}

template <int BYTES>
GPU_FUNCTION void gpu_copy_shared(gpu_shared at, const void *from)
{
#if GPU_BELOW_SM80
    gpu_cp_async<BYTES>(__cvta_shared_to_generic(at), from);
#else
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at),
                     "l"(__cvta_generic_to_global(from))
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at),
                     "l"(__cvta_generic_to_global(from)), "n"(BYTES)
                     : "memory");
#endif
}

GPU_FUNCTION void gpu_cp_async_commit()
{
#if !GPU_BELOW_SM80
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int OPEN>
GPU_FUNCTION void gpu_cp_async_wait()
{
#if !GPU_BELOW_SM80
    asm volatile("cp.async.wait_group %0;" ::"n"(OPEN) : "memory");
#endif
}

#endif
#endif
