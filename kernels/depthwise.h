/* What the depthwise kernels share: copies into shared memory at any alignment, sub-grids of dilated problems, filters in
 * registers, and the exact way out where a filter holds an infinity or a NaN. */
#ifndef GDNN_DEPTHWISE_H
#define GDNN_DEPTHWISE_H

#include "values.h"

/* One axis of a convolution of stride 1 with dilation d is d convolutions without dilation: those outputs that are
 * `phase` modulo d meet only those inputs that are `first` modulo d. Other strides have dilation 1 and one phase. */
struct SubAxis {
    int in, out; /* sizes of the sub-grids */
    int pad;
    int first; /* input of the whole axis that is input 0 of the sub-grid */
};

static __device__ __forceinline__ SubAxis sub_axis(const gdnn_axis &axis, int phase)
{
    if (axis.dilation.value == 1)
        return {(int)axis.in, (int)axis.out, (int)axis.pad, 0};
    int d = (int)axis.dilation.value, base = phase - (int)axis.pad;
    int shift = (int)divide_floor(base, axis.dilation), first = base - shift * d;
    int in = (int)axis.in - first, out = (int)axis.out - phase;
    return {in > 0 ? (in + d - 1) / d : 0, out > 0 ? (out + d - 1) / d : 0, -shift, first};
}

/* Where the filter is stored backwards: mode conv has negative strides. */
template <int FILTER_W>
static __device__ __forceinline__ bool filter_is_flipped(const gdnn_args &a)
{
    return (FILTER_W > 1 ? a.axis[2].w_stride : a.axis[1].w_stride) < 0;
}

/* Copies `count` elements to `to` in shared memory (aligned to 16 bytes), by `threads` threads of which this is one, and
 * fills up to `room` elements with zeros. Complete after a commit, a wait and a barrier. */
template <class T>
static __device__ __forceinline__ void copy_run(T *to, const T *from, int count, int room,
                                                int thread, int threads)
{
    const int VECTOR = 16 / (int)sizeof(T);
    int vectors = (uintptr_t)from % 16 ? 0 : count / VECTOR;
    for (int i = thread; i < vectors; i += threads)
        gpu_cp_async<16>(to + i * VECTOR, from + i * VECTOR);
    for (int i = vectors * VECTOR + thread; i < room; i += threads)
        to[i] = i < count ? from[i] : T(0.0f);
}

/* Copies one chunk of a thread's columns of a row into a ring, from `to` to `to` + `span` bytes. */
template <int BYTES>
static __device__ __forceinline__ void copy_chunks(const char *from, gpu_shared to, int span,
                                                   const gdnn_tiling &t)
{
    GPU_NO_UNROLL
    for (gpu_shared end = to + span; to < end; to += t.copies_to, from += t.copies_from)
        gpu_copy_shared<BYTES>(to, from);
}

/* The same with chunks of `chunk` bytes, a size known at launch; false if it is none that can be copied. */
static __device__ __forceinline__ bool copy_chunks_of(int chunk, const char *from, gpu_shared to,
                                                      int span, const gdnn_tiling &t)
{
    if (chunk == 16)
        copy_chunks<16>(from, to, span, t);
    else if (chunk == 8)
        copy_chunks<8>(from, to, span, t);
    else if (chunk == 4)
        copy_chunks<4>(from, to, span, t);
    else
        return false;
    return true;
}

/* Copies every column, element by element: of `elements` of a column each thread of an image has every so many as there are
 * threads, from its number on. */
template <class T>
static __device__ __forceinline__ void copy_elements(const char *row, gpu_shared to, int span,
                                                     int elements, const gdnn_tiling &t)
{
    int group = t.lanes * t.strips;
    const T *from = reinterpret_cast<const T *>(row);
    elements -= (int)threadIdx.x % group;
    GPU_NO_UNROLL
    for (gpu_shared end = to + span; to < end; to += t.tile_bytes, from += t.x_column) {
        GPU_NO_UNROLL
        for (int i = 0; i < elements; i += group)
            gpu_store_shared(to + i * (int)sizeof(T), from[i]);
    }
}

/* The filters of V channels from a run of whole filters in shared memory, taps in the order of the convolution. */
template <class T, int TAPS, int V>
static __device__ __forceinline__ void load_filters(const T *run, bool flipped,
                                                    float (&filter)[TAPS][V])
{
    float raw[TAPS * V];
    /* A thread's part of the run begins at a multiple of V elements. */
    GPU_UNROLL
    for (int i = 0; i < TAPS; i++) {
        float part[V];
        load_values<T, V>(run + i * V, part);
        GPU_UNROLL
        for (int j = 0; j < V; j++)
            raw[i * V + j] = part[j];
    }
    GPU_UNROLL
    for (int tap = 0; tap < TAPS; tap++) {
        GPU_UNROLL
        for (int v = 0; v < V; v++)
            filter[tap][v] = raw[v * TAPS + tap];
    }
    if (flipped) {
        GPU_UNROLL
        for (int tap = 0; tap < TAPS / 2; tap++) {
            GPU_UNROLL
            for (int v = 0; v < V; v++) {
                float other = filter[tap][v];
                filter[tap][v] = filter[TAPS - 1 - tap][v];
                filter[TAPS - 1 - tap][v] = other;
            }
        }
    }
}

/* False if one is infinite or NaN. Padding is multiplied as zeros, which is exact for finite filters only. */
template <int TAPS, int V>
static __device__ __forceinline__ bool all_finite(const float (&filter)[TAPS][V])
{
    float zero = 0;
    GPU_UNROLL
    for (int tap = 0; tap < TAPS; tap++) {
        GPU_UNROLL
        for (int v = 0; v < V; v++)
            zero = fmaf(filter[tap][v], 0.0f, zero);
    }
    return zero == 0;
}

#endif
