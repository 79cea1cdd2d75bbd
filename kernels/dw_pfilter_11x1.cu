/* Depthwise backward-filter 11x1, channels first. */
#include "dw_plane_filter.h"

typedef PlaneShape<11, 1, 1, 7> Stride1;

#define INSTANCES(dtype, T)                                                                        \
    PLANE_FILTER_KERNEL(dw_pfilter_11x1_s1_bwd_filter, Stride1, 3, dtype, T)                       \
    FINISH_KERNEL(dw_pfilter_11x1, nchw, dtype, T)
#include "dw_plane_filter_instances.h"
