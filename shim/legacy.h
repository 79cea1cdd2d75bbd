/* The four convolution calls of cuDNN's legacy interface, as the drop-in answers them. Signatures and statuses are
 * NVIDIA's: a call that is not taken over gets the real library's answer, arguments untouched. */
#ifndef GDNN_LEGACY_H
#define GDNN_LEGACY_H

#include "legacy_api.h"

extern __typeof__(gdnn_proto_cudnnConvolutionForward) gdnn_cudnnConvolutionForward;
extern __typeof__(gdnn_proto_cudnnConvolutionBiasActivationForward)
    gdnn_cudnnConvolutionBiasActivationForward;
extern __typeof__(gdnn_proto_cudnnConvolutionBackwardData) gdnn_cudnnConvolutionBackwardData;
extern __typeof__(gdnn_proto_cudnnConvolutionBackwardFilter) gdnn_cudnnConvolutionBackwardFilter;

#endif
