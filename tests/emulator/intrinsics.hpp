// CUDA's qualifiers and plain functions.
#ifndef GDNN_EMULATOR_INTRINSICS_HPP
#define GDNN_EMULATOR_INTRINSICS_HPP

#include "half.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <math.h> // C++'s: overloads of fma, sqrt, ... in the global namespace, as in CUDA

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __constant__ static const
#define __grid_constant__
#define GPU_UNROLL
#define GPU_NO_UNROLL

static inline unsigned __float_as_uint(float a)
{
    return emu::bit_cast<unsigned>(a);
}
static inline float __uint_as_float(unsigned a)
{
    return emu::bit_cast<float>(a);
}
static inline int __float_as_int(float a)
{
    return emu::bit_cast<int>(a);
}
static inline float __int_as_float(int a)
{
    return emu::bit_cast<float>(a);
}
static inline long long __double_as_longlong(double a)
{
    return emu::bit_cast<long long>(a);
}
static inline double __longlong_as_double(long long a)
{
    return emu::bit_cast<double>(a);
}
// No time passes while a kernel runs here.
static inline long long clock64()
{
    return 0;
}
static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}
static inline float __fmul_rn(float a, float b)
{
    return a * b;
}
static inline float __fadd_rn(float a, float b)
{
    return a + b;
}
static inline float __fdividef(float a, float b)
{
    return a / b;
}
static inline float rsqrtf(float a)
{
    return 1.0f / sqrtf(a);
}
static inline float __saturatef(float a)
{
    return a > 0 ? (a < 1 ? a : 1) : 0;
}

static inline int __popc(unsigned a)
{
    return __builtin_popcount(a);
}
static inline int __popcll(unsigned long long a)
{
    return __builtin_popcountll(a);
}
static inline int __clz(int a)
{
    return a ? __builtin_clz((unsigned)a) : 32;
}
static inline int __clzll(long long a)
{
    return a ? __builtin_clzll((unsigned long long)a) : 64;
}
static inline int __ffs(int a)
{
    return __builtin_ffs(a);
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline int __mulhi(int a, int b)
{
    return (int)((int64_t)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 wide;
    return (unsigned long long)((wide)a * b >> 64);
}
static inline long long __mul64hi(long long a, long long b)
{
    __extension__ typedef __int128 wide;
    return (long long)((wide)a * b >> 64);
}
// PTX prmt in its plain mode: each nibble of the selector picks one of the 8 bytes of b:a.
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) << (shift & 31) >> 32);
}
static inline void gpu_keep(int &)
{
}
static inline size_t __cvta_generic_to_shared(const void *pointer)
{
    return (size_t)pointer;
}
template <class T>
static inline T min(T a, T b)
{
    return b < a ? b : a;
}
template <class T>
static inline T max(T a, T b)
{
    return a < b ? b : a;
}

#endif
