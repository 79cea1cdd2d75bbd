/* Every number of channels a group can have: of x, of y, equal and not. */
#include "properties.h"

#include "problem.h"
#include "test.h"
#include <stdlib.h>

static void offer(subject *s, int groups, int cpg, int kpg, const char *rest)
{
    gdnn_conv conv =
        subject_conv(s, "n=2 c=%d k=%d groups=%d %s", groups * cpg, groups * kpg, groups, rest);
    if (subject_work(s, &conv) <= SUBJECT_MOST_WORK)
        subject_try(s, &conv);
}

void channels(subject *s)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 40, 64};
    static const char *const rest[] = {"in=5 filter=1", "in=4x3 filter=1x1",
                                       "in=5x4 filter=3x3 pad=1",
                                       "in=6x5 filter=3x3 pad=1 stride=2"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int size = sizes[i];
        for (size_t j = 0; j < sizeof rest / sizeof *rest; j++) {
            offer(s, 3, size, size, rest[j]);
            offer(s, 2, size, 2 * size, rest[j]); /* multipliers */
            offer(s, 2, size, 3 * size, rest[j]);
            offer(s, 2, 2 * size, size, rest[j]); /* fewer outputs than inputs */
            offer(s, 2, size, 1, rest[j]);
            offer(s, 2, 1, size, rest[j]);
            offer(s, 2, size, 7, rest[j]);
        }
    }
    for (size_t j = 0; j < sizeof rest / sizeof *rest; j++) {
        offer(s, 2, 1, 16, rest[j]);
        offer(s, 3, 2, 32, rest[j]);
    }
}

/* A channel multiplier must not hide that only the first group is right: all but the last group's
 * inputs are zero, and what the last group makes must not be. */
static void offer_last(subject *s, const char *text)
{
    gdnn_conv conv = subject_conv(s, "%s", text);
    if (!subject_takes(s, &conv))
        return;
    gdnn_role zeroed = s->kernel->dir == GDNN_BWD_FILTER ? GDNN_ROLE_Y : GDNN_ROLE_W;
    tensor_name name = (tensor_name)zeroed;
    tensor shape = tensor_of(&conv, name);
    int64_t count = tensor_elements(&shape);
    double *values = malloc((size_t)count * sizeof *values);
    assert_non_null(values);
    fill_values(values, count, FILL_UNIFORM, subject_seed(), (fill_stream)name, conv.dtype);
    int64_t kpg = gdnn_kpg(&conv), last = conv.k - kpg, pixels = 1;
    for (int axis = 2; axis < shape.dims; axis++)
        pixels *= shape.size[axis];
    /* the axis of K is w's first and y's second */
    int64_t inner = zeroed == GDNN_ROLE_W ? gdnn_cpg(&conv) * pixels : pixels;
    for (int64_t i = 0; i < count; i++)
        if (i / inner % conv.k < last)
            values[i] = 0;

    trial t = {.conv = &conv, .seed = subject_seed()};
    trial_result r;
    t.given[name] = values;
    subject_run(s, &t, &r);
    free(values);

    tensor written = tensor_of(&conv, r.written);
    int64_t channel = r.written == TENSOR_X ? conv.c - gdnn_cpg(&conv) : last;
    int64_t channels = r.written == TENSOR_X ? conv.c : conv.k, each = 1, nonzero = 0, wrong = -1;
    for (int axis = r.written == TENSOR_W ? 1 : 2; axis < written.dims; axis++)
        each *= written.size[axis];
    for (int64_t i = 0; i < tensor_elements(&written); i++) {
        bool in_last = i / each % channels >= channel;
        nonzero += in_last && r.got[i] != 0;
        if (!in_last && r.got[i] != 0)
            wrong = i;
    }
    trial_release(&r);
    if (wrong >= 0)
        subject_fail(s, &conv, "element %lld belongs to another group than the last and is not 0",
                     (long long)wrong);
    if (!nonzero)
        subject_fail(s, &conv, "the last group made nothing but zeros");
}

void last_group(subject *s)
{
    offer_last(s, "n=2 c=6 in=5x4 k=6 filter=3x3 pad=1 groups=3");
    offer_last(s, "n=2 c=5 in=5x4 k=5 filter=3x3 pad=1 groups=5");
    offer_last(s, "n=1 c=4 in=5x4 k=12 filter=3x3 pad=1 groups=4");
    offer_last(s, "n=1 c=33 in=5x4 k=33 filter=3x3 pad=1 groups=33");
    offer_last(s, "n=1 c=65 in=3x3 k=65 filter=3x3 pad=1 groups=65");
    offer_last(s, "n=1 c=16 in=4x4 k=16 filter=3x3 pad=1 groups=2");
    offer_last(s, "n=1 c=24 in=4x4 k=24 filter=3x3 pad=1 groups=3");
    offer_last(s, "n=1 c=64 in=3x3 k=64 filter=3x3 pad=1 groups=16");
    offer_last(s, "n=1 c=10 in=4x3 k=4 filter=1x1 groups=2");
    offer_last(s, "n=2 c=300 in=7 k=300 filter=1 groups=300");
}
