/* What cuDNN's trials of algorithms say, under NVIDIA's names, as cudnn_types.h has the other types.
 * tests/headers/cudnn_abi.cpp compares them with NVIDIA's headers where those are. */
#ifndef CUDNN_PERF_H
#define CUDNN_PERF_H

#include "cudnn_types.h"

typedef enum { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 } cudnnDeterminism_t;

typedef struct cudnnConvolutionFwdAlgoPerfStruct {
    cudnnConvolutionFwdAlgo_t algo;
    cudnnStatus_t status;
    float time; /* ms */
    size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t mathType;
    int reserved[3];
} cudnnConvolutionFwdAlgoPerf_t;

/* Which differ from it in the type of `algo` alone. */
typedef struct cudnnConvolutionFwdAlgoPerfStruct cudnnConvolutionBwdDataAlgoPerf_t;
typedef struct cudnnConvolutionFwdAlgoPerfStruct cudnnConvolutionBwdFilterAlgoPerf_t;

#endif
