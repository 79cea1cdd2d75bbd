/* Activation descriptors of the flavour `plain`. */
#include "double.h"
#include <stdlib.h>

struct cudnnActivationStruct {
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coefficient, swish_beta;
};

cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t *activation)
{
    REFUSE_IF(!activation);
    *activation = calloc(1, sizeof **activation);
    if (*activation)
        (*activation)->swish_beta = 1;
    return created(*activation);
}

cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t activation)
{
    free(activation);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activation,
                                           cudnnActivationMode_t mode, cudnnNanPropagation_t nan,
                                           double coefficient)
{
    REFUSE_IF(!activation);
    REFUSE_IF(mode != CUDNN_ACTIVATION_SIGMOID && mode != CUDNN_ACTIVATION_RELU &&
              mode != CUDNN_ACTIVATION_TANH && mode != CUDNN_ACTIVATION_CLIPPED_RELU &&
              mode != CUDNN_ACTIVATION_ELU && mode != CUDNN_ACTIVATION_IDENTITY &&
              mode != CUDNN_ACTIVATION_SWISH);
    REFUSE_IF((nan != CUDNN_NOT_PROPAGATE_NAN) && (nan != CUDNN_PROPAGATE_NAN));
    activation->mode = mode;
    activation->nan = nan;
    activation->coefficient = coefficient;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t activation,
                                           cudnnActivationMode_t *mode, cudnnNanPropagation_t *nan,
                                           double *coefficient)
{
    FAIL_IF_TOLD();
    REFUSE_IF(!activation);
    if (mode)
        *mode = activation->mode;
    if (nan)
        *nan = activation->nan;
    if (coefficient)
        *coefficient = activation->coefficient;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activation,
                                                    double swish_beta)
{
    REFUSE_IF(!activation);
    activation->swish_beta = swish_beta;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t activation,
                                                    double *swish_beta)
{
    REFUSE_IF(!activation || !swish_beta);
    *swish_beta = activation->swish_beta;
    return CUDNN_STATUS_SUCCESS;
}
