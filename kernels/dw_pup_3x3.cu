/* Backward-data of depthwise 3x3 of stride 2, channels first. */
#include "dw_plane_up.h"

typedef PlaneUpShape<3, 7> Shape;

#define INSTANCES(dtype, T) PLANE_UP_KERNEL(dw_pup_3x3_bwd_data, Shape, 4, dtype, T)
#include "dw_plane_up_instances.h"
