/* The descriptor of a tensor in the flavour `plain`. */
#ifndef GDNN_CUDNN_DOUBLE_TENSOR_H
#define GDNN_CUDNN_DOUBLE_TENSOR_H

#include "double.h"

/* As in NVIDIA's, what lies behind the axes in use stays from earlier calls. */
struct cudnnTensorStruct {
    cudnnDataType_t type;
    int count;  /* of axes; 0 until it is set */
    int vector; /* channels in an element: 1 unless the format is VECT_C */
    int dims[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
};

#endif
