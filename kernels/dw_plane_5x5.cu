/* Depthwise 5x5, channels first. */
#include "dw_plane.h"

typedef PlaneShape<5, 5, 1, 7> Stride1;

#define INSTANCES(dtype, T) PLANE_KERNEL(dw_plane_5x5_s1_fwd, Stride1, 3, dtype, T)
#include "dw_plane_instances.h"
