/* Depthwise backward-filter 7x7, channels last. */
#include "dw_filter.h"

typedef FilterShape<7, 7, 1, 2, 4> Stride1;
typedef FilterShape<7, 7, 2, 2, 7> Stride2;

#define THREADS 128
#define INSTANCES(dtype, T)                                                                        \
    FILTER_KERNEL(dw_filter_7x7_s1_bwd_filter, Stride1, 2, dtype, T)                               \
    FILTER_KERNEL(dw_filter_7x7_s2_bwd_filter, Stride2, 2, dtype, T)                               \
    FINISH_KERNEL(dw_filter_7x7, dtype, T)
#include "dw_filter_instances.h"
