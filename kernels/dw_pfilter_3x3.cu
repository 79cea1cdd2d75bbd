/* Depthwise backward-filter 3x3, channels first. */
#include "dw_plane_filter.h"

typedef PlaneShape<3, 3, 1, 7> Stride1;
typedef PlaneShape<3, 3, 2, 7> Stride2;

#define INSTANCES(dtype, T)                                                                        \
    PLANE_FILTER_KERNEL(dw_pfilter_3x3_s1_bwd_filter, Stride1, 4, dtype, T)                        \
    PLANE_FILTER_KERNEL(dw_pfilter_3x3_s2_bwd_filter, Stride2, 4, dtype, T)                        \
    FINISH_KERNEL(dw_pfilter_3x3, nchw, dtype, T)
#include "dw_plane_filter_instances.h"
