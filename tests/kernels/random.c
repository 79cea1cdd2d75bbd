/* Random problems: whatever gdnn_check lets through, small. GDNN_TEST_SEED chooses others. */
#include "properties.h"

#include "problem.h"
#include "test.h"
#include <string.h>

/* Problems made for each kernel, layout and type, before those that are too large are left out. */
enum { PROBLEMS = 200 };

/* A stream of numbers from a seed. */
typedef struct dice {
    uint64_t seed, thrown;
} dice;

/* A number from `low` to `high`. */
static int64_t throw(dice * d, int64_t low, int64_t high)
{
    return low + (int64_t)(fill_bits(d->seed, 99, d->thrown++) % (uint64_t)(high - low + 1));
}

/* True once in `times`. */
static bool rarely(dice *d, int64_t times)
{
    return throw(d, 1, times) == 1;
}

static double scale(dice *d)
{
    static const double scales[] = {0, 1, -1, 0.5, 2, -0.75};
    return scales[throw(d, 0, 5)];
}

/* Sizes of one axis, such that there is an output. */
static void make_axis(dice *d, gdnn_conv *conv, int i)
{
    static const int64_t filters[] = {1, 1, 2, 3, 3, 3, 4, 5, 7};
    int64_t most = conv->spatial == 1 ? 40 : conv->spatial == 2 ? 11 : 5;
    conv->in[i] = throw(d, 1, most);
    conv->filter[i] = conv->spatial == 3 ? throw(d, 1, 3) : filters[throw(d, 0, 8)];
    conv->stride[i] = rarely(d, 2) ? 1 : throw(d, 1, 5);
    conv->dilation[i] = rarely(d, 2) ? 1 : throw(d, 1, 4);
    int64_t extent = (conv->filter[i] - 1) * conv->dilation[i] + 1;
    conv->pad[i] = rarely(d, 4) ? throw(d, 0, extent + 2) : throw(d, 0, extent / 2);
    conv->pad_after[i] = rarely(d, 2) ? conv->pad[i] : throw(d, 0, extent / 2);
    int64_t missing = extent - conv->in[i] - conv->pad[i] - conv->pad_after[i];
    if (missing > 0)
        conv->in[i] += missing;
}

/* Groups, and channels of a group: often the powers of two for which kernels are written. */
static void make_channels(dice *d, gdnn_conv *conv)
{
    int64_t cpg = 1, kpg = 1;
    if (!rarely(d, 3))
        cpg = rarely(d, 2) ? (int64_t)1 << throw(d, 1, 5) : throw(d, 1, 9);
    kpg = rarely(d, 3) ? throw(d, 1, 9) : cpg;
    conv->groups = rarely(d, 3) ? throw(d, 1, 40) : throw(d, 1, 5);
    conv->c = conv->groups * cpg;
    conv->k = conv->groups * kpg;
}

static void shuffle(dice *d, int *order, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = (int) throw(d, 0, i), swapped = order[i];
        order[i] = order[j], order[j] = swapped;
    }
}

/* Any order of the axes in memory, with or without gaps. */
static void scatter_axes(dice *d, const gdnn_conv *conv, tensor_name name, int64_t *stride)
{
    tensor t = tensor_of(conv, name);
    int order[] = {0, 1, 2, 3, 4};
    int64_t next = throw(d, 1, 2);
    shuffle(d, order, t.dims);
    for (int rank = 0; rank < t.dims; rank++) {
        stride[order[rank]] = next;
        next = next * t.size[order[rank]] + (rarely(d, 3) ? throw(d, 1, 5) : 0);
    }
}

static void make_problem(dice *d, const subject *s, gdnn_conv *conv)
{
    gdnn_conv_init(conv);
    conv->dir = s->kernel->dir;
    conv->dtype = s->dtype;
    conv->acc = s->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
    conv->mode = rarely(d, 3) ? GDNN_CONV : GDNN_XCORR;
    conv->spatial = (int) throw(d, 1, 8);
    conv->spatial = conv->spatial == 1 ? 1 : conv->spatial == 2 ? 3 : 2;
    conv->n = rarely(d, 4) ? throw(d, 1, 9) : throw(d, 1, 3);
    make_channels(d, conv);
    for (int i = 0; i < conv->spatial; i++)
        make_axis(d, conv, i);
    if (rarely(d, 3))
        conv->alpha = scale(d);
    if (rarely(d, 3))
        conv->beta = scale(d);
    if (conv->dir == GDNN_FWD) {
        conv->bias = rarely(d, 3);
        conv->z = rarely(d, 4);
        conv->alpha2 = scale(d);
        conv->act = rarely(d, 4) ? GDNN_ACT_RELU : GDNN_ACT_NONE;
    }
    assert_int_equal(gdnn_conv_set_layout(conv, s->layout), GDNN_OK);
    if (!s->kernel->any_strides || !rarely(d, 3))
        return;
    scatter_axes(d, conv, TENSOR_X, conv->x_stride);
    scatter_axes(d, conv, TENSOR_W, conv->w_stride);
    scatter_axes(d, conv, TENSOR_Y, conv->y_stride);
    scatter_axes(d, conv, TENSOR_Z, conv->z_stride);
}

void random_problems(subject *s)
{
    for (int i = 0; i < PROBLEMS; i++) {
        /* numbers of their own for each problem, so that one can be had without the others */
        dice d = {subject_seed() * 1000 + (uint64_t)i, 0};
        gdnn_conv conv;
        make_problem(&d, s, &conv);
        trial t = {.conv = &conv, .shift = rarely(&d, 4) ? (int) throw(&d, 1, 7) : 0};
        if (subject_work(s, &conv) <= SUBJECT_MOST_WORK)
            subject_try_trial(s, &t);
    }
}
