/* Activation descriptors. */
#include "calls.h"
#include "report.h"

static cudnnActivationDescriptor_t activation;

static void get(const char *what)
{
    cudnnActivationMode_t mode = (cudnnActivationMode_t)-77;
    cudnnNanPropagation_t nan = (cudnnNanPropagation_t)-77;
    double coefficient = -77, beta = -77;
    CALL(what, cudnnGetActivationDescriptor(activation, &mode, &nan, &coefficient));
    show("mode=%d nan=%d coefficient=%g", (int)mode, (int)nan, coefficient);
    CALL(what, cudnnGetActivationDescriptorSwishBeta(activation, &beta));
    show("%g", beta);
}

static void set(const char *what, int mode, int nan, double coefficient)
{
    CALL(what, cudnnSetActivationDescriptor(activation, (cudnnActivationMode_t)mode,
                                            (cudnnNanPropagation_t)nan, coefficient));
    show("mode=%d nan=%d coefficient=%g", mode, nan, coefficient);
    get(what);
}

void call_activations(void)
{
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double value;

    CALL("", cudnnCreateActivationDescriptor(&activation));
    set("first", CUDNN_ACTIVATION_TANH, CUDNN_NOT_PROPAGATE_NAN, 2);
    for (int m = -1; m <= 7; m++)
        set("each mode", m, CUDNN_NOT_PROPAGATE_NAN, 1.5);
    set("NaN", CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0);
    set("no such propagation", CUDNN_ACTIVATION_RELU, 2, 0);
    set("negative", CUDNN_ACTIVATION_CLIPPED_RELU, 0, -3);
    CALL("", cudnnSetActivationDescriptorSwishBeta(activation, 0.25));
    get("");
    CALL("NULL", cudnnCreateActivationDescriptor(NULL));
    CALL("NULL", cudnnDestroyActivationDescriptor(NULL));
    CALL("NULL",
         cudnnSetActivationDescriptor(NULL, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    CALL("NULL", cudnnGetActivationDescriptor(NULL, &mode, &nan, &value));
    CALL("NULL", cudnnSetActivationDescriptorSwishBeta(NULL, 1));
    CALL("", cudnnDestroyActivationDescriptor(activation));
}
