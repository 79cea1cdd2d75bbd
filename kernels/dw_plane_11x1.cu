/* Depthwise 11x1, channels first. */
#include "dw_plane.h"

typedef PlaneShape<11, 1, 1, 7> Stride1;

#define INSTANCES(dtype, T) PLANE_KERNEL(dw_plane_11x1_s1_fwd, Stride1, 2, dtype, T)
#include "dw_plane_instances.h"
