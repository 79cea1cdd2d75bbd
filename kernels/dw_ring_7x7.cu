/* Depthwise 7x7, channels last. */
#include "dw_ring.h"

typedef RingShape<7, 7, 1, 1, 7, 8> Stride1;
typedef RingShape<7, 7, 2, 1, 7, 8> Stride2;

#define THREADS   128
#define BLOCKS(T) 3
#define INSTANCES(dtype, T)                                                                        \
    RING_KERNEL(dw_ring_7x7_s1_fwd, Stride1, dtype, T)                                             \
    RING_KERNEL(dw_ring_7x7_s2_fwd, Stride2, dtype, T)
#include "dw_ring_instances.h"
