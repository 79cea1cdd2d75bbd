/* Test data: a value is a function of the seed, the tensor and the element's logical index alone,
 * whatever the layout, the other tensors, and the order in which values are made. */
#ifndef FILL_H
#define FILL_H

#include "groupdnn.h"

typedef enum fill_kind {
    FILL_UNIFORM,  /* uniform in [-1, 1), rounded to the type */
    FILL_INTEGERS, /* -2, -1, 0, 1 or 2: products and moderate sums are exact in every type */
    FILL_ONES
} fill_kind;

/* The tensors of a problem, each with its own stream of values; that of the written one is for its
 * prior contents. */
typedef enum fill_stream { FILL_X, FILL_W, FILL_Y, FILL_Z, FILL_BIAS } fill_stream;

/* A random number for (`seed`, `stream`, `index`): the finaliser of splitmix64 over a counter. */
uint64_t fill_bits(uint64_t seed, uint64_t stream, uint64_t index);

/* Fills `out` with `count` values that `dtype` represents exactly. */
void fill_values(double *out, int64_t count, fill_kind kind, uint64_t seed, fill_stream stream,
                 gdnn_dtype dtype);

#endif
