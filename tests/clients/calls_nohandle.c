/* What needs a handle, without one. */
#include "calls.h"
#include "report.h"

void call_without_handle(void)
{
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    cudnnActivationDescriptor_t act;
    cudaStream_t stream;
    const float one = 1, zero = 0;
    char data[16];
    size_t size = 77;
    int count = -77;

    cudnnCreateTensorDescriptor(&x);
    cudnnCreateTensorDescriptor(&y);
    cudnnCreateFilterDescriptor(&w);
    cudnnCreateConvolutionDescriptor(&conv);
    cudnnCreateActivationDescriptor(&act);
    cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 5, 5);
    cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 8, 5, 5);
    cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 8, 4, 3, 3);
    cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                    CUDNN_DATA_FLOAT);
    cudnnSetConvolutionGroupCount(conv, 2);
    cudnnSetActivationDescriptor(act, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);

    CALL("NULL", cudnnCreate(NULL));
    CALL("NULL", cudnnDestroy(NULL));
    CALL("NULL", cudnnSetStream(NULL, NULL));
    CALL("NULL", cudnnGetStream(NULL, &stream));
    CALL("NULL", cudnnGetConvolutionForwardAlgorithmMaxCount(NULL, &count));
    CALL("NULL", cudnnGetConvolutionBackwardDataAlgorithmMaxCount(NULL, &count));
    CALL("NULL", cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(NULL, &count));
    CALL("NULL", cudnnGetConvolutionForwardWorkspaceSize(NULL, x, w, conv, y, 0, &size));
    CALL("NULL", cudnnGetConvolutionBackwardDataWorkspaceSize(NULL, w, y, conv, x, 0, &size));
    CALL("NULL", cudnnGetConvolutionBackwardFilterWorkspaceSize(NULL, x, y, conv, w, 0, &size));
    CALL("NULL",
         cudnnConvolutionForward(NULL, &one, x, data, w, data, conv, 0, NULL, 0, &zero, y, data));
    CALL("NULL", cudnnConvolutionBackwardData(NULL, &one, w, data, y, data, conv, 0, NULL, 0, &zero,
                                              x, data));
    CALL("NULL", cudnnConvolutionBackwardFilter(NULL, &one, x, data, y, data, conv, 0, NULL, 0,
                                                &zero, w, data));
    CALL("NULL", cudnnConvolutionBiasActivationForward(NULL, &one, x, data, w, data, conv, 0, NULL,
                                                       0, &zero, y, data, x, data, act, y, data));
    CALL("all NULL", cudnnConvolutionForward(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0,
                                             NULL, NULL, NULL));
    CALL("all NULL", cudnnConvolutionBackwardData(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL,
                                                  0, NULL, NULL, NULL));
    CALL("all NULL", cudnnConvolutionBackwardFilter(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0,
                                                    NULL, 0, NULL, NULL, NULL));
    CALL("all NULL",
         cudnnConvolutionBiasActivationForward(NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0,
                                               NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CALL("NULL", cudnnConvolutionBackwardBias(NULL, &one, y, data, &zero, x, data));
    CALL("NULL", cudnnAddTensor(NULL, &one, x, data, &zero, y, data));

    cudnnDestroyTensorDescriptor(x);
    cudnnDestroyTensorDescriptor(y);
    cudnnDestroyFilterDescriptor(w);
    cudnnDestroyConvolutionDescriptor(conv);
    cudnnDestroyActivationDescriptor(act);
}
