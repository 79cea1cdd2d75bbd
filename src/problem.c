#include "problem.h"
#include <math.h>
#include <string.h>

void gdnn_conv_init(gdnn_conv *conv)
{
    *conv = (gdnn_conv){.dir = GDNN_FWD,
                        .dtype = GDNN_F32,
                        .acc = GDNN_F32,
                        .spatial = 2,
                        .groups = 1,
                        .stride = {1, 1, 1},
                        .dilation = {1, 1, 1},
                        .alpha = 1,
                        .alpha2 = 1};
}

size_t gdnn_dtype_size(gdnn_dtype dtype)
{
    switch (dtype) {
    case GDNN_F16:
    case GDNN_BF16: return 2;
    case GDNN_F32: return 4;
    case GDNN_F64: return 8;
    }
    return 0;
}

gdnn_role gdnn_written(gdnn_dir dir)
{
    switch (dir) {
    case GDNN_BWD_DATA: return GDNN_ROLE_X;
    case GDNN_BWD_FILTER: return GDNN_ROLE_W;
    default: return GDNN_ROLE_Y;
    }
}

int64_t gdnn_out_size(const gdnn_conv *conv, int axis)
{
    int64_t padded, extent;
    if (conv->stride[axis] < 1 || conv->filter[axis] < 1 || conv->dilation[axis] < 1 ||
        __builtin_add_overflow(conv->in[axis], conv->pad[axis], &padded) ||
        __builtin_add_overflow(padded, conv->pad_after[axis], &padded) ||
        __builtin_mul_overflow(conv->filter[axis] - 1, conv->dilation[axis], &extent) ||
        __builtin_add_overflow(extent, 1, &extent) ||
        __builtin_sub_overflow(padded, extent, &padded))
        return 0;
    /* Division rounds towards zero, and would make one output of a filter that sticks out a little. */
    return padded < 0 ? 0 : padded / conv->stride[axis] + 1;
}

int gdnn_dims(const gdnn_conv *conv)
{
    return conv->spatial + 2;
}

void gdnn_sizes(const gdnn_conv *conv, gdnn_role role, int64_t size[GDNN_MAX_DIMS])
{
    size[0] = role == GDNN_ROLE_W ? conv->k : conv->n;
    size[1] = role == GDNN_ROLE_X ? conv->c : role == GDNN_ROLE_W ? gdnn_cpg(conv) : conv->k;
    for (int i = 0; i < conv->spatial; i++)
        size[2 + i] = role == GDNN_ROLE_X   ? conv->in[i]
                      : role == GDNN_ROLE_W ? conv->filter[i]
                                            : gdnn_out_size(conv, i);
}

const int64_t *gdnn_strides(const gdnn_conv *conv, gdnn_role role)
{
    switch (role) {
    case GDNN_ROLE_X: return conv->x_stride;
    case GDNN_ROLE_W: return conv->w_stride;
    default: return conv->y_stride;
    }
}

/* The axis that comes `rank`-th in memory, the slowest first. */
static int axis_at(int dims, gdnn_layout layout, int rank)
{
    if (layout == GDNN_NCHW || rank == 0)
        return rank;
    return rank == dims - 1 ? 1 : rank + 1;
}

void gdnn_packed(int dims, const int64_t *size, gdnn_layout layout, int64_t *stride)
{
    /* Unsigned, so that a problem that was not checked yet wraps instead of overflowing. */
    uint64_t elements = 1;
    for (int rank = dims - 1; rank >= 0; rank--) {
        int axis = axis_at(dims, layout, rank);
        stride[axis] = (int64_t)elements;
        elements *= (uint64_t)size[axis];
    }
}

/* Strides of axes with one element address nothing, so they may differ. */
static bool same_strides(int dims, const int64_t *size, const int64_t *a, const int64_t *b)
{
    for (int i = 0; i < dims; i++)
        if (size[i] != 1 && a[i] != b[i])
            return false;
    return true;
}

bool gdnn_is_packed(int dims, const int64_t *size, const int64_t *stride, gdnn_layout layout)
{
    int64_t packed[GDNN_MAX_DIMS];
    gdnn_packed(dims, size, layout, packed);
    return same_strides(dims, size, stride, packed);
}

bool gdnn_packed_as(const gdnn_conv *conv, gdnn_layout layout)
{
    int dims = gdnn_dims(conv);
    int64_t x[GDNN_MAX_DIMS], w[GDNN_MAX_DIMS], y[GDNN_MAX_DIMS];
    gdnn_sizes(conv, GDNN_ROLE_X, x);
    gdnn_sizes(conv, GDNN_ROLE_W, w);
    gdnn_sizes(conv, GDNN_ROLE_Y, y);
    return gdnn_is_packed(dims, x, conv->x_stride, layout) &&
           gdnn_is_packed(dims, w, conv->w_stride, layout) &&
           gdnn_is_packed(dims, y, conv->y_stride, layout) &&
           (!conv->z || gdnn_is_packed(dims, y, conv->z_stride, layout));
}

bool gdnn_common_layout(const gdnn_conv *conv, gdnn_layout *layout)
{
    for (int i = GDNN_NCHW; i <= GDNN_NHWC; i++)
        if (gdnn_packed_as(conv, (gdnn_layout)i)) {
            *layout = (gdnn_layout)i;
            return true;
        }
    return false;
}

bool gdnn_may_overlap(int dims, const int64_t *size, const int64_t *stride)
{
    /* From the smallest stride up: an axis is safe if one step of it leaves all the memory of the axes before. */
    int order[GDNN_MAX_DIMS], count = 0;
    for (int i = 0; i < dims; i++) {
        if (size[i] == 1)
            continue;
        int at = count++;
        for (; at > 0 && stride[order[at - 1]] > stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    int64_t extent = 1;
    for (int i = 0; i < count; i++) {
        if (stride[order[i]] < extent)
            return true;
        extent += (size[order[i]] - 1) * stride[order[i]];
    }
    return false;
}

int64_t gdnn_elements(const gdnn_conv *conv, gdnn_role role)
{
    int64_t size[GDNN_MAX_DIMS], elements = 1;
    gdnn_sizes(conv, role, size);
    for (int i = 0; i < gdnn_dims(conv); i++)
        elements *= size[i];
    return elements;
}

int64_t gdnn_span(const gdnn_conv *conv, gdnn_role role)
{
    int64_t size[GDNN_MAX_DIMS], span = 1;
    const int64_t *stride = gdnn_strides(conv, role);
    gdnn_sizes(conv, role, size);
    for (int i = 0; i < gdnn_dims(conv); i++)
        if (size[i] > 1)
            span += (size[i] - 1) * stride[i];
    return span;
}

int64_t gdnn_cpg(const gdnn_conv *conv)
{
    return conv->c / conv->groups;
}

int64_t gdnn_kpg(const gdnn_conv *conv)
{
    return conv->k / conv->groups;
}

bool gdnn_is_plain(const gdnn_conv *conv)
{
    return conv->alpha == 1 && conv->beta == 0 && !conv->bias && !(conv->z && conv->alpha2 != 0) &&
           conv->act == GDNN_ACT_NONE;
}

int64_t gdnn_taps(const gdnn_conv *conv)
{
    int64_t taps = 1;
    for (int i = 0; i < conv->spatial; i++)
        taps *= conv->filter[i];
    return taps;
}

double gdnn_macs(const gdnn_conv *conv)
{
    return (double)gdnn_elements(conv, GDNN_ROLE_Y) * (double)gdnn_cpg(conv) *
           (double)gdnn_taps(conv);
}

double gdnn_bytes(const gdnn_conv *conv)
{
    double elements = (double)gdnn_elements(conv, GDNN_ROLE_X) +
                      (double)gdnn_elements(conv, GDNN_ROLE_W) +
                      (double)gdnn_elements(conv, GDNN_ROLE_Y);
    return elements * (double)gdnn_dtype_size(conv->dtype);
}

/* Equal for arithmetic: -0 and 0 differ, all NaN are one. */
static bool same_scale(double a, double b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static bool same_axes(int spatial, const int64_t *a, const int64_t *b)
{
    return !memcmp(a, b, (size_t)spatial * sizeof *a);
}

bool gdnn_conv_equal(const gdnn_conv *a, const gdnn_conv *b)
{
    if (a->dir != b->dir || a->dtype != b->dtype || a->acc != b->acc || a->mode != b->mode ||
        a->math != b->math || a->act != b->act || a->spatial != b->spatial || a->bias != b->bias ||
        a->z != b->z || a->n != b->n || a->c != b->c || a->k != b->k || a->groups != b->groups)
        return false;
    if (!same_axes(a->spatial, a->in, b->in) || !same_axes(a->spatial, a->filter, b->filter) ||
        !same_axes(a->spatial, a->pad, b->pad) ||
        !same_axes(a->spatial, a->pad_after, b->pad_after) ||
        !same_axes(a->spatial, a->stride, b->stride) ||
        !same_axes(a->spatial, a->dilation, b->dilation))
        return false;
    if (!same_scale(a->alpha, b->alpha) || !same_scale(a->beta, b->beta) ||
        (a->z && !same_scale(a->alpha2, b->alpha2)))
        return false;

    int dims = gdnn_dims(a);
    int64_t size[GDNN_MAX_DIMS];
    for (int role = GDNN_ROLE_X; role <= GDNN_ROLE_Y; role++) {
        gdnn_sizes(a, (gdnn_role)role, size);
        if (!same_strides(dims, size, gdnn_strides(a, (gdnn_role)role),
                          gdnn_strides(b, (gdnn_role)role)))
            return false;
    }
    /* `size` is y's now, and so is z's. */
    return !a->z || same_strides(dims, size, a->z_stride, b->z_stride);
}
