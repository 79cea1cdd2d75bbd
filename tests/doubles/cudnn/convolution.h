/* The descriptor of a convolution in the flavour `plain`. */
#ifndef GDNN_CUDNN_DOUBLE_CONVOLUTION_H
#define GDNN_CUDNN_DOUBLE_CONVOLUTION_H

#include "double.h"

enum { CONVOLUTION_AXES = CUDNN_DIM_MAX - 2 };

struct cudnnConvolutionStruct {
    cudnnConvolutionMode_t mode;
    cudnnDataType_t type; /* of the arithmetic */
    cudnnMathType_t math;
    cudnnReorderType_t reorder;
    int groups;
    int count; /* axes; 0 until it is set */
    int pads[CONVOLUTION_AXES], strides[CONVOLUTION_AXES], dilations[CONVOLUTION_AXES];
};

#endif
