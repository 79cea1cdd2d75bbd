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

/* A thread's share in copies of runs: from byte `first` on, 16 bytes every `step`. */
struct RunShare {
    int first, step;
};

static __device__ __forceinline__ RunShare run_share(int thread, int threads)
{
    RunShare share = {thread * 16, threads * 16};
    gpu_keep(share.first);
    gpu_keep(share.step);
    return share;
}

/* Ends of a run, byte offsets from the sector in which it begins: elements from begin to first - 1 and from last to end - 1,
 * and between them 16 bytes at a time. */
struct RunEnds {
    int begin, first, last, end;
};

static __device__ __forceinline__ RunEnds run_ends(int begin, int bytes, int alignment)
{
    RunEnds r;
    r.begin = begin;
    r.end = begin + bytes;
    r.first = min((begin + alignment - 1) & -alignment, r.end);
    r.last = max(r.end & ~15, r.first);
    return r;
}

/* The byte offset of element number i / sizeof(T) of both ends. */
static __device__ __forceinline__ int end_offset(const RunEnds &r, int i)
{
    int at = r.begin + i;
    return at < r.first ? at : at - r.first + r.last;
}

/* Starts the copy of `bytes` bytes from `run` to as far behind `to`, a multiple of 16, as they are in their sector.
 * WHOLE: the 16 bytes around every element belong to the tensor, so the ends are copied with what is beside them. */
template <class T>
static __device__ __forceinline__ void bring_run(gpu_shared to, const T *run, int bytes,
                                                 const RunShare &share, bool whole)
{
    int before = sector_offset(run), first = 0, last = before + bytes;
    const char *from = reinterpret_cast<const char *>(run) - before;
    if (!whole) {
        RunEnds r = run_ends(before, bytes, 16);
        int count = r.first - r.begin + r.end - r.last;
        GPU_NO_UNROLL
        for (int i = share.first / (16 / (int)sizeof(T)); i < count;
             i += share.step / (16 / (int)sizeof(T))) {
            int at = end_offset(r, i);
            gpu_store_shared(to + at, *reinterpret_cast<const T *>(from + at));
        }
        first = r.first;
        last = r.last;
    }
    first += share.first;
    from += first;
    to += first;
    int step = share.step, left = last - first;
    GPU_NO_UNROLL
    for (; left > 3 * step; left -= 4 * step) {
        GPU_UNROLL
        for (int i = 0; i < 4; i++, from += step, to += step)
            gpu_copy_shared<16>(to, from);
    }
    GPU_NO_UNROLL
    for (; left > 0; left -= step, from += step, to += step)
        gpu_copy_shared<16>(to, from);
}

static __device__ __forceinline__ void store_chunk(char *to, gpu_shared from)
{
    *reinterpret_cast<uint4 *>(to) = gpu_shared_value<uint4>(from);
}

/* Stores `bytes` bytes to `run` from as far behind `from`, a multiple of 32. */
template <class T>
static __device__ __forceinline__ void store_run(T *run, gpu_shared from, int bytes,
                                                 const RunShare &share)
{
    RunEnds r = run_ends(sector_offset(run), bytes, SECTOR);
    char *to = reinterpret_cast<char *>(run) - r.begin;
    int count = r.first - r.begin + r.end - r.last;
    if ((r.begin | bytes) % 16 == 0) { /* a chunk at each end, or none */
        GPU_NO_UNROLL
        for (int i = share.first; i < count; i += share.step) {
            int at = end_offset(r, i);
            store_chunk(to + at, from + at);
        }
        count = 0;
    }
    GPU_NO_UNROLL
    for (int i = share.first / (16 / (int)sizeof(T)); i < count;
         i += share.step / (16 / (int)sizeof(T))) {
        int at = end_offset(r, i);
        *reinterpret_cast<T *>(to + at) = gpu_shared_value<T>(from + at);
    }
    int first = r.first + share.first, step = share.step, left = r.last - first;
    to += first;
    from += first;
    GPU_NO_UNROLL
    for (; left > 3 * step; left -= 4 * step) {
        GPU_UNROLL
        for (int i = 0; i < 4; i++, to += step, from += step)
            store_chunk(to, from);
    }
    GPU_NO_UNROLL
    for (; left > 0; left -= step, to += step, from += step)
        store_chunk(to, from);
}

/* Zeros from byte `begin` to `end` behind `first`, all multiples of 16: the block together. */
static __device__ __forceinline__ void clear_range(gpu_shared first, int begin, int end)
{
    GPU_NO_UNROLL
    for (int i = begin + (int)threadIdx.x * 16; i < end; i += (int)blockDim.x * 16)
        gpu_store_shared(first + i, make_uint4(0, 0, 0, 0));
}

#endif
