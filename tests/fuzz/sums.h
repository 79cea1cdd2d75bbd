/* What a convolution is, element by element, whatever its tensors look like in memory. */
#ifndef GDNN_FUZZ_SUMS_H
#define GDNN_FUZZ_SUMS_H

#include <stdbool.h>
#include <stdint.h>

enum { SPATIAL = 3 };

/* An element of a tensor: what it is, whatever axes the tensor has. */
typedef struct point {
    int64_t n, g, c, k; /* channels in their group; x has no k, y no c, w no n */
    int64_t s[SPATIAL]; /* the last axes; missing ones come first and are 0 */
    int64_t o[SPATIAL]; /* an output where `s` is a tap */
} point;

typedef enum role { X, W, Y } role;

/* A convolution's geometry; axes that are missing come first. */
typedef struct geometry {
    int64_t images, groups, cpg, kpg;
    int64_t in[SPATIAL], out[SPATIAL], filter[SPATIAL];
    int64_t pad[SPATIAL], stride[SPATIAL], dilation[SPATIAL];
    bool flipped; /* tap 0 has the last weight */
} geometry;

/* What memory holds at an address: small whole numbers. */
double value_at(uintptr_t address);

/* Whether both are the same index of all axes. */
bool same(const int64_t *a, const int64_t *b);

/* The index of the weight that tap `t` has. */
void weight_of(const geometry *g, const int64_t *t, int64_t *w);

typedef double loader(const void *context, role r, const point *p);

/* The element `p` of what a convolution writes, from what `load` gives: the definition. */
double convolve(const geometry *g, role writes, const point *p, loader *load, const void *context);

#endif
