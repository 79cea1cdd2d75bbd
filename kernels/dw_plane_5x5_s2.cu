/* Depthwise 5x5 of stride 2, channels first. */
#include "dw_plane_slide.h"

typedef PlaneSlideShape<5, 5, 2, 7> Stride2;

#define INSTANCES(dtype, T) PLANE_KERNEL(dw_plane_5x5_s2_fwd, Stride2, 4, dtype, T)
#include "dw_plane_instances.h"
