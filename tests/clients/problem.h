/* A convolution as the client has it, with what it should come to. */
#ifndef GDNN_CLIENT_PROBLEM_H
#define GDNN_CLIENT_PROBLEM_H

#include "cudnn_client.h"

typedef enum { FORWARD, BACKWARD_DATA, BACKWARD_FILTER } direction;

/* Order of a tensor in memory. */
typedef enum {
    CHANNELS_FIRST,
    CHANNELS_LAST,
    WITH_GAPS,  /* channels first, rows padded by 3, 5 elements between images; not for filters */
    TRANSPOSED, /* the last spatial axis before the channels; not for filters */
} order;

typedef struct problem {
    direction dir;
    cudnnDataType_t type; /* of all tensors; 0 is FLOAT */
    cudnnDataType_t arithmetic;
    cudnnMathType_t math;
    int axes; /* spatial: 2 or 3 */
    int n, c, k, groups;
    int said_groups; /* what the descriptor says; 0: the same */
    int in[3], filter[3], pad[3], stride[3], dilation[3];
    cudnnConvolutionMode_t mode;
    order x, w, y;
    double alpha, beta;
    int algo;
    int special; /* x has an infinity and a NaN */

    /* of cudnnConvolutionBiasActivationForward */
    int fused;
    int z_is_y;
    double alpha2;
    cudnnActivationMode_t activation;
    double coefficient;
} problem;

/* Sizes of a tensor: N or K, channels, spatial axes. Returns how many. */
int sizes_of_x(const problem *p, int size[5]);
int sizes_of_w(const problem *p, int size[5]);
int sizes_of_y(const problem *p, int size[5]);

/* Numbers in logical order: x (N, C, in), w (K, C / groups, filter), y and z (N, K, out), bias
 * (K). */
typedef struct numbers {
    const double *x, *w, *y, *z, *bias;
} numbers;

/* What the written tensor should hold, and how far from it sums in the type of the arithmetic
 * may come before they are rounded to the type of the data; both as many as it has elements. A
 * sum for each element, from the definition. */
void expect(const problem *p, const numbers *t, double *result, double *bound);

#endif
