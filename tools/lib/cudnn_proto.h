/* The signatures of the functions of cuDNN that the tool calls besides those of legacy_api.h and graph_api.h, in the
 * same form. tests/headers/cudnn_abi.cpp compares them with NVIDIA's. */
#ifndef CUDNN_PROTO_H
#define CUDNN_PROTO_H

#include "cudnn_perf.h"

cudnnStatus_t gdnn_proto_cudnnCreate(cudnnHandle_t *);
cudnnStatus_t gdnn_proto_cudnnDestroy(cudnnHandle_t);
cudnnStatus_t gdnn_proto_cudnnSetStream(cudnnHandle_t, cudaStream_t);
cudnnStatus_t gdnn_proto_cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *);
cudnnStatus_t gdnn_proto_cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t, cudnnDataType_t, int,
                                                    const int[], const int[]);
cudnnStatus_t gdnn_proto_cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t);
cudnnStatus_t gdnn_proto_cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *);
cudnnStatus_t gdnn_proto_cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t, cudnnDataType_t,
                                                    cudnnTensorFormat_t, int, const int[]);
cudnnStatus_t gdnn_proto_cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t);
cudnnStatus_t gdnn_proto_cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *);
cudnnStatus_t gdnn_proto_cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t, int,
                                                         const int[], const int[], const int[],
                                                         cudnnConvolutionMode_t, cudnnDataType_t);
cudnnStatus_t gdnn_proto_cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t, int);
cudnnStatus_t gdnn_proto_cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t);
cudnnStatus_t gdnn_proto_cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t);
cudnnStatus_t gdnn_proto_cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t, const void *x, cudnnFilterDescriptor_t, const void *w,
    cudnnConvolutionDescriptor_t, cudnnTensorDescriptor_t, void *y, int requested, int *returned,
    cudnnConvolutionFwdAlgoPerf_t *, void *workspace, size_t workspace_bytes);
cudnnStatus_t gdnn_proto_cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, cudnnFilterDescriptor_t, const void *w, cudnnTensorDescriptor_t, const void *dy,
    cudnnConvolutionDescriptor_t, cudnnTensorDescriptor_t, void *dx, int requested, int *returned,
    cudnnConvolutionBwdDataAlgoPerf_t *, void *workspace, size_t workspace_bytes);
cudnnStatus_t gdnn_proto_cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t, const void *x, cudnnTensorDescriptor_t, const void *dy,
    cudnnConvolutionDescriptor_t, cudnnFilterDescriptor_t, void *dw, int requested, int *returned,
    cudnnConvolutionBwdFilterAlgoPerf_t *, void *workspace, size_t workspace_bytes);

#endif
