/* NaN and infinities: the result must have them exactly where the float64 reference has them, so
 * never in another group, another sample, or by way of a tap that only meets padding. The
 * comparison itself sees to that: a value that is not finite must be of the same kind on both
 * sides. */
#include "properties.h"

#include "problem.h"
#include "test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double kinds[] = {NAN, INFINITY, -INFINITY};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double *values_of(const gdnn_conv *conv, tensor_name name, int64_t *count)
{
    tensor t = tensor_of(conv, name);
    *count = tensor_elements(&t);
    double *values = malloc((size_t)*count * sizeof *values);
    assert_non_null(values);
    fill_values(values, *count, FILL_UNIFORM, subject_seed(), (fill_stream)name, conv->dtype);
    return values;
}

/* One value at a time: the corners, both sides of every border between groups, and some in
 * between. */
static bool interesting(const gdnn_conv *conv, tensor_name name, int64_t count, int64_t i)
{
    tensor t = tensor_of(conv, name);
    int64_t plane = 1, last = count - 1;
    for (int axis = 2; axis < t.dims; axis++)
        plane *= t.size[axis];
    if (name == TENSOR_W) /* every tap of the first and of the last filter */
        return i < plane || i > last - plane;
    int64_t group = (t.size[1] / conv->groups) * plane;
    return i == 0 || i == last || i % group == 0 || i % group == group - 1 || i % 37 == 20;
}

static const char *const problems[] = {
    "n=2 c=6 in=4x5 k=6 filter=3x3 pad=1 groups=3",
    "n=1 c=4 in=2x2 k=4 filter=5x5 pad=2 groups=4",
    "n=1 c=4 in=7x8 k=4 filter=3x3 pad=2 groups=2 stride=2 dilation=2",
    "n=1 c=2 in=5x5 k=4 filter=3x3 pad=4 groups=2 mode=conv",
    "n=1 c=8 in=5x6 k=8 filter=3x3 pad=1 groups=8",
    "n=1 c=16 in=4x5 k=16 filter=3x3 pad=1 groups=4",
    "n=1 c=16 in=4x5 k=16 filter=3x3 pad=1 groups=2",
    "n=1 c=16 in=3x4 k=16 filter=1x1 groups=2",
    "n=2 c=2 in=11 k=2 filter=4 pad=3 pad_after=0 groups=2",
    "n=1 c=2 in=6x7 k=2 filter=2x2 groups=2 stride=3",
    "n=2 c=3 in=6x7 k=3 filter=3x3 pad=1 groups=3 stride=2",
    "n=1 c=4 in=7x6 k=4 filter=5x5 pad=1x2 groups=4 stride=2 mode=conv",
    "n=1 c=2 in=7x8 k=2 filter=7x7 pad=3 groups=2",
    "n=1 c=2 in=3x9 k=2 filter=1x11 pad=0x5 groups=2",
    "n=1 c=2 in=9x7 k=2 filter=11x1 pad=5x0 groups=2",
};

void nonfinite_inputs(subject *s)
{
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        gdnn_conv conv = subject_conv(s, "%s", problems[p]);
        if (subject_work(s, &conv) > SUBJECT_MOST_WORK / 8)
            continue;
        for (tensor_name name = TENSOR_X; name <= TENSOR_Y; name++) {
            if ((gdnn_role)name == gdnn_written(conv.dir))
                continue;
            int64_t count;
            double *values = values_of(&conv, name, &count);
            for (int64_t i = 0; i < count; i++) {
                double finite = values[i];
                if (!interesting(&conv, name, count, i))
                    continue;
                values[i] = kinds[(uint64_t)i % KINDS];
                trial t = {.conv = &conv, .seed = subject_seed()};
                t.given[name] = values;
                subject_try_trial(s, &t);
                values[i] = finite;
            }
            free(values);
        }
    }
}

static void offer_filled(subject *s, tensor_name name, const char *text)
{
    gdnn_conv conv = subject_conv(s, "%s", text);
    int64_t count;
    double *values = values_of(&conv, name, &count);
    for (int64_t i = 0; i < count; i++)
        values[i] = kinds[(uint64_t)i % KINDS];
    trial t = {.conv = &conv, .seed = subject_seed()};
    t.given[name] = values;
    subject_try_trial(s, &t);
    free(values);
}

/* What is scaled by 0 is not read. A prior that beta scales is, whatever it holds. (With beta == 0
 * every test has a prior of NaN; here the factor 0 comes with other signs and with z.) */
void nonfinite_prior(subject *s)
{
    tensor_name written = (tensor_name)gdnn_written(s->kernel->dir);
    const char *rest = "n=1 c=4 in=4x5 k=4 filter=3x3 pad=1 groups=2";
    char text[128];
    snprintf(text, sizeof text, "%s beta=0", rest);
    offer_filled(s, written, text);
    snprintf(text, sizeof text, "%s beta=-0", rest);
    offer_filled(s, written, text);
    snprintf(text, sizeof text, "%s beta=0.5", rest);
    offer_filled(s, written, text);
    if (s->kernel->dir != GDNN_FWD)
        return;
    snprintf(text, sizeof text, "%s z=1 alpha2=0", rest);
    offer_filled(s, TENSOR_Z, text);
    snprintf(text, sizeof text, "%s z=1 alpha2=-0 bias=1", rest);
    offer_filled(s, TENSOR_Z, text);
    snprintf(text, sizeof text, "%s z=1 alpha2=0.5", rest);
    offer_filled(s, TENSOR_Z, text);
}

/* A NaN is not below zero: relu keeps it. */
void nonfinite_epilogue(subject *s)
{
    static const char *const rest[] = {"act=relu", "act=relu bias=1", "act=relu z=1", "z=1 bias=1",
                                       "act=relu z=1 bias=1 alpha=-1 alpha2=-2 beta=1"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        for (tensor_name name = TENSOR_X; name < TENSORS; name++) {
            char text[160];
            snprintf(text, sizeof text, "n=1 c=4 in=4x5 k=4 filter=3x3 pad=1 groups=4 %s", rest[i]);
            gdnn_conv conv = subject_conv(s, "%s", text);
            if (tensor_used(&conv, name) && (name != TENSOR_Y || conv.beta != 0))
                offer_filled(s, name, text);
        }
}
