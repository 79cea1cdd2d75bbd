/* Backward-filter convolution, directly from the definition: right for every problem, fast for none
 * in particular.
 *
 * A block computes one tap of WEIGHTS consecutive (k, c) pairs: 1 pair with 256 threads over the
 * pixels (nchw: lanes read along the fastest spatial axis) or 32 pairs with 8 threads each (nhwc:
 * lanes read along the channels). For one tap the outputs that meet x form a box, the same for the
 * whole block; a thread walks its share of N boxes in steps of the thread count by adding with
 * carry, so the loop has no division, no bounds test and no tap in the padding.
 *
 * Long sums: products are added in chains of CHAIN, chains in double, threads in a fixed order. So
 * the error does not grow with N * P * Q, and the order never depends on the device. */
#include "conv.h"

enum { THREADS = 256, CHAIN = 256 };

/* Along one axis, with tap t: outputs first to first + count - 1 meet x, the first at coordinate
 * `in`. */
struct FilterSpan {
    int64_t first, count, in;
};

static __device__ __forceinline__ FilterSpan filter_span(const gdnn_axis &axis, int64_t tap)
{
    int64_t start = tap * axis.dilation.value - axis.pad; /* where output 0 reads */
    int64_t first = start >= 0 ? 0 : divide_ceil(-start, axis.stride);
    int64_t end = divide_floor(axis.in - 1 - start, axis.stride) + 1;
    if (end > axis.out)
        end = axis.out;
    if (end < first)
        end = first;
    return {first, end - first, start + first * axis.stride.value};
}

/* One digit of the walk: its radix, its position, how far it moves each step, and what a carry out
 * of it does to the offsets into x and dy. */
struct Digit {
    int64_t radix, at, step, x_carry, y_carry;
};

template <class T, int WEIGHTS>
static __device__ __forceinline__ void
direct_bwd_filter(const T *__restrict__ x, T *dw, const T *__restrict__ dy, const gdnn_args &a)
{
    typedef typename Sum<T>::type A;
    const int PIXELS = THREADS / WEIGHTS;
    GPU_SHARED(double, partial, [THREADS]);
    int lane = threadIdx.x % WEIGHTS, thread = threadIdx.x / WEIGHTS;

    int64_t block = blockIdx.x;
    int64_t tap2 = peel(block, a.axis[2].filter_div);
    int64_t tap1 = peel(block, a.axis[1].filter_div);
    int64_t tap0 = peel(block, a.axis[0].filter_div);
    int64_t c = block * WEIGHTS + lane, k = split(c, a.cpg);
    bool inside = k < a.k;

    FilterSpan s0 = filter_span(a.axis[0], tap0), s1 = filter_span(a.axis[1], tap1),
               s2 = filter_span(a.axis[2], tap2);
    int64_t total = inside ? a.n * s0.count * s1.count * s2.count : 0;
    double sum = 0;
    if (thread < total) {
        int64_t x_step2 = a.axis[2].stride.value * a.axis[2].x_stride, y_step2 = a.axis[2].y_stride;
        int64_t x_step1 = a.axis[1].stride.value * a.axis[1].x_stride, y_step1 = a.axis[1].y_stride;
        int64_t x_step0 = a.axis[0].stride.value * a.axis[0].x_stride, y_step0 = a.axis[0].y_stride;

        int64_t at = thread, step = PIXELS;
        Digit d2 = {s2.count, at % s2.count, step % s2.count, x_step1 - s2.count * x_step2,
                    y_step1 - s2.count * y_step2};
        at /= s2.count, step /= s2.count;
        Digit d1 = {s1.count, at % s1.count, step % s1.count, x_step0 - s1.count * x_step1,
                    y_step0 - s1.count * y_step1};
        at /= s1.count, step /= s1.count;
        Digit d0 = {s0.count, at % s0.count, step % s0.count, a.x_stride_n - s0.count * x_step0,
                    a.y_stride_n - s0.count * y_step0};
        at /= s0.count, step /= s0.count;

        const T *xp = x + (divide(k, a.kpg) * a.cpg.value + c) * a.x_stride_c +
                      s0.in * a.axis[0].x_stride + s1.in * a.axis[1].x_stride +
                      s2.in * a.axis[2].x_stride + at * a.x_stride_n + d0.at * x_step0 +
                      d1.at * x_step1 + d2.at * x_step2;
        const T *yp = dy + k * a.y_stride_k + s0.first * y_step0 + s1.first * y_step1 +
                      s2.first * y_step2 + at * a.y_stride_n + d0.at * y_step0 + d1.at * y_step1 +
                      d2.at * y_step2;
        int64_t x_step =
            step * a.x_stride_n + d0.step * x_step0 + d1.step * x_step1 + d2.step * x_step2;
        int64_t y_step =
            step * a.y_stride_n + d0.step * y_step0 + d1.step * y_step1 + d2.step * y_step2;

        for (int64_t left = divide_up(total - thread, PIXELS); left > 0; left -= CHAIN) {
            int links = left < CHAIN ? (int)left : CHAIN;
            A chain = 0;
            for (int i = 0; i < links; i++) {
                chain = fused(A(load(xp)), A(load(yp)), chain);
                xp += x_step, yp += y_step;
                d2.at += d2.step, d1.at += d1.step, d0.at += d0.step;
                if (d2.at >= d2.radix)
                    d2.at -= d2.radix, d1.at++, xp += d2.x_carry, yp += d2.y_carry;
                if (d1.at >= d1.radix)
                    d1.at -= d1.radix, d0.at++, xp += d1.x_carry, yp += d1.y_carry;
                if (d0.at >= d0.radix)
                    d0.at -= d0.radix, xp += d0.x_carry, yp += d0.y_carry;
            }
            sum += chain;
        }
    }

    /* The first warp adds up: eight threads a lane, and where all lanes have one weight, the lanes. */
    partial[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    for (int i = 32; i < THREADS; i += 32)
        sum += partial[threadIdx.x + i];
    if (WEIGHTS == 1)
        for (int half = 16; half > 0; half /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, half);
    if (thread == 0 && inside)
        finish(dw + a.w_offset + k * a.w_stride_k + c * a.w_stride_c + tap0 * a.axis[0].w_stride +
                   tap1 * a.axis[1].w_stride + tap2 * a.axis[2].w_stride,
               A(sum), a);
}

#define INSTANCE(layout, channels_last, dtype, T)                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                          \
        gdnn_direct_bwd_filter_##layout##_##dtype(const T *x, T *dw, const T *dy, const T *,       \
                                                  const T *, void *, gdnn_args a)                  \
    {                                                                                              \
        direct_bwd_filter<T, channels_last ? 32 : 1>(x, dw, dy, a);                                \
    }                                                                                              \
    GPU_KERNEL(gdnn_direct_bwd_filter_##layout##_##dtype)
#include "instances.h"
