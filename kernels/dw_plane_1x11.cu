/* Depthwise 1x11, channels first. */
#include "dw_plane.h"

typedef PlaneShape<1, 11, 1, 7> Stride1;

#define INSTANCES(dtype, T) PLANE_KERNEL(dw_plane_1x11_s1_fwd, Stride1, 4, dtype, T)
#include "dw_plane_instances.h"
