/* Depthwise backward-filter 5x5, channels first. */
#include "dw_plane_filter.h"

typedef PlaneShape<5, 5, 1, 7> Stride1;
typedef PlaneShape<5, 5, 2, 7> Stride2;

#define INSTANCES(dtype, T)                                                                        \
    PLANE_FILTER_KERNEL(dw_pfilter_5x5_s1_bwd_filter, Stride1, 2, dtype, T)                        \
    PLANE_FILTER_KERNEL(dw_pfilter_5x5_s2_bwd_filter, Stride2, 3, dtype, T)                        \
    FINISH_KERNEL(dw_pfilter_5x5, nchw, dtype, T)
#include "dw_plane_filter_instances.h"
