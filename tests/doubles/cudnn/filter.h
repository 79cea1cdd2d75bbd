/* The descriptor of a filter in the flavour `plain`. */
#ifndef GDNN_CUDNN_DOUBLE_FILTER_H
#define GDNN_CUDNN_DOUBLE_FILTER_H

#include "double.h"

struct cudnnFilterStruct {
    cudnnDataType_t type;
    cudnnTensorFormat_t format;
    int count; /* of axes; 0 until it is set */
    int dims[CUDNN_DIM_MAX];
};

#endif
