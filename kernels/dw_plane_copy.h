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
    GPU_NO_UNROLL
    for (int i = first + thread * 16; i < last; i += threads * 16)
        gpu_copy_shared<16>(to + i, from + i);
}

template <class T>
static __device__ __forceinline__ void store_element(T *to, gpu_shared from)
{
    if constexpr (sizeof(T) == 2) {
        uint16_t word[1];
        gpu_load_shared(word, from);
        *to = reinterpret_cast<const T &>(word);
    } else {
        uint32_t word[1];
        gpu_load_shared(word, from);
        *to = reinterpret_cast<const T &>(word);
    }
}

/* Stores `bytes` bytes to `run` from as far behind `from`, a multiple of 32. */
template <class T>
static __device__ __forceinline__ void store_run(T *run, gpu_shared from, int bytes, int thread,
                                                 int threads)
{
    int before = sector_offset(run), end = before + bytes;
    int first = min((before + SECTOR - 1) & -SECTOR, end), last = max(end & ~15, first);
    char *to = reinterpret_cast<char *>(run) - before;
    GPU_NO_UNROLL
    for (int i = first + thread * 16; i < last; i += threads * 16) {
        uint32_t word[4];
        gpu_load_shared(word, from + i);
        *reinterpret_cast<uint4 *>(to + i) = make_uint4(word[0], word[1], word[2], word[3]);
    }
    GPU_UNROLL
    for (int part = 0; part < 2; part++) {
        int begin = part ? last : before, stop = part ? end : first;
        GPU_NO_UNROLL
        for (int i = begin + thread * (int)sizeof(T); i < stop; i += threads * (int)sizeof(T))
            store_element(reinterpret_cast<T *>(to + i), from + i);
    }
}

#endif
