/* Depthwise 7x7, channels first. */
#include "dw_plane_slide.h"

typedef PlaneSlideShape<7, 7, 1, 7> Stride1;

#define INSTANCES(dtype, T) PLANE_KERNEL(dw_plane_7x7_s1_fwd, Stride1, 3, dtype, T)
#include "dw_plane_instances.h"
