/* The signatures of the functions that the drop-in calls in the real library or answers itself:
 * gdnn_proto_NAME is never defined, its type is what GDNN_REAL(NAME) has. tests/headers/cudnn_abi.c
 * compares them with NVIDIA's. */
#ifndef GDNN_LEGACY_API_H
#define GDNN_LEGACY_API_H

#include "cudnn_types.h"

cudnnStatus_t gdnn_proto_cudnnGetStream(cudnnHandle_t, cudaStream_t *);
cudnnStatus_t gdnn_proto_cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t, int, cudnnDataType_t *,
                                                    int *, int[], int[]);
cudnnStatus_t gdnn_proto_cudnnGetFilterNdDescriptor(cudnnFilterDescriptor_t, int, cudnnDataType_t *,
                                                    cudnnTensorFormat_t *, int *, int[]);
cudnnStatus_t gdnn_proto_cudnnGetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t, int, int *,
                                                         int[], int[], int[],
                                                         cudnnConvolutionMode_t *,
                                                         cudnnDataType_t *);
cudnnStatus_t gdnn_proto_cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t, int *);
cudnnStatus_t gdnn_proto_cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t,
                                                     cudnnMathType_t *);
cudnnStatus_t gdnn_proto_cudnnGetActivationDescriptor(cudnnActivationDescriptor_t,
                                                      cudnnActivationMode_t *,
                                                      cudnnNanPropagation_t *, double *);
cudnnStatus_t gdnn_proto_cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t, size_t *);
cudnnStatus_t gdnn_proto_cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t, size_t *);
cudnnStatus_t gdnn_proto_cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, cudnnConvolutionBwdFilterAlgo_t, size_t *);

cudnnStatus_t gdnn_proto_cudnnConvolutionForward(
    cudnnHandle_t, const void *alpha, cudnnTensorDescriptor_t, const void *x,
    cudnnFilterDescriptor_t, const void *w, cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t,
    void *workspace, size_t workspace_bytes, const void *beta, cudnnTensorDescriptor_t, void *y);
cudnnStatus_t gdnn_proto_cudnnConvolutionBiasActivationForward(
    cudnnHandle_t, const void *alpha1, cudnnTensorDescriptor_t, const void *x,
    cudnnFilterDescriptor_t, const void *w, cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t,
    void *workspace, size_t workspace_bytes, const void *alpha2, cudnnTensorDescriptor_t,
    const void *z, cudnnTensorDescriptor_t, const void *bias, cudnnActivationDescriptor_t,
    cudnnTensorDescriptor_t, void *y);
cudnnStatus_t
gdnn_proto_cudnnConvolutionBackwardData(cudnnHandle_t, const void *alpha, cudnnFilterDescriptor_t,
                                        const void *w, cudnnTensorDescriptor_t, const void *dy,
                                        cudnnConvolutionDescriptor_t, cudnnConvolutionBwdDataAlgo_t,
                                        void *workspace, size_t workspace_bytes, const void *beta,
                                        cudnnTensorDescriptor_t, void *dx);
cudnnStatus_t gdnn_proto_cudnnConvolutionBackwardFilter(
    cudnnHandle_t, const void *alpha, cudnnTensorDescriptor_t, const void *x,
    cudnnTensorDescriptor_t, const void *dy, cudnnConvolutionDescriptor_t,
    cudnnConvolutionBwdFilterAlgo_t, void *workspace, size_t workspace_bytes, const void *beta,
    cudnnFilterDescriptor_t, void *dw);
size_t gdnn_proto_cudnnGetVersion(void);
const char *gdnn_proto_cudnnGetErrorString(cudnnStatus_t);

#endif
