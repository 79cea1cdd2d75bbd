/* Depthwise backward-data of any filter, stride, dilation, padding and channel multiplier, channels last.
 *
 * As dw_general.h, from dy to dx: a thread computes VECTOR neighbouring channels of one element of dx at a time. Along each
 * axis the taps that reach it are every tap_step-th, while their dy falls by out_step (conv_args.h): both are found first,
 * and the loops are those of the forward kernel with other steps. */
#ifndef GDNN_DW_GENERAL_DATA_H
#define GDNN_DW_GENERAL_DATA_H

#include "dw_general.h"

/* Those taps that are among the `count` from `first` on. */
static __device__ __forceinline__ DataTaps clip_taps(DataTaps taps, const gdnn_axis &axis,
                                                     int first, int count)
{
    int64_t skip = divide_ceil(max(first - (int)taps.first, 0), axis.tap_step);
    int64_t end = divide_ceil(max(first + count - (int)taps.first, 0), axis.tap_step);
    skip = skip < taps.count ? skip : taps.count;
    end = end < taps.count ? end : taps.count;
    return {taps.first + skip * axis.tap_step.value, taps.out - skip * axis.out_step,
            max((int)(end - skip), 0)};
}

/* add_rows for channels that are `apart` from each other in dy; there are `channels`. */
template <class T, int VECTOR>
static __device__ __forceinline__ void add_rows_apart(TapRows<T> m, int columns, int apart,
                                                      int channels, const gdnn_tiling &t,
                                                      float (&sum)[VECTOR])
{
    GPU_NO_UNROLL
    for (; m.rows > 0; m.rows--, m.from += t.x_row, m.filter += (uint32_t)t.slot_bytes) {
        const T *from = m.from;
        gpu_shared at = m.filter;
        GPU_NO_UNROLL
        for (int left = columns; left > 0;
             left--, from += t.x_column, at += (uint32_t)t.tile_bytes) {
            float dy[VECTOR], factor[VECTOR];
            const T *of = from;
            GPU_UNROLL
            for (int v = 0; v < VECTOR; v++) {
                dy[v] = load(of);
                of += v + 1 < channels ? apart : 0;
            }
            load_factors(at, (uint32_t)t.lanes * 16, factor);
            add_products(factor, dy, sum);
        }
    }
}

template <class T, bool PLAIN>
static __device__ __forceinline__ void dw_general_data(T *dx, const T *__restrict__ w,
                                                       const T *__restrict__ dy, const gdnn_args &a)
{
    GPU_DYN_SHARED(float, filters);
    const int VECTOR = 16 / (int)sizeof(T);
    const gdnn_tiling &t = a.tiling;
    const gdnn_axis &h = a.axis[1], &s = a.axis[2];
    int64_t block = blockIdx.x;
    int tile_first = (int)peel(block, t.channel_tiles) * t.tile, kpg = (int)a.kpg.value;
    int slot = small_divide(threadIdx.x, t.lanes_inverse), lane = threadIdx.x - slot * t.lanes;
    int slots = small_divide(blockDim.x, t.lanes_inverse);
    int channel = tile_first + lane * VECTOR, channels = min((int)a.c - channel, VECTOR);
    bool wide = kpg == 1 && channels == VECTOR &&
                ((uintptr_t)dx | (uintptr_t)dy | (uint64_t)a.c * sizeof(T)) % 16 == 0;
    int64_t w_channel = a.w_stride_k * kpg;
    w += tile_first * w_channel;
    gpu_shared own = gpu_shared_address(filters + lane * 4);
    int64_t item = block * t.rows * slots + slot;

    if (t.one_chunk) {
        load_chunk(filters, w, w_channel, (int)a.c - tile_first, 0, 0, a);
        __syncthreads();
    }
    GPU_NO_UNROLL
    for (int step = 0; step < t.rows; step++, item += slots) {
        int64_t n = item;
        int column = (int)peel(n, t.columns), row = (int)peel(n, h.in_div);
        DataTaps all_h = data_taps(h, row), all_w = data_taps(s, column);
        bool present = n < a.n && channels > 0;
        const T *image = dy + n * h.out * s.out * a.k + (int64_t)channel * kpg;
        float total[VECTOR] = {};

        GPU_NO_UNROLL
        for (int of = 0, r = 0, c = 0; of < kpg;) {
            DataTaps taps_h = all_h, taps_w = all_w;
            if (!t.one_chunk) {
                __syncthreads();
                load_chunk(filters, w + of * a.w_stride_k, w_channel, (int)a.c - tile_first, r, c,
                           a);
                __syncthreads();
                taps_h = clip_taps(taps_h, h, r, t.chunk_rows);
                taps_w = clip_taps(taps_w, s, c, t.chunk_columns);
            }
            TapRows<T> m;
            m.places = 0;
            m.rows = present ? taps_h.count : 0;
            m.from = image + (taps_h.out * s.out + taps_w.out) * a.k + of;
            int tap = (int)(taps_h.first - r) * t.chunk_columns + (int)(taps_w.first - c);
            m.filter = own + (uint32_t)(tap * t.tile * 4);
            float sum[VECTOR] = {};
            if (wide)
                add_rows<T, true>(m, taps_w.count, t, sum);
            else
                add_rows_apart(m, taps_w.count, kpg, channels, t, sum);
            GPU_UNROLL
            for (int v = 0; v < VECTOR; v++)
                total[v] += sum[v];
            /* the next chunk */
            if ((c += t.chunk_columns) < (int)s.filter_div.value)
                continue;
            c = 0;
            if ((r += t.chunk_rows) < (int)h.filter_div.value)
                continue;
            r = 0;
            of++;
        }

        if (!present)
            continue;
        T *to = dx + ((n * h.in + row) * s.in + column) * a.c + channel;
        if (PLAIN && wide) {
            store_values<T, VECTOR>(to, total);
            continue;
        }
        GPU_UNROLL
        for (int v = 0; v < VECTOR; v++) {
            if (v >= channels)
                continue;
            if (PLAIN)
                store(to + v, total[v]);
            else
                finish(to + v, total[v], a);
        }
    }
}

#endif
