/* Legacy calls as problems. */
#ifndef GDNN_DESCRIPTORS_H
#define GDNN_DESCRIPTORS_H

#include "cudnn_types.h"
#include "decide.h"
#include "groupdnn.h"

/* The arguments of one of the four convolution calls, by role: in backward-data y is dy and x is dx, in
 * backward-filter w is dw. What a call does not have is NULL. */
typedef struct gdnn_legacy_call {
    gdnn_dir dir;
    cudnnHandle_t handle;
    cudnnConvolutionDescriptor_t convolution;
    int algo;
    void *workspace;
    size_t workspace_bytes;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    gdnn_tensors data;
    const void *alpha, *beta; /* host memory: double for double data, else float */

    /* of cudnnConvolutionBiasActivationForward */
    cudnnActivationDescriptor_t activation;
    const void *alpha2;
    cudnnTensorDescriptor_t z, bias;
} gdnn_legacy_call;

/* Groups of the call, read from its descriptor; 0 if cuDNN does not tell. */
int gdnn_legacy_groups(const gdnn_legacy_call *call);

/* Reads the descriptors through the real library into `conv`, every byte of which is set.
 * GDNN_REASON_TAKEN: read; it need not pass gdnn_check. Else why this is no problem of ours: TYPE, FORMAT,
 * ACTIVATION, REFUSED where the activation is not one for the algorithm, or INVALID where cuDNN does not give a
 * descriptor's contents or they contradict each other. */
gdnn_reason gdnn_legacy_read(const gdnn_legacy_call *call, int groups, gdnn_conv *conv);

#endif
