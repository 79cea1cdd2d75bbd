/* Depthwise backward-filter 7x7, channels first. */
#include "dw_plane_filter.h"

typedef PlaneShape<7, 7, 1, 7> Stride1;

#define INSTANCES(dtype, T)                                                                        \
    PLANE_FILTER_KERNEL(dw_pfilter_7x7_s1_bwd_filter, Stride1, 2, dtype, T)                        \
    FINISH_KERNEL(dw_pfilter_7x7, nchw, dtype, T)
#include "dw_plane_filter_instances.h"
