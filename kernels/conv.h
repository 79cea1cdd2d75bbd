/* What all convolution kernels share: element types, division by launch constants, the epilogue. */
#ifndef GDNN_CONV_H
#define GDNN_CONV_H

#include "conv_args.h"
#include "gpu.h"

/* Sums: float for everything but double. load and store are the only places where elements change
 * type. */
template <class T>
struct Sum {
    typedef float type;
};
template <>
struct Sum<double> {
    typedef double type;
};

static __device__ __forceinline__ float load(const __half *p)
{
    return __half2float(*p);
}
static __device__ __forceinline__ float load(const __nv_bfloat16 *p)
{
    return __bfloat162float(*p);
}
static __device__ __forceinline__ float load(const float *p)
{
    return *p;
}
static __device__ __forceinline__ double load(const double *p)
{
    return *p;
}
static __device__ __forceinline__ void store(__half *p, float v)
{
    *p = __float2half_rn(v);
}
static __device__ __forceinline__ void store(__nv_bfloat16 *p, float v)
{
    *p = __float2bfloat16_rn(v);
}
static __device__ __forceinline__ void store(float *p, float v)
{
    *p = v;
}
static __device__ __forceinline__ void store(double *p, double v)
{
    *p = v;
}

static __device__ __forceinline__ float fused(float a, float b, float c)
{
    return fmaf(a, b, c);
}
static __device__ __forceinline__ double fused(double a, double b, double c)
{
    return fma(a, b, c);
}

template <class A>
static __device__ __forceinline__ A value_of(const gdnn_scale &s);
template <>
__device__ __forceinline__ float value_of<float>(const gdnn_scale &s)
{
    return s.f32;
}
template <>
__device__ __forceinline__ double value_of<double>(const gdnn_scale &s)
{
    return s.f64;
}

/* n / d for 0 <= n < 2^63. */
static __device__ __forceinline__ int64_t divide(int64_t n, const gdnn_divisor &d)
{
    uint64_t u = (uint64_t)n;
    return (int64_t)((__umul64hi(u, d.magic) + u) >> d.shift);
}

/* n / d, and n becomes n % d: the coordinate that varies slowest, and the rest. */
static __device__ __forceinline__ int64_t split(int64_t &n, const gdnn_divisor &d)
{
    int64_t q = divide(n, d);
    n -= q * d.value;
    return q;
}

/* n / d and n % d the other way round: returns the remainder, n becomes the quotient. */
static __device__ __forceinline__ int64_t peel(int64_t &n, const gdnn_divisor &d)
{
    int64_t q = divide(n, d), r = n - q * d.value;
    n = q;
    return r;
}

/* n / d for small numbers, from gdnn_small_inverse(d). */
static __device__ __forceinline__ int small_divide(int n, int inverse)
{
    return (int)((uint32_t)n * (uint32_t)inverse >> 20);
}

/* Rounds down; n may be negative. */
static __device__ __forceinline__ int64_t divide_floor(int64_t n, const gdnn_divisor &d)
{
    return n >= 0 ? divide(n, d) : -1 - divide(-1 - n, d);
}
static __device__ __forceinline__ int64_t divide_ceil(int64_t n, const gdnn_divisor &d)
{
    return -divide_floor(-n, d);
}

/* n / d rounded up, for a d known to the compiler; 0 <= n. */
static __device__ __forceinline__ int64_t divide_up(int64_t n, int d)
{
    return (n + d - 1) / d;
}

/* Sums have three levels, so that rounding errors do not grow with their length: up to ROW products of one row of the
 * filter, the rows of gdnn_args.chain channels, and all of it. Ends the row that begins at `first` of `count` taps. */
static __device__ __forceinline__ int row_end(int first, int count)
{
    const int ROW = 256;
    return count - first < ROW ? count : first + ROW;
}

/* What follows the sum in a forward convolution. z, prior and bias are the elements for this output; each is read only
 * where the problem has it. */
template <class T, class A>
static __device__ __forceinline__ A forward_end(A sum, const T *z, const T *prior, const T *bias,
                                                const gdnn_args &a)
{
    sum *= value_of<A>(a.alpha);
    if (a.has_z)
        sum = fused(value_of<A>(a.alpha2), A(load(z)), sum);
    if (a.beta.nonzero)
        sum = fused(value_of<A>(a.beta), A(load(prior)), sum);
    if (a.has_bias)
        sum += A(load(bias));
    if (a.relu && sum < 0) /* a NaN stays */
        sum = 0;
    return sum;
}

/* What a problem does not have gets a valid address, since offsets of a null pointer are undefined; it is not read. */
template <class T>
static __device__ __forceinline__ void address_absent(const T *&z, const T *&bias, const T *y,
                                                      const gdnn_args &a)
{
    if (!a.has_z)
        z = y;
    if (!a.has_bias)
        bias = y;
}

/* alpha * sum + beta * prior, the end of every gradient. */
template <class T, class A>
static __device__ __forceinline__ void finish(T *out, A sum, const gdnn_args &a)
{
    sum *= value_of<A>(a.alpha);
    if (a.beta.nonzero)
        sum = fused(value_of<A>(a.beta), load(out), sum);
    store(out, sum);
}

#endif
