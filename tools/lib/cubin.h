/* What a compiled kernel needs, read from a fatbin as nvcc makes it: the figures of `cuobjdump
 * -res-usage`, without NVIDIA's tools. */
#ifndef CUBIN_H
#define CUBIN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cubin_use {
    int regs;   /* registers a thread */
    int local;  /* bytes of local memory a thread: what does not fit into registers */
    int shared; /* bytes of static shared memory a block, with the 1024 reserved from sm_90 on */
} cubin_use;

/* The largest figures of the kernels whose name begins with `prefix`, over all architectures in the
 * `size` bytes at `image`. False: there is none, or this is no fatbin that can be read: images are compressed, and a build
 * without libzstd cannot unpack them. */
bool cubin_read(const void *image, size_t size, const char *prefix, cubin_use *use);

/* The architectures in the image, "sm_90,compute_90", into `text`; "" where it is no fatbin. */
void cubin_archs(const void *image, size_t size, char *text, size_t room);

#endif
