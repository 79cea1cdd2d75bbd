/* A problem with its tensors, for the tests of the reference. All values are small whole numbers,
 * so that every sum is exact and equality can be demanded. */
#ifndef REFERENCE_FIXTURE_H
#define REFERENCE_FIXTURE_H

#include "groupdnn.h"
#include <stdbool.h>

#define FIXTURE_ELEMENTS 8192

typedef struct fixture {
    gdnn_conv conv;
    int64_t out[3];        /* spatial sizes of y */
    int64_t n_x, n_w, n_y; /* elements */
    double x[FIXTURE_ELEMENTS], w[FIXTURE_ELEMENTS], y[FIXTURE_ELEMENTS];
    double z[FIXTURE_ELEMENTS], bias[64], magnitude[FIXTURE_ELEMENTS];
} fixture;

/* Where the random numbers of prepare() and random_problem() stand; a test may set it. */
extern uint64_t fixture_random;

void fill_with(double *data, int64_t count, double value);

/* Sets out, n_x, n_w, n_y and random contents for t->conv; false if the problem has no output. */
bool prepare(fixture *t);

/* prepare() for a problem in the text form. */
void read_problem(fixture *t, const char *text);

/* prepare() for a random problem: 1 to 3 axes, groups, pads, strides, dilations, both modes. */
void random_problem(fixture *t);

/* Runs the reference in this direction, with the magnitude. */
void run(fixture *t, gdnn_dir dir);

/* Fails at the first element that differs, and at any NaN. */
void assert_equal(const double *a, const double *b, int64_t count);

#endif
