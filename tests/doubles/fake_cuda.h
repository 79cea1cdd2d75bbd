/* What the double of libcuda.so.1 offers beyond the driver's functions; plain C. Look these up by
 * dlsym in the library that the process has loaded.
 *
 * The double runs kernels on the host (tests/emulator). What a real driver answers with a status,
 * it answers with that status; what would corrupt memory or give undefined values on a GPU is
 * reported on stderr and aborts: pointers outside live allocations, dead handles, parameters that
 * do not fit the kernel in the image, writes around an allocation, stream-ordered memory used before
 * its stream has come to it or after it was freed, leaks when the last primary context is released.
 *
 * Work runs only when somebody waits for it. Device memory is inaccessible except while a kernel
 * or copy runs; it begins as 0xff bytes (allocations above 512 MiB: as zeros, taking memory only
 * where touched). The target of a copy to the host holds 0xff until the stream is synchronised.
 *
 * The environment, read by the first call and by gdnn_fake_configure:
 *   GDNN_FAKE_DEVICES=n      number of devices (1), as the first cuInit that succeeds finds it;
 *                            0: cuInit says CUDA_ERROR_NO_DEVICE
 *   GDNN_FAKE_SM=86          compute capability (90); shared memory follows it
 *   GDNN_FAKE_NAME=text      name of each device ("emulated GPU (sm_90)")
 *   GDNN_FAKE_SHARED=bytes   most shared memory of a block
 *   GDNN_FAKE_MEMORY=bytes   memory of each device (256 GiB)
 *   GDNN_FAKE_DRIVER=12040   version of the driver (13000)
 *   GDNN_FAKE_FAIL=fn:n[:result][,...]
 *                            the n-th call of fn from then on fails; with 999 (unknown error) if
 *                            no result is given
 *   GDNN_EMU_SCHEDULE, GDNN_EMU_COPIES: see tests/emulator/emulator.hpp
 * A driver that lacks functions cannot be had this way: build/tests/doubles/old/ holds a
 * libcuda.so.1 that has only cuInit and cuDriverGetVersion. */
#ifndef GDNN_FAKE_CUDA_H
#define GDNN_FAKE_CUDA_H

#include "cuda_types.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Graphs, for capture_api.def. */
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

/* Since the process began. Those after `mma` are counted by the race-checking double alone. */
typedef struct gdnn_fake_counts {
    uint64_t calls;                        /* of driver functions */
    uint64_t launches;                     /* accepted */
    uint64_t capture_exchanges;            /* cuThreadExchangeStreamCaptureMode */
    uint64_t allocations, bytes_allocated; /* alive */
    uint64_t blocks, threads;              /* that have run */
    uint64_t barriers, warp_ops, mma;
    uint64_t sectors_read,
        sectors_written; /* of global memory: distinct 32-byte sectors of a block, summed */
    uint64_t shared_bytes, conflict_cycles;
    uint64_t errors;
} gdnn_fake_counts;

void gdnn_fake_counters(gdnn_fake_counts *counts);
uint64_t gdnn_fake_launches(void);

/* The field of gdnn_fake_counts from `threads` to `conflict_cycles` that is called `name`, for who does not
 * know the struct. 0: there is none. */
int gdnn_fake_counter(const char *name, uint64_t *value);

/* 1 in the double that checks races and initialisation. */
int gdnn_fake_checks_races(void);

/* Reads the environment again; counts of calls for GDNN_FAKE_FAIL begin anew. */
void gdnn_fake_configure(void);

/* Makes `stream` capture in mode GLOBAL: what is enqueued is kept until the end of the capture.
 * Meanwhile synchronising the stream or the context, and from threads whose capture mode is not
 * RELAXED also allocating, freeing, loading and unloading, is refused with
 * CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and any use of the default stream beside a blocking stream
 * that captures with CUDA_ERROR_STREAM_CAPTURE_IMPLICIT; both spoil the capture. The end enqueues
 * once what was captured, and says how many operations that were, or -1 if the capture was spoilt.
 *
 * The driver's own functions for it, and for graphs, are there too: capture_api.def. */
void gdnn_fake_capture_begin(CUstream stream);
int gdnn_fake_capture_end(CUstream stream);

#ifdef __cplusplus
}
#endif

#endif
