/* Contiguous runs of elements between global and shared memory, whatever their alignment: both sides have the same offset
 * in a sector of 32 bytes, so that all but the ends moves in 16 bytes, and neighbouring threads move whole sectors. */
#ifndef GDNN_DW_PLANE_COPY_H
#define GDNN_DW_PLANE_COPY_H

#include "depthwise.h"

enum { SECTOR = 32 };

/* Bytes of `at` into its sector. */
template <class T>
static __device__ __forceinline__ int sector_offset(const T *at)
{
    return (int)((uintptr_t)at % SECTOR);
}

/* Elements at the byte offsets begin to end - 1 of both, one by one, by `threads` threads of which this is one. */
template <class T>
static __device__ __forceinline__ void bring_elements(gpu_shared to, const char *from, int begin,
                                                      int end, int thread, int threads)
{
    GPU_NO_UNROLL
    for (int i = begin + thread * (int)sizeof(T); i < end; i += threads * (int)sizeof(T))
        gpu_store_shared(to + i, *reinterpret_cast<const T *>(from + i));
}

/* Starts the copy of `bytes` bytes from `run` to as far behind `to`, a multiple of 32, as they are in their sector.
 * WHOLE: the 16 bytes around every element belong to the tensor, so the ends are copied with what is beside them. */
template <class T>
static __device__ __forceinline__ void bring_run(gpu_shared to, const T *run, int bytes, int thread,
                                                 int threads, bool whole)
{
    int before = sector_offset(run), end = before + bytes, first = 0, last = (end + 15) & ~15;
    const char *from = reinterpret_cast<const char *>(run) - before;
    if (!whole) {
        first = min((before + 15) & ~15, end);
        last = max(end & ~15, first);
        bring_elements<T>(to, from, before, first, thread, threads);
        bring_elements<T>(to, from, last, end, thread, threads);
    }
    first += thread * 16;
    from += first;
    to += first;
    int step = threads * 16, left = last - first;
    GPU_NO_UNROLL
    for (; left > 3 * step; left -= 4 * step)
        GPU_UNROLL
    for (int i = 0; i < 4; i++, from += step, to += step)
        gpu_copy_shared<16>(to, from);
    GPU_NO_UNROLL
    for (; left > 0; left -= step, from += step, to += step)
        gpu_copy_shared<16>(to, from);
}

template <class T>
static __device__ __forceinline__ void store_elements(char *to, gpu_shared from, int begin, int end,
                                                      int thread, int threads)
{
    GPU_NO_UNROLL
    for (int i = begin + thread * (int)sizeof(T); i < end; i += threads * (int)sizeof(T))
        *reinterpret_cast<T *>(to + i) = gpu_shared_value<T>(from + i);
}

static __device__ __forceinline__ void store_chunk(char *to, gpu_shared from)
{
    *reinterpret_cast<uint4 *>(to) = gpu_shared_value<uint4>(from);
}

/* Stores `bytes` bytes to `run` from as far behind `from`, a multiple of 32. */
template <class T>
static __device__ __forceinline__ void store_run(T *run, gpu_shared from, int bytes, int thread,
                                                 int threads)
{
    int before = sector_offset(run), end = before + bytes;
    int first = min((before + SECTOR - 1) & -SECTOR, end), last = max(end & ~15, first);
    char *to = reinterpret_cast<char *>(run) - before;
    if (first > before)
        store_elements<T>(to, from, before, first, thread, threads);
    if (end > last)
        store_elements<T>(to, from, last, end, thread, threads);
    first += thread * 16;
    to += first;
    from += first;
    int step = threads * 16, left = last - first;
    GPU_NO_UNROLL
    for (; left > 3 * step; left -= 4 * step)
        GPU_UNROLL
    for (int i = 0; i < 4; i++, to += step, from += step)
        store_chunk(to, from);
    GPU_NO_UNROLL
    for (; left > 0; left -= step, to += step, from += step)
        store_chunk(to, from);
}

#endif
