/* The real cuDNN in this process, for timing it. Its functions are called at their own addresses, never by way of the
 * drop-in. */
#ifndef CUDNN_CALLS_H
#define CUDNN_CALLS_H

#include "cudnn.h"
#include "cudnn_proto.h"
#include "graph_api.h"
#include "groupdnn.h"
#include "legacy_api.h"
#include "session.h"

/* The functions that are called. */
#define CUDNN_CALLS(CALL)                                                                          \
    CALL(cudnnCreate)                                                                              \
    CALL(cudnnDestroy)                                                                             \
    CALL(cudnnSetStream)                                                                           \
    CALL(cudnnGetErrorString)                                                                      \
    CALL(cudnnCreateTensorDescriptor)                                                              \
    CALL(cudnnSetTensorNdDescriptor)                                                               \
    CALL(cudnnDestroyTensorDescriptor)                                                             \
    CALL(cudnnCreateFilterDescriptor)                                                              \
    CALL(cudnnSetFilterNdDescriptor)                                                               \
    CALL(cudnnDestroyFilterDescriptor)                                                             \
    CALL(cudnnCreateConvolutionDescriptor)                                                         \
    CALL(cudnnSetConvolutionNdDescriptor)                                                          \
    CALL(cudnnSetConvolutionGroupCount)                                                            \
    CALL(cudnnSetConvolutionMathType)                                                              \
    CALL(cudnnDestroyConvolutionDescriptor)                                                        \
    CALL(cudnnFindConvolutionForwardAlgorithmEx)                                                   \
    CALL(cudnnFindConvolutionBackwardDataAlgorithmEx)                                              \
    CALL(cudnnFindConvolutionBackwardFilterAlgorithmEx)                                            \
    CALL(cudnnConvolutionForward)                                                                  \
    CALL(cudnnConvolutionBackwardData)                                                             \
    CALL(cudnnConvolutionBackwardFilter)                                                           \
    CALL(cudnnBackendCreateDescriptor)                                                             \
    CALL(cudnnBackendDestroyDescriptor)                                                            \
    CALL(cudnnBackendFinalize)                                                                     \
    CALL(cudnnBackendSetAttribute)                                                                 \
    CALL(cudnnBackendGetAttribute)                                                                 \
    CALL(cudnnBackendExecute)

typedef struct cudnn_calls {
#define CALL(name) __typeof__(&gdnn_proto_##name) name;
    CUDNN_CALLS(CALL)
#undef CALL
    cudnn_file file;
    cudnnHandle_t handle; /* on the session's stream */
} cudnn_calls;

/* Opens what cudnn_find finds, and makes a handle for the session's device. Never closed.
 * GDNN_UNSUPPORTED: there is none, it lacks a function, or it makes no handle; gdnn_last_error says which. */
gdnn_status cudnn_calls_open(cudnn_calls *c, const session *s);

void cudnn_calls_close(cudnn_calls *c);

/* GDNN_OK for SUCCESS; else GDNN_UNSUPPORTED with the call and cuDNN's text for the status. */
gdnn_status cudnn_calls_check(const cudnn_calls *c, cudnnStatus_t status, const char *call);

cudnnDataType_t cudnn_type_of(gdnn_dtype dtype);

/* What cuDNN is to be asked for `conv`: convolutions of one axis get another of size 1 in front, since cuDNN has none.
 * GDNN_UNSUPPORTED: bias, z or act, which are not timed in cuDNN. */
gdnn_status cudnn_problem(const gdnn_conv *conv, gdnn_conv *asked);

#endif
