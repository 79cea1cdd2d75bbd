/* Depthwise backward-filter 3x3, channels last. */
#include "dw_filter.h"

typedef FilterShape<3, 3, 1, 4, 7> Stride1;
typedef FilterShape<3, 3, 2, 4, 7> Stride2;

#define THREADS 128
#define INSTANCES(dtype, T)                                                                        \
    FILTER_KERNEL(dw_filter_3x3_s1_bwd_filter, Stride1, 3, dtype, T)                               \
    FILTER_KERNEL(dw_filter_3x3_s2_bwd_filter, Stride2, 3, dtype, T)                               \
    FINISH_KERNEL(dw_filter_3x3, nhwc, dtype, T)
#include "dw_filter_instances.h"
