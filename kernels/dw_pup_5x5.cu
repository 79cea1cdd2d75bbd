/* Backward-data of depthwise 5x5 of stride 2, channels first. */
#include "dw_plane_up.h"

typedef PlaneUpShape<5, 7> Shape;

#define INSTANCES(dtype, T) PLANE_UP_KERNEL(dw_pup_5x5_bwd_data, Shape, 3, dtype, T)
#include "dw_plane_up_instances.h"
