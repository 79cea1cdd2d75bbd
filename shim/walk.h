/* Strided device memory, read by the host element by element, in the order in which it lies and
 * through a window of bounded size. */
#ifndef GDNN_WALK_H
#define GDNN_WALK_H

#include "groupdnn.h"
#include <stdbool.h>
#include <stddef.h>

/* Copies `bytes` of device memory to the host and waits for them. False: the driver refused. */
typedef struct gdnn_fetch {
    bool (*copy)(void *context, const void *device, size_t bytes, void *host);
    void *context;
} gdnn_fetch;

/* Most bytes of device memory that a window holds. */
enum { GDNN_WINDOW_BYTES = 8 << 20 };

/* The elements of a tensor, longest stride first. */
typedef struct gdnn_walk {
    int dims;
    int order[GDNN_MAX_DIMS]; /* axes, by falling stride */
    int64_t size[GDNN_MAX_DIMS], stride[GDNN_MAX_DIMS];
    int64_t index[GDNN_MAX_DIMS]; /* where it stands, in logical order */
    int64_t offset;               /* of that element from the first, in elements */
} gdnn_walk;

/* A walk that stands at the first element. */
gdnn_walk gdnn_walk_begin(int dims, const int64_t *size, const int64_t *stride);

/* Steps to the next element; false behind the last. */
bool gdnn_walk_next(gdnn_walk *walk);

/* `span` elements from `device` on. Close it also where opening failed. */
typedef struct gdnn_window {
    const gdnn_fetch *fetch;
    const char *device;
    gdnn_dtype dtype;
    int64_t span, capacity, begin, end; /* elements; it holds begin <= offset < end */
    unsigned char *bytes;
} gdnn_window;

/* False: no host memory. */
bool gdnn_window_open(gdnn_window *window, const gdnn_fetch *fetch, const void *device,
                      gdnn_dtype dtype, int64_t span);
/* The value of the element at `offset`. False: it could not be fetched. */
bool gdnn_window_get(gdnn_window *window, int64_t offset, double *value);
void gdnn_window_close(gdnn_window *window);

/* Visits every element of a tensor of `span` elements, gaps between them left out. False: no host
 * memory, or it could not be fetched. */
typedef void gdnn_visit(void *context, const int64_t index[GDNN_MAX_DIMS], double value);
bool gdnn_walk_all(const gdnn_fetch *fetch, const void *device, gdnn_dtype dtype, int64_t span,
                   gdnn_walk walk, gdnn_visit *visit, void *context);

#endif
