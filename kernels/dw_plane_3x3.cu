/* Depthwise 3x3, channels first. */
#include "dw_plane.h"

typedef PlaneShape<3, 3, 1, 7> Stride1;
typedef PlaneShape<3, 3, 2, 7> Stride2;

#define INSTANCES(dtype, T)                                                                        \
    PLANE_KERNEL(dw_plane_3x3_s1_fwd, Stride1, 4, dtype, T)                                        \
    PLANE_KERNEL(dw_plane_3x3_s2_fwd, Stride2, 4, dtype, T)
#include "dw_plane_instances.h"
