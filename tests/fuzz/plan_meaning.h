/* What a plan computes, read from the made-up library. What a plan that we may launch cannot be ends the process. */
#ifndef GDNN_FUZZ_PLAN_MEANING_H
#define GDNN_FUZZ_PLAN_MEANING_H

#include "library.h"
#include "sums.h"

typedef struct reading {
    const library_object *graph, *pack, *convolution; /* the last is the operation */
    const char *type;                                 /* of elements in memory: "f32" */
    role writes;                                      /* of the convolution */
    int spatial;
    geometry geometry;
    int operations, visited;
} reading;

/* Reads all but the sizes. */
void plan_begin(reading *r, const library_object *plan, const library_object *pack,
                const char *type);

/* Reads r->geometry. */
void plan_sizes(reading *r);

/* The tensor that the graph writes: all other results lie between operations. */
const library_object *plan_result(const reading *r);

/* Where the element is, of a tensor in the role `in` with this variant pack. */
uintptr_t plan_address(const reading *r, const library_object *tensor, role in, const point *p);

/* An element of a tensor that has the axes of what the convolution writes. Counts the operations
 * behind it in r->visited. */
double plan_value(reading *r, const library_object *tensor, const point *p);

#endif
