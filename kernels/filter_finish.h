/* The second launch of backward-filter: adds the parts of every sum, [split][weights] in the workspace, in an order that
 * is always the same, and writes dw in its type.
 *
 * A block has WEIGHTS weights and SLICES threads for each, which add every SLICES-th part. */
#ifndef GDNN_FILTER_FINISH_H
#define GDNN_FILTER_FINISH_H

#include "conv.h"
#include "filter_finish_host.h"

template <class T>
static __device__ __forceinline__ void filter_finish(T *dw, const float *__restrict__ partial,
                                                     const gdnn_args &a)
{
    const int WEIGHTS = GDNN_FINISH_WEIGHTS, SLICES = GDNN_FINISH_SLICES;
    GPU_SHARED(float, slices, [SLICES][WEIGHTS]);
    int own = threadIdx.x % WEIGHTS, slice = threadIdx.x / WEIGHTS;
    int64_t weights = a.k * a.cpg.value * a.axis[1].filter_div.value * a.axis[2].filter_div.value;
    int64_t weight = (int64_t)blockIdx.x * WEIGHTS + own;
    float sum = 0;
    if (weight < weights)
        for (int part = slice; part < a.tiling.split; part += SLICES)
            sum += partial[part * weights + weight];
    slices[slice][own] = sum;
    __syncthreads();
    if (slice || weight >= weights)
        return;
    for (int i = 1; i < SLICES; i++)
        sum += slices[i][own];
    finish(dw + weight, sum, a);
}

/* The instance of a file. */
#define FINISH_KERNEL(name, layout, dtype, T)                                                      \
    extern "C" __global__ void __launch_bounds__(GDNN_FINISH_WEIGHTS *GDNN_FINISH_SLICES)          \
        gdnn_##name##_finish_##layout##_##dtype(const T *, T *dw, const T *, const T *, const T *, \
                                                void *workspace, gdnn_args a)                      \
    {                                                                                              \
        filter_finish(dw, static_cast<const float *>(workspace), a);                               \
    }                                                                                              \
    GPU_KERNEL(gdnn_##name##_finish_##layout##_##dtype)

#endif
