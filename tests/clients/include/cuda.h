/* Stands in for NVIDIA's where CUDA is not installed: what our own declarations have. */
#ifndef GDNN_STAND_IN_CUDA_H
#define GDNN_STAND_IN_CUDA_H

#include "cuda_types.h"

#define GDNN_CU(name, symbol, parameters) CUresult name parameters __asm__(#symbol);
#include "driver_api.def"
#undef GDNN_CU

#endif
