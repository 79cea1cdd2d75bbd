/* A problem by cuDNN's legacy interface, with the fastest algorithm that its own trial finds. */
#ifndef CUDNN_LEGACY_H
#define CUDNN_LEGACY_H

#include "cudnn_calls.h"
#include "rotation.h"

typedef struct cudnn_legacy {
    const cudnn_calls *calls;
    const rotation *memory;
    gdnn_conv conv; /* as cuDNN is asked for it */
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t convolution;
    int algorithm;
    size_t workspace;
    double wide[2]; /* alpha and beta */
    float narrow[2];
} cudnn_legacy;

/* Describes the problem and lets cuDNN try its algorithms, with the workspace of `memory`. To be given to
 * cudnn_legacy_close whatever comes back. GDNN_UNSUPPORTED: cuDNN does not run it this way; gdnn_last_error says why. */
gdnn_status cudnn_legacy_open(cudnn_legacy *l, const cudnn_calls *calls, const gdnn_conv *conv,
                              const rotation *memory);

/* As `timed` has it: the context is the cudnn_legacy. */
gdnn_status cudnn_legacy_enqueue(void *context, int copy);

void cudnn_legacy_close(cudnn_legacy *l);

#endif
