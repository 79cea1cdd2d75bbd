/* Depthwise 3x3, channels last. */
#include "dw_ring.h"

typedef RingShape<3, 3, 1, 4, 7, 4> Stride1;
typedef RingShape<3, 3, 2, 4, 7, 4> Stride2;

#define THREADS   128
#define BLOCKS(T) 3
#define INSTANCES(dtype, T)                                                                        \
    RING_KERNEL(dw_ring_3x3_s1_fwd, Stride1, dtype, T)                                             \
    RING_KERNEL(dw_ring_3x3_s2_fwd, Stride2, dtype, T)
#include "dw_ring_instances.h"
