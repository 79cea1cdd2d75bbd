/* Backward-data of depthwise 5x5 of stride 2, channels last. */
#include "dw_up.h"

typedef UpShape<5, 2, 4, 4> Shape;

#define THREADS             128
#define BLOCKS              3
#define INSTANCES(dtype, T) UP_KERNEL(dw_up_5x5_bwd_data, Shape, dtype, T)
#include "dw_up_instances.h"
