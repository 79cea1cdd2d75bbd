#include "scale.h"

#include "kernel.h"
#include "problem.h"

/* Least common multiples beyond this would leave little to shrink; the largest tile is kept then.
 */
enum { LARGEST_PERIOD = 128 };

/* A size that may shrink, by multiples of `period`. */
typedef struct shrinkable {
    int64_t *size;
    int64_t period;
    int64_t least; /* lower bound, whatever the remainder */
} shrinkable;

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    int64_t multiple = a / x * b;
    return multiple <= LARGEST_PERIOD ? multiple : a > b ? a : b;
}

/* The common period of the tiles of every kernel that can run the problem. */
static gdnn_tile common_tile(const gdnn_conv *conv)
{
    gdnn_tile all = {1, 1, {1, 1, 1}};
    for (int i = 0; i < gdnn_kernel_count; i++) {
        const gdnn_kernel *kernel = &gdnn_kernels[i];
        if (!gdnn_kernel_fits(kernel, conv))
            continue;
        all.n = (int)common_multiple(all.n, kernel->tile.n);
        all.groups = (int)common_multiple(all.groups, kernel->tile.groups);
        for (int axis = 0; axis < GDNN_MAX_SPATIAL; axis++)
            all.spatial[axis] = (int)common_multiple(all.spatial[axis], kernel->tile.spatial[axis]);
    }
    return all;
}

/* True if what shrinks with `size` is within the target: the filter only follows the groups. */
static bool fits(const gdnn_conv *conv, double macs, const int64_t *size)
{
    double limit = macs / 8;
    return gdnn_macs(conv) <= macs && (double)gdnn_elements(conv, GDNN_ROLE_X) <= limit &&
           (double)gdnn_elements(conv, GDNN_ROLE_Y) <= limit &&
           (size != &conv->groups || (double)gdnn_elements(conv, GDNN_ROLE_W) <= limit);
}

/* The smallest size with the remainder of `size`, at least `least`; `size` itself if none is
 * smaller. */
static int64_t smallest(const shrinkable *axis, int64_t least)
{
    int64_t size = *axis->size;
    return size <= least ? size : size - (size - least) / axis->period * axis->period;
}

/* `a + b` and `a * b` of positive numbers, at most the largest there is: strides may be huge. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static void set_size(gdnn_conv *conv, const shrinkable *axis, int64_t size, int64_t cpg,
                     int64_t kpg)
{
    *axis->size = size;
    conv->c = conv->groups * cpg;
    conv->k = conv->groups * kpg;
}

/* Lowers one size by as few periods as it takes to fit, at most down to `floor`. Bisects, since a
 * size can have any number of periods and what shrinks never fits worse. */
static void shrink(gdnn_conv *conv, const shrinkable *axis, int64_t floor, int64_t cpg, int64_t kpg,
                   double macs)
{
    int64_t size = *axis->size;
    int64_t few = 0, enough = (size - floor) / axis->period;
    while (few < enough) {
        int64_t half = few + (enough - few) / 2;
        set_size(conv, axis, size - half * axis->period, cpg, kpg);
        if (fits(conv, macs, axis->size))
            enough = half;
        else
            few = half + 1;
    }
    set_size(conv, axis, size - enough * axis->period, cpg, kpg);
}

bool scale_problem(gdnn_conv *conv, double macs)
{
    gdnn_layout layout;
    if (!gdnn_common_layout(conv, &layout))
        return false;

    const gdnn_conv before = *conv;
    gdnn_tile tile = common_tile(conv);
    shrinkable axes[2 + GDNN_MAX_SPATIAL] = {
        {&conv->n, tile.n, 1},
        {&conv->groups, tile.groups, 2},
    };
    for (int axis = 0; axis < conv->spatial; axis++) {
        /* The tile's spatial sizes end with the fastest axis, the problem's begin with the slowest.
         */
        int64_t step = tile.spatial[GDNN_MAX_SPATIAL - conv->spatial + axis];
        int64_t extent = (conv->filter[axis] - 1) * conv->dilation[axis] + 1;
        axes[2 + axis] = (shrinkable){&conv->in[axis], times(step, conv->stride[axis]), extent};
    }

    /* First down to a whole tile and the remainder, so that kernels still cross from tile to tile;
     * then, if that is not enough, down to the remainder. */
    for (int whole = 1; whole >= 0; whole--)
        for (int i = 0; i < 2 + conv->spatial; i++) {
            int64_t floor = smallest(&axes[i], plus(axes[i].least, whole * axes[i].period));
            shrink(conv, &axes[i], floor, gdnn_cpg(&before), gdnn_kpg(&before), macs);
        }
    if (gdnn_conv_equal(conv, &before))
        return false;
    gdnn_conv_set_layout(conv, layout);
    return true;
}
