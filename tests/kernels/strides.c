/* Memory in any arrangement. */
#include "properties.h"

#include "problem.h"
#include <string.h>

/* Problems to arrange: no two axes of a tensor have the same length, where that is possible. */
static const char *const problems[] = {
    "n=2 c=6 in=4x5 k=6 filter=3x3 pad=1 groups=3",
    "n=2 c=3 in=5x7 k=6 filter=2x3 pad=1 groups=3 stride=2x1 beta=1",
    "n=3 c=4 in=9 k=4 filter=3 pad=2 groups=4 dilation=2 mode=conv",
    "n=2 c=4 in=3x4x5 k=2 filter=2x3x1 pad=1x1x0 groups=2",
    "n=2 c=16 in=4x5 k=16 filter=3x3 pad=1 groups=2",
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static int64_t *strides_of(gdnn_conv *conv, tensor_name name)
{
    switch (name) {
    case TENSOR_X: return conv->x_stride;
    case TENSOR_W: return conv->w_stride;
    case TENSOR_Y: return conv->y_stride;
    default: return conv->z_stride;
    }
}

/* Adds bias and z where the direction has them. */
static gdnn_conv problem(const subject *s, int i)
{
    bool all = s->kernel->dir == GDNN_FWD && i % 2 == 0;
    return subject_conv(s, "%s%s", problems[i], all ? " bias=1 z=1 alpha2=0.5" : "");
}

/* Lays the tensor out with the axes in this order, the slowest first, and a gap of `gap` elements
 * after each axis. */
static void arrange(gdnn_conv *conv, tensor_name name, const int *order, int gap)
{
    tensor t = tensor_of(conv, name);
    int64_t *stride = strides_of(conv, name), next = 1 + (gap > 0);
    for (int rank = t.dims - 1; rank >= 0; rank--) {
        stride[order[rank]] = next;
        next = next * t.size[order[rank]] + gap;
    }
}

static void order_of(int dims, gdnn_layout layout, int order[GDNN_MAX_DIMS])
{
    for (int i = 0; i < dims; i++)
        order[i] = layout == GDNN_NCHW || i == 0 ? i : i == dims - 1 ? 1 : i + 1;
}

void strides_gaps(subject *s)
{
    for (int i = 0; i < PROBLEMS; i++)
        for (int which = 0; which <= TENSORS; which++) { /* one tensor, or all of them */
            gdnn_conv conv = problem(s, i);
            int order[GDNN_MAX_DIMS];
            order_of(gdnn_dims(&conv), s->layout, order);
            for (tensor_name name = TENSOR_X; name <= TENSOR_Z; name++)
                if (which == TENSORS || which == (int)name)
                    arrange(&conv, name, order, 1 + i % 3);
            if (which != TENSOR_BIAS)
                subject_try(s, &conv);
        }
}

void strides_mixed(subject *s)
{
    for (int i = 0; i < PROBLEMS; i++)
        for (unsigned mix = 0; mix < 16; mix++) {
            gdnn_conv conv = problem(s, i);
            int order[GDNN_MAX_DIMS];
            /* bit by bit a tensor of the other layout; z only where there is one */
            if (!conv.z && mix >> TENSOR_Z)
                continue;
            for (tensor_name name = TENSOR_X; name <= TENSOR_Z; name++) {
                bool other = mix >> name & 1;
                gdnn_layout layout = (s->layout == GDNN_NHWC) != other ? GDNN_NHWC : GDNN_NCHW;
                order_of(gdnn_dims(&conv), layout, order);
                arrange(&conv, name, order, 0);
            }
            subject_try(s, &conv);
        }
}

/* The next order of the numbers, as in a dictionary; false after the last. */
static bool next_order(int *order, int count)
{
    int i = count - 2, j = count - 1;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[j] < order[i])
        j--;
    int swapped = order[i];
    order[i] = order[j], order[j] = swapped;
    for (int a = i + 1, b = count - 1; a < b; a++, b--)
        swapped = order[a], order[a] = order[b], order[b] = swapped;
    return true;
}

void strides_orders(subject *s)
{
    for (tensor_name name = TENSOR_X; name <= TENSOR_Y; name++) {
        int order[GDNN_MAX_DIMS] = {0, 1, 2, 3};
        do {
            gdnn_conv conv = problem(s, name == TENSOR_W ? 1 : 0);
            arrange(&conv, name, order, name == TENSOR_W);
            subject_try(s, &conv);
        } while (next_order(order, 4));
    }
}

/* A stride that is never stepped over may be anything: frameworks disagree about what it is. */
void strides_size_one(subject *s)
{
    static const char *const flat[] = {
        "n=1 c=4 in=1x1 k=4 filter=1x1 groups=4",
        "n=1 c=4 in=1x5 k=4 filter=1x3 pad=0x1 groups=4",
        "n=1 c=1 in=4x4 k=1 filter=3x3 pad=1",
        "n=2 c=3 in=5x1 k=3 filter=3x1 pad=1x0 groups=3",
        "n=1 c=8 in=5x6 k=8 filter=3x3 pad=1 groups=8",
        "n=1 c=2 in=4x4 k=2 filter=1x1 groups=1",
        "n=1 c=2 in=1x1x3 k=2 filter=1x1x2 groups=2",
        "n=1 c=16 in=4x4 k=16 filter=3x3 pad=1 groups=2",
        "n=1 c=6 in=1 k=6 filter=1 groups=6 mode=conv",
    };
    static const int64_t absurd[] = {0, 1, 7, 1000003, (int64_t)1 << 40};
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++)
        for (size_t j = 0; j < sizeof absurd / sizeof *absurd; j++) {
            gdnn_conv conv = subject_conv(s, "%s", flat[i]);
            for (tensor_name name = TENSOR_X; name <= TENSOR_Y; name++) {
                tensor t = tensor_of(&conv, name);
                for (int axis = 0; axis < t.dims; axis++)
                    if (t.size[axis] == 1)
                        strides_of(&conv, name)[axis] = absurd[j];
            }
            subject_try(s, &conv);
        }
}

/* An input may hold one value many times over. */
void strides_repeated(subject *s)
{
    for (int i = 0; i < PROBLEMS; i++) {
        gdnn_conv base = problem(s, i);
        for (tensor_name name = TENSOR_X; name <= TENSOR_Z; name++) {
            if (name == TENSOR_W || (gdnn_role)name == gdnn_written(base.dir) ||
                !tensor_used(&base, name))
                continue;
            for (int axis = 0; axis <= gdnn_dims(&base); axis++) { /* one axis, then all */
                gdnn_conv conv = base;
                for (int k = 0; k < gdnn_dims(&base); k++)
                    if (k == axis || axis == gdnn_dims(&base))
                        strides_of(&conv, name)[k] = 0;
                subject_try(s, &conv);
            }
        }
    }
}

/* Every tensor's address is only as aligned as its elements are. */
void misaligned(subject *s)
{
    static const char *const shifted[] = {
        "n=2 c=6 in=5x5 k=6 filter=3x3 pad=1 groups=3",
        "n=1 c=8 in=7x7 k=8 filter=3x3 pad=1 groups=8",
        "n=1 c=16 in=8x8 k=16 filter=3x3 pad=1 groups=2",
        "n=1 c=32 in=4x4 k=32 filter=1x1 groups=2",
        "n=1 c=16 in=8x8 k=16 filter=1x1 groups=2",
        "n=2 c=8 in=16 k=8 filter=4 pad=3 groups=8",
        "n=1 c=4 in=7x9 k=4 filter=5x5 pad=2 groups=4 stride=2",
    };
    static const int shifts[] = {1, 3, 5};
    for (size_t i = 0; i < sizeof shifted / sizeof *shifted; i++)
        for (size_t j = 0; j < sizeof shifts / sizeof *shifts; j++) {
            gdnn_conv conv = subject_conv(s, "%s", shifted[i]);
            subject_try_trial(s, &(trial){.conv = &conv, .shift = shifts[j]});
        }
}
