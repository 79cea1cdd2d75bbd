#include "walk.h"
#include "half.h"
#include "problem.h"
#include <stdlib.h>

gdnn_walk gdnn_walk_begin(int dims, const int64_t *size, const int64_t *stride)
{
    gdnn_walk walk = {.dims = dims};
    for (int axis = 0; axis < dims; axis++) {
        int place = axis;
        walk.size[axis] = size[axis];
        walk.stride[axis] = stride[axis];
        for (; place > 0 && stride[walk.order[place - 1]] < stride[axis]; place--)
            walk.order[place] = walk.order[place - 1];
        walk.order[place] = axis;
    }
    return walk;
}

bool gdnn_walk_next(gdnn_walk *walk)
{
    for (int i = walk->dims - 1; i >= 0; i--) {
        const int axis = walk->order[i];
        walk->offset += walk->stride[axis];
        if (++walk->index[axis] < walk->size[axis])
            return true;
        walk->offset -= walk->size[axis] * walk->stride[axis];
        walk->index[axis] = 0;
    }
    return false;
}

bool gdnn_window_open(gdnn_window *window, const gdnn_fetch *fetch, const void *device,
                      gdnn_dtype dtype, int64_t span)
{
    const int64_t most = GDNN_WINDOW_BYTES / (int64_t)gdnn_dtype_size(dtype);
    *window = (gdnn_window){.fetch = fetch,
                            .device = device,
                            .dtype = dtype,
                            .span = span,
                            .capacity = span < most ? span : most};
    window->bytes = malloc((size_t)window->capacity * gdnn_dtype_size(dtype));
    return window->bytes != NULL;
}

bool gdnn_window_get(gdnn_window *window, int64_t offset, double *value)
{
    const size_t size = gdnn_dtype_size(window->dtype);
    if (offset < window->begin || offset >= window->end) {
        const int64_t left = window->span - offset;
        const int64_t count = left < window->capacity ? left : window->capacity;
        window->begin = offset;
        window->end = offset;
        if (!window->fetch->copy(window->fetch->context, window->device + (size_t)offset * size,
                                 (size_t)count * size, window->bytes))
            return false;
        window->end = offset + count;
    }
    gdnn_decode(window->dtype, window->bytes + (size_t)(offset - window->begin) * size, value, 1);
    return true;
}

void gdnn_window_close(gdnn_window *window)
{
    free(window->bytes);
    window->bytes = NULL;
}

bool gdnn_walk_all(const gdnn_fetch *fetch, const void *device, gdnn_dtype dtype, int64_t span,
                   gdnn_walk walk, gdnn_visit *visit, void *context)
{
    gdnn_window window;
    double value;
    bool fine = gdnn_window_open(&window, fetch, device, dtype, span);
    while (fine) {
        fine = gdnn_window_get(&window, walk.offset, &value);
        if (fine)
            visit(context, walk.index, value);
        if (!fine || !gdnn_walk_next(&walk))
            break;
    }
    gdnn_window_close(&window);
    return fine;
}
