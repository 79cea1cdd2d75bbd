/* cuDNN's types of data as ours. */
#ifndef GDNN_DATA_TYPE_H
#define GDNN_DATA_TYPE_H

#include "cudnn_types.h"
#include "groupdnn.h"
#include <stdbool.h>

/* Sets *ours and returns true if our kernels have `type`, a cudnnDataType_t (any number). */
static inline bool gdnn_our_type(int type, gdnn_dtype *ours)
{
    switch (type) {
    case CUDNN_DATA_FLOAT: *ours = GDNN_F32; return true;
    case CUDNN_DATA_DOUBLE: *ours = GDNN_F64; return true;
    case CUDNN_DATA_HALF: *ours = GDNN_F16; return true;
    case CUDNN_DATA_BFLOAT16: *ours = GDNN_BF16; return true;
    default: return false;
    }
}

#endif
