/* A libcuda.so.1 of a driver that lacks most of what we use. */
#include "cuda_types.h"

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);

CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = 11000;
    return CUDA_SUCCESS;
}
