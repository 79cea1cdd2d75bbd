/* Backward-data convolution, directly from the definition: right for every problem, fast for none
 * in particular.
 *
 * One thread computes one element of dx; consecutive threads take neighbours in memory (see
 * direct_fwd.cu). Input i gets its part from tap t of output p where p * stride = i + pad - t *
 * dilation. Along each axis such taps are an arithmetic progression, and the outputs fall along it
 * by a fixed step (conv_args.h): the loops hold no bounds test, no division and no test of
 * divisibility. */
#include "taps.h"

template <class T, bool CHANNELS_LAST>
static __device__ __forceinline__ void direct_bwd_data(T *dx, const T *__restrict__ w,
                                                       const T *__restrict__ dy, const gdnn_args &a)
{
    typedef typename Sum<T>::type A;
    int64_t index = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, c = 0;
    if (CHANNELS_LAST)
        c = peel(index, a.c_div);
    int64_t in2 = peel(index, a.axis[2].in_div);
    int64_t in1 = peel(index, a.axis[1].in_div);
    int64_t in0 = peel(index, a.axis[0].in_div);
    if (!CHANNELS_LAST)
        c = peel(index, a.c_div);
    int64_t n = index;
    if (n >= a.n)
        return;

    DataTaps t0 = data_taps(a.axis[0], in0), t1 = data_taps(a.axis[1], in1),
             t2 = data_taps(a.axis[2], in2);
    int64_t in_group = c, group = split(in_group, a.cpg);
    int kpg = (int)a.kpg.value;
    int64_t y_step0 = a.axis[0].out_step * a.axis[0].y_stride,
            w_step0 = a.axis[0].tap_step.value * a.axis[0].w_stride;
    int64_t y_step1 = a.axis[1].out_step * a.axis[1].y_stride,
            w_step1 = a.axis[1].tap_step.value * a.axis[1].w_stride;
    int64_t y_step2 = a.axis[2].out_step * a.axis[2].y_stride,
            w_step2 = a.axis[2].tap_step.value * a.axis[2].w_stride;
    int64_t k = group * a.kpg.value;
    const T *yk = dy + n * a.y_stride_n + k * a.y_stride_k + t0.out * a.axis[0].y_stride +
                  t1.out * a.axis[1].y_stride + t2.out * a.axis[2].y_stride;
    const T *wk = w + a.w_offset + k * a.w_stride_k + in_group * a.w_stride_c +
                  t0.first * a.axis[0].w_stride + t1.first * a.axis[1].w_stride +
                  t2.first * a.axis[2].w_stride;

    T *out = dx + n * a.x_stride_n + c * a.x_stride_c + in0 * a.axis[0].x_stride +
             in1 * a.axis[1].x_stride + in2 * a.axis[2].x_stride;

    A sum = 0;
    GPU_NO_UNROLL
    for (int left = kpg; left > 0; left -= a.chain) {
        A chain = 0;
        int links = left < a.chain ? left : a.chain;
        GPU_NO_UNROLL
        for (int m = 0; m < links; m++, yk += a.y_stride_k, wk += a.w_stride_k) {
            const T *y0 = yk, *w0 = wk;
            GPU_NO_UNROLL
            for (int i = 0; i < t0.count; i++, y0 -= y_step0, w0 += w_step0) {
                const T *y1 = y0, *w1 = w0;
                GPU_NO_UNROLL
                for (int j = 0; j < t1.count; j++, y1 -= y_step1, w1 += w_step1) {
                    const T *y2 = y1, *w2 = w1;
                    for (int l = 0; l < t2.count;) {
                        A row = 0;
                        int end = row_end(l, t2.count);
                        for (; l < end; l++, y2 -= y_step2, w2 += w_step2)
                            row = fused(A(load(y2)), A(load(w2)), row);
                        chain += row;
                    }
                }
            }
        }
        sum += chain;
    }
    finish(out, sum, a);
}

#define INSTANCE(layout, channels_last, dtype, T)                                                  \
    extern "C" __global__ void __launch_bounds__(256, 4) gdnn_direct_bwd_data_##layout##_##dtype(  \
        T *dx, const T *w, const T *dy, const T *, const T *, void *, gdnn_args a)                 \
    {                                                                                              \
        direct_bwd_data<T, channels_last>(dx, w, dy, a);                                           \
    }                                                                                              \
    GPU_KERNEL(gdnn_direct_bwd_data_##layout##_##dtype)
#include "instances.h"
