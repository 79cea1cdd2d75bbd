/* Depthwise 5x5, channels last. */
#include "dw_ring.h"

typedef RingShape<5, 5, 1, 2, 7, 6> Stride1;
typedef RingShape<5, 5, 2, 2, 7, 6> Stride2;

#define THREADS   128
#define BLOCKS(T) (sizeof(T) == 4 ? 2 : 3) /* float32 has nothing to spare on sm_100 */
#define INSTANCES(dtype, T)                                                                        \
    RING_KERNEL(dw_ring_5x5_s1_fwd, Stride1, dtype, T)                                             \
    RING_KERNEL(dw_ring_5x5_s2_fwd, Stride2, dtype, T)
#include "dw_ring_instances.h"
