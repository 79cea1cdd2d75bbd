/* One problem on host memory, with results as different libraries may compute them. */
#ifndef GDNN_TESTS_SHIM_RESULTS_H
#define GDNN_TESTS_SHIM_RESULTS_H

#include "groupdnn.h"
#include "tensor.h"

typedef struct results {
    gdnn_conv conv;
    tensor shape[TENSORS];
    double *values[TENSORS]; /* logical order; what is written holds its prior contents */
    tensor_name written;
    int64_t count;
} results;

/* The tensors of the problem that `text` states, filled with uniform numbers. The test fails if it
 * is invalid. 2 spatial axes. */
results results_of(const char *text);
void results_free(results *r);

/* How sums are made; products of elements are exact in all of these. */
typedef enum arithmetic {
    EXACT,     /* float64, rounded once: nobody can do better */
    CHAIN,     /* one chain of additions in float32 */
    BACKWARDS, /* the same, last product first */
    TF32,      /* factors are rounded to TF32 */
    CUT,       /* every 16 products the sum is cut off at float32, towards zero */
    HALF       /* sums are kept in float16 */
} arithmetic;

/* The result in logical order, rounded to the type; the caller's to free. `steps`: the convolution
 * is stored before anything is done with it. */
double *results_compute(const results *r, arithmetic how, int steps);

#endif
