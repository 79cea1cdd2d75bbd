/* Backward-data of depthwise 3x3 of stride 2, channels last. */
#include "dw_up.h"

typedef UpShape<3, 2, 7, 4> Shape;

#define THREADS             128
#define BLOCKS              3
#define INSTANCES(dtype, T) UP_KERNEL(dw_up_3x3_bwd_data, Shape, dtype, T)
#include "dw_up_instances.h"
