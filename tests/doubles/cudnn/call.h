/* One call that convolves, by role: in backward-data x is dx and y is dy, in backward-filter w
 * is dw. */
#ifndef GDNN_CUDNN_DOUBLE_CALL_H
#define GDNN_CUDNN_DOUBLE_CALL_H

#include "double.h"

typedef struct convolution_call {
    gdnn_dir dir;
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    int algo;
} convolution_call;

/* Reads the descriptors and checks all that cuDNN checks of them. `conv` has no factors, bias or
 * z yet. BAD_PARAM: something is NULL, never set or contradicts something else. NOT_SUPPORTED:
 * types or number of axes. */
cudnnStatus_t read_problem(const convolution_call *call, gdnn_conv *conv);

/* Bytes that the algorithm needs. NOT_SUPPORTED: it cannot run the problem, or there is no such
 * one. */
cudnnStatus_t workspace_of(const gdnn_conv *conv, int algo, size_t *bytes);

#endif
