/* cuDNN's legacy functions around convolution, as a program sees them. Declared here so that the
 * client and the double build without cuDNN; with GDNN_NVIDIA_HEADERS the client compiles against
 * NVIDIA's own declarations instead, which checks these. */
#ifndef GDNN_CUDNN_CLIENT_H
#define GDNN_CUDNN_CLIENT_H

#ifdef GDNN_NVIDIA_HEADERS
#include <cudnn.h>
#else

#include "cudnn_types.h"

typedef enum { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 } cudnnDeterminism_t;
typedef enum { CUDNN_DEFAULT_REORDER = 0, CUDNN_NO_REORDER = 1 } cudnnReorderType_t;
typedef enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;

/* NVIDIA has one such struct a direction; they differ in the type of `algo` alone. */
typedef struct cudnnAlgoPerf {
    int algo;
    cudnnStatus_t status;
    float time;
    size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t mathType;
    int reserved[3];
} cudnnConvolutionFwdAlgoPerf_t, cudnnConvolutionBwdDataAlgoPerf_t,
    cudnnConvolutionBwdFilterAlgoPerf_t;

size_t cudnnGetVersion(void);
size_t cudnnGetCudartVersion(void);
size_t cudnnGetMaxDeviceVersion(void);
cudnnStatus_t cudnnGetProperty(libraryPropertyType, int *);
const char *cudnnGetErrorString(cudnnStatus_t);
void cudnnGetLastErrorString(char *, size_t);

cudnnStatus_t cudnnCreate(cudnnHandle_t *);
cudnnStatus_t cudnnDestroy(cudnnHandle_t);
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t);
cudnnStatus_t cudnnGetStream(cudnnHandle_t, cudaStream_t *);

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t);
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t, cudnnTensorFormat_t,
                                         cudnnDataType_t, int n, int c, int h, int w);
cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t, cudnnDataType_t, int n, int c,
                                           int h, int w, int ns, int cs, int hs, int ws);
cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t, cudnnDataType_t *, int *n,
                                         int *c, int *h, int *w, int *ns, int *cs, int *hs,
                                         int *ws);
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t, cudnnDataType_t, int,
                                         const int dims[], const int strides[]);
cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t, cudnnTensorFormat_t,
                                           cudnnDataType_t, int, const int dims[]);
cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t, int, cudnnDataType_t *,
                                         int *, int dims[], int strides[]);
cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t, size_t *);

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t);
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t, cudnnDataType_t,
                                         cudnnTensorFormat_t, int k, int c, int h, int w);
cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t, cudnnDataType_t *,
                                         cudnnTensorFormat_t *, int *k, int *c, int *h, int *w);
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t, cudnnDataType_t,
                                         cudnnTensorFormat_t, int, const int dims[]);
cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t, int, cudnnDataType_t *,
                                         cudnnTensorFormat_t *, int *, int dims[]);
cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t, size_t *);

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t, int pad_h, int pad_w,
                                              int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t,
                                              cudnnDataType_t);
cudnnStatus_t cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t, int *pad_h,
                                              int *pad_w, int *stride_h, int *stride_w,
                                              int *dilation_h, int *dilation_w,
                                              cudnnConvolutionMode_t *, cudnnDataType_t *);
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t, int, const int pads[],
                                              const int strides[], const int dilations[],
                                              cudnnConvolutionMode_t, cudnnDataType_t);
cudnnStatus_t cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t, int, int *,
                                              int pads[], int strides[], int dilations[],
                                              cudnnConvolutionMode_t *, cudnnDataType_t *);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t, int);
cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t, int *);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t);
cudnnStatus_t cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t *);
cudnnStatus_t cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t, cudnnReorderType_t);
cudnnStatus_t cudnnGetConvolutionReorderType(cudnnConvolutionDescriptor_t, cudnnReorderType_t *);
cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t,
                                                    const cudnnTensorDescriptor_t,
                                                    const cudnnFilterDescriptor_t, int *n, int *c,
                                                    int *h, int *w);
cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t,
                                                    const cudnnTensorDescriptor_t,
                                                    const cudnnFilterDescriptor_t, int, int dims[]);

cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t *);
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t);
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t, cudnnActivationMode_t,
                                           cudnnNanPropagation_t, double);
cudnnStatus_t cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t,
                                           cudnnActivationMode_t *, cudnnNanPropagation_t *,
                                           double *);
cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t, double);
cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t, double *);

cudnnStatus_t cudnnGetConvolutionForwardAlgorithmMaxCount(cudnnHandle_t, int *);
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithmMaxCount(cudnnHandle_t, int *);
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(cudnnHandle_t, int *);
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t,
                                                     const cudnnTensorDescriptor_t y, const int,
                                                     int *, cudnnConvolutionFwdAlgoPerf_t *);
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t dx, const int, int *,
    cudnnConvolutionBwdDataAlgoPerf_t *);
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t dw, const int, int *,
    cudnnConvolutionBwdFilterAlgoPerf_t *);
cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                   const cudnnFilterDescriptor_t w,
                                                   const cudnnConvolutionDescriptor_t,
                                                   const cudnnTensorDescriptor_t y, const int,
                                                   int *, cudnnConvolutionFwdAlgoPerf_t *);
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(cudnnHandle_t,
                                                        const cudnnFilterDescriptor_t w,
                                                        const cudnnTensorDescriptor_t dy,
                                                        const cudnnConvolutionDescriptor_t,
                                                        const cudnnTensorDescriptor_t dx, const int,
                                                        int *, cudnnConvolutionBwdDataAlgoPerf_t *);
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t dw, const int, int *,
    cudnnConvolutionBwdFilterAlgoPerf_t *);
cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const void *x, const cudnnFilterDescriptor_t,
    const void *w, const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, void *y,
    const int, int *, cudnnConvolutionFwdAlgoPerf_t *, void *workspace, size_t);
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const void *w, const cudnnTensorDescriptor_t,
    const void *dy, const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, void *dx,
    const int, int *, cudnnConvolutionBwdDataAlgoPerf_t *, void *workspace, size_t);
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const void *x, const cudnnTensorDescriptor_t,
    const void *dy, const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t, void *dw,
    const int, int *, cudnnConvolutionBwdFilterAlgoPerf_t *, void *workspace, size_t);
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t,
                                                      const cudnnTensorDescriptor_t x,
                                                      const cudnnFilterDescriptor_t w,
                                                      const cudnnConvolutionDescriptor_t,
                                                      const cudnnTensorDescriptor_t y,
                                                      cudnnConvolutionFwdAlgo_t, size_t *);
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t,
                                                           const cudnnFilterDescriptor_t w,
                                                           const cudnnTensorDescriptor_t dy,
                                                           const cudnnConvolutionDescriptor_t,
                                                           const cudnnTensorDescriptor_t dx,
                                                           cudnnConvolutionBwdDataAlgo_t, size_t *);
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t, size_t *);

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void *alpha,
                                      const cudnnTensorDescriptor_t, const void *x,
                                      const cudnnFilterDescriptor_t, const void *w,
                                      const cudnnConvolutionDescriptor_t, cudnnConvolutionFwdAlgo_t,
                                      void *workspace, size_t, const void *beta,
                                      const cudnnTensorDescriptor_t, void *y);
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t, const void *alpha1, const cudnnTensorDescriptor_t, const void *x,
    const cudnnFilterDescriptor_t, const void *w, const cudnnConvolutionDescriptor_t,
    cudnnConvolutionFwdAlgo_t, void *workspace, size_t, const void *alpha2,
    const cudnnTensorDescriptor_t, const void *z, const cudnnTensorDescriptor_t, const void *bias,
    const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t, void *y);
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, const void *alpha,
                                           const cudnnFilterDescriptor_t, const void *w,
                                           const cudnnTensorDescriptor_t, const void *dy,
                                           const cudnnConvolutionDescriptor_t,
                                           cudnnConvolutionBwdDataAlgo_t, void *workspace, size_t,
                                           const void *beta, const cudnnTensorDescriptor_t,
                                           void *dx);
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t, const void *alpha,
                                             const cudnnTensorDescriptor_t, const void *x,
                                             const cudnnTensorDescriptor_t, const void *dy,
                                             const cudnnConvolutionDescriptor_t,
                                             cudnnConvolutionBwdFilterAlgo_t, void *workspace,
                                             size_t, const void *beta,
                                             const cudnnFilterDescriptor_t, void *dw);
cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t, const void *alpha,
                                           const cudnnTensorDescriptor_t, const void *dy,
                                           const void *beta, const cudnnTensorDescriptor_t,
                                           void *db);
cudnnStatus_t cudnnAddTensor(cudnnHandle_t, const void *alpha, const cudnnTensorDescriptor_t,
                             const void *a, const void *beta, const cudnnTensorDescriptor_t,
                             void *c);

#endif
#endif
