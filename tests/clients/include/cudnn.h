/* Stands in for NVIDIA's where cuDNN is not installed. */
#ifndef GDNN_STAND_IN_CUDNN_H
#define GDNN_STAND_IN_CUDNN_H

#include "cudnn_client.h"

enum { CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM = 0 };

#endif
