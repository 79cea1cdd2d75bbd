/* 64-bit addresses and sizes: small data in memory that spans more than 2^31 or 2^32 elements. And
 * tensors that share their memory, which need the same care. */
#include "properties.h"

#include "problem.h"
#include "sparse.h"

static int64_t *strides_of(gdnn_conv *conv, tensor_name name)
{
    return name == TENSOR_X ? conv->x_stride : name == TENSOR_W ? conv->w_stride : conv->y_stride;
}

/* Makes one axis of one tensor step so far that its last element is `reach` elements from its
 * first. */
static void offer_stretched(subject *s, const char *text, tensor_name name, int axis, int64_t reach)
{
    gdnn_conv conv = subject_conv(s, "%s", text);
    tensor t = tensor_of(&conv, name);
    if (t.size[axis] == 1)
        return;
    strides_of(&conv, name)[axis] = reach / (t.size[axis] - 1) + 1;
    sparse_try(s, &(sparse){.conv = conv, .small = conv});
}

void huge_strides(subject *s)
{
    static const char *const problems[] = {"n=2 c=4 in=2x3 k=4 filter=2x2 pad=1 groups=2",
                                           "n=2 c=4 in=3x3 k=2 filter=2x3 pad=1 stride=2 groups=2 "
                                           "mode=conv beta=1"};
    for (int p = 0; p < 2; p++)
        for (tensor_name name = TENSOR_X; name <= TENSOR_Y; name++)
            for (int axis = 0; axis < 4; axis++) {
                offer_stretched(s, problems[p], name, axis, (int64_t)1 << 31);
                offer_stretched(s, problems[p], name, axis, ((int64_t)1 << 32) + 6);
            }
}

/* x is huge and the filter, or the step, skips nearly all of it: the same sums as those of the
 * small problem, whose elements are `step` apart in x. The step is along the last axis. */
static void offer_skipping(subject *s, const char *huge, const char *small, int64_t step)
{
    sparse c = {.conv = subject_conv(s, "%s", huge), .small = subject_conv(s, "%s", small)};
    int last = gdnn_dims(&c.conv) - 1;
    for (int axis = 0; axis < last; axis++)
        c.small.x_stride[axis] = c.conv.x_stride[axis];
    c.small.x_stride[last] = step * c.conv.x_stride[last];
    sparse_try(s, &c);
}

/* Small tensors, but far pads, steps and taps between them. */
static const char *const far_apart[] = {
    "n=1 c=2 in=5 k=2 filter=2 groups=2 pad=2147483646 pad_after=2 dilation=2147483647",
    "n=1 c=2 in=5 k=2 filter=1 groups=2 pad=4294967293 pad_after=0 stride=2147483647",
    ("n=1 c=2 in=3 k=2 filter=3 groups=2 pad=4294967293 pad_after=1 stride=1073741824 "
     "dilation=2147483647"),
};

void huge_sizes(subject *s)
{
    for (size_t i = 0; i < sizeof far_apart / sizeof *far_apart; i++) {
        gdnn_conv conv = subject_conv(s, "%s", far_apart[i]);
        subject_try(s, &conv);
    }
    if (s->kernel->dir == GDNN_BWD_DATA)
        return; /* dx is written everywhere, so it cannot be huge */
    offer_skipping(s, "n=1 c=2 in=4294967297 k=2 filter=1 groups=2 stride=2147483647",
                   "n=1 c=2 in=3 k=2 filter=1 groups=2", 2147483647);
    offer_skipping(s, "n=1 c=2 in=4294967295 k=2 filter=3 groups=2 dilation=2147483647",
                   "n=1 c=2 in=3 k=2 filter=3 groups=2", 2147483647);
    offer_skipping(s,
                   "n=1 c=1 in=1x3000000001 k=1 filter=1x2 dilation=1x1500000000 "
                   "stride=1x1500000000",
                   "n=1 c=1 in=1x3 k=1 filter=1x2", 1500000000);
    offer_skipping(s,
                   "n=1 c=4 in=2200000000 k=4 filter=2 groups=2 dilation=2147483647 "
                   "stride=2147483647 mode=conv",
                   "n=1 c=4 in=2 k=4 filter=2 groups=2 mode=conv", 2147483647);
}

void alias(subject *s)
{
    static const char *const problems[] = {
        "n=2 c=4 in=5x5 k=4 filter=3x3 pad=1 groups=2 z=1",
        "n=1 c=8 in=4x5 k=8 filter=3x3 pad=1 groups=8 z=1 alpha2=-2 bias=1 act=relu",
        "n=1 c=4 in=4x5 k=8 filter=3x3 pad=1 groups=4 z=1 alpha2=0.5 beta=0.25",
        "n=1 c=16 in=4x4 k=16 filter=3x3 pad=1 groups=2 z=1",
        "n=3 c=4 in=9 k=4 filter=3 pad=1 groups=4 z=1 act=relu",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        gdnn_conv conv = subject_conv(s, "%s", problems[i]);
        sparse_try(s, &(sparse){.conv = conv, .small = conv, .alias_z = true});
    }
}
