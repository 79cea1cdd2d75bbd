/* Depthwise backward-filter 5x5, channels last. */
#include "dw_filter.h"

typedef FilterShape<5, 5, 1, 2, 7> Stride1;
typedef FilterShape<5, 5, 2, 2, 7> Stride2;

#define THREADS 128
#define INSTANCES(dtype, T)                                                                        \
    FILTER_KERNEL(dw_filter_5x5_s1_bwd_filter, Stride1, 2, dtype, T)                               \
    FILTER_KERNEL(dw_filter_5x5_s2_bwd_filter, Stride2, 2, dtype, T)                               \
    FINISH_KERNEL(dw_filter_5x5, nhwc, dtype, T)
#include "dw_filter_instances.h"
