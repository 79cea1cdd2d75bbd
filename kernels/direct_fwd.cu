/* Forward convolution, directly from the definition: right for every problem, fast for none in
 * particular.
 *
 * One thread computes one element of y. Consecutive threads take elements that are neighbours in
 * memory: along the fastest spatial axis (nchw) or along the channels (nhwc); the variant is a
 * preference, strides are free. Each axis first finds the taps that meet x, so the loops hold no
 * bounds test and no tap in the padding is ever multiplied. All sizes and offsets are 64-bit; the
 * grid is one-dimensional, whatever N and G are. */
#include "conv.h"

/* Taps first to first + count - 1 of one axis meet x; the first of them at coordinate `in`. */
struct FwdTaps {
    int64_t first, in;
    int count;
};

static __device__ __forceinline__ FwdTaps fwd_taps(const gdnn_axis &axis, int64_t out)
{
    int64_t start = out * axis.stride.value - axis.pad; /* where tap 0 falls */
    int64_t first = start >= 0 ? 0 : divide_ceil(-start, axis.dilation);
    int64_t end = divide_floor(axis.in - 1 - start, axis.dilation) + 1;
    if (end > axis.filter_div.value)
        end = axis.filter_div.value;
    if (end < first)
        end = first;
    return {first, start + first * axis.dilation.value, (int)(end - first)};
}

template <class T, bool CHANNELS_LAST>
static __device__ __forceinline__ void direct_fwd(const T *__restrict__ x, const T *__restrict__ w,
                                                  T *y, const T *z, const T *bias,
                                                  const gdnn_args &a)
{
    address_absent<T>(z, bias, y, a);
    typedef typename Sum<T>::type A;
    int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (CHANNELS_LAST)
        k = peel(index, a.k_div);
    int64_t out2 = peel(index, a.axis[2].out_div);
    int64_t out1 = peel(index, a.axis[1].out_div);
    int64_t out0 = peel(index, a.axis[0].out_div);
    if (!CHANNELS_LAST)
        k = peel(index, a.k_div);
    int64_t n = index;
    if (n >= a.n)
        return;

    FwdTaps t0 = fwd_taps(a.axis[0], out0), t1 = fwd_taps(a.axis[1], out1),
            t2 = fwd_taps(a.axis[2], out2);
    int64_t group = divide(k, a.kpg);
    int cpg = (int)a.cpg.value;
    int64_t x_step0 = a.axis[0].dilation.value * a.axis[0].x_stride;
    int64_t x_step1 = a.axis[1].dilation.value * a.axis[1].x_stride;
    int64_t x_step2 = a.axis[2].dilation.value * a.axis[2].x_stride;
    const T *xc = x + n * a.x_stride_n + group * a.cpg.value * a.x_stride_c +
                  t0.in * a.axis[0].x_stride + t1.in * a.axis[1].x_stride +
                  t2.in * a.axis[2].x_stride;
    const T *wc = w + a.w_offset + k * a.w_stride_k + t0.first * a.axis[0].w_stride +
                  t1.first * a.axis[1].w_stride + t2.first * a.axis[2].w_stride;

    A sum = 0;
    GPU_NO_UNROLL
    for (int left = cpg; left > 0; left -= a.chain) {
        A chain = 0;
        int links = left < a.chain ? left : a.chain;
        GPU_NO_UNROLL
        for (int c = 0; c < links; c++, xc += a.x_stride_c, wc += a.w_stride_c) {
            const T *x0 = xc, *w0 = wc;
            GPU_NO_UNROLL
            for (int i = 0; i < t0.count; i++, x0 += x_step0, w0 += a.axis[0].w_stride) {
                const T *x1 = x0, *w1 = w0;
                GPU_NO_UNROLL
                for (int j = 0; j < t1.count; j++, x1 += x_step1, w1 += a.axis[1].w_stride) {
                    const T *x2 = x1, *w2 = w1;
                    for (int l = 0; l < t2.count;) {
                        A row = 0;
                        int end = row_end(l, t2.count);
                        for (; l < end; l++, x2 += x_step2, w2 += a.axis[2].w_stride)
                            row = fused(A(load(x2)), A(load(w2)), row);
                        chain += row;
                    }
                }
            }
        }
        sum += chain;
    }

    int64_t z_at = n * a.z_stride_n + k * a.z_stride_k + out0 * a.axis[0].z_stride +
                   out1 * a.axis[1].z_stride + out2 * a.axis[2].z_stride;
    T *out = y + n * a.y_stride_n + k * a.y_stride_k + out0 * a.axis[0].y_stride +
             out1 * a.axis[1].y_stride + out2 * a.axis[2].y_stride;
    store(out, forward_end(sum, z + z_at, out, bias + k, a));
}

#define INSTANCE(layout, channels_last, dtype, T)                                                  \
    extern "C" __global__ void __launch_bounds__(256, 4) gdnn_direct_fwd_##layout##_##dtype(       \
        const T *x, const T *w, T *y, const T *z, const T *bias, void *, gdnn_args a)              \
    {                                                                                              \
        direct_fwd<T, channels_last>(x, w, y, z, bias, a);                                         \
    }                                                                                              \
    GPU_KERNEL(gdnn_direct_fwd_##layout##_##dtype)
#include "instances.h"
