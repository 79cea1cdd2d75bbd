/* Problems whose result is known exactly. */
#include "properties.h"

#include "half.h"
#include "problem.h"
#include "test.h"
#include <stdlib.h>

/* With small integers every product and sum is exact in float32: only the last rounding is left,
 * and it has one right answer. */
static void offer_integers(subject *s, const char *text)
{
    gdnn_conv conv = subject_conv(s, "%s", text);
    if (!subject_takes(s, &conv))
        return;
    trial t = {.conv = &conv, .seed = subject_seed(), .fill = FILL_INTEGERS};
    trial_result r;
    subject_run(s, &t, &r);
    int64_t count = gdnn_elements(&conv, (gdnn_role)r.written), wrong = 0;
    while (wrong < count && r.got[wrong] == gdnn_round_to(conv.dtype, r.ref[wrong]))
        wrong++;
    double got = wrong < count ? r.got[wrong] : 0, ref = wrong < count ? r.ref[wrong] : 0;
    trial_release(&r);
    if (wrong < count)
        subject_fail(s, &conv, "element %lld is %g and not exactly %g", (long long)wrong, got, ref);
}

void exact_integers(subject *s)
{
    offer_integers(s, "n=2 c=6 in=6x5 k=6 filter=3x3 pad=1 groups=3");
    offer_integers(s, "n=2 c=4 in=9x9 k=4 filter=3x3 pad=1 groups=4 stride=2");
    offer_integers(s, "n=1 c=8 in=6x6 k=8 filter=3x3 pad=1 groups=2 beta=2 alpha=3");
    offer_integers(s, "n=1 c=16 in=5x6 k=16 filter=3x3 pad=1 groups=2");
    offer_integers(s, "n=1 c=32 in=4x4 k=32 filter=3x3 pad=1 groups=2");
    offer_integers(s, "n=1 c=3 in=9x9 k=3 filter=7x7 pad=3 groups=3");
    offer_integers(s, "n=2 c=32 in=3x4 k=16 filter=1x1 groups=2");
    offer_integers(s, "n=3 c=2 in=40 k=2 filter=31 pad=15 groups=2");
    offer_integers(s, "n=1 c=4 in=4x5x6 k=4 filter=3x3x3 pad=1 groups=2 stride=1x2x1");
    if (s->kernel->dir == GDNN_FWD) {
        offer_integers(s,
                       "n=2 c=6 in=6x5 k=6 filter=3x3 pad=1 groups=3 bias=1 z=1 alpha2=2 act=relu");
        offer_integers(s, "n=2 c=4 in=6x5 k=4 filter=3x3 pad=1 groups=4 bias=1 z=1 beta=-1");
    }
}

/* `expected`, repeated for each of the planes that the direction writes. */
static void offer_ones(subject *s, const char *text, const double *expected, int plane)
{
    gdnn_conv conv = subject_conv(s, "%s", text);
    if (!subject_takes(s, &conv))
        return;
    trial t = {.conv = &conv, .seed = 1, .fill = FILL_ONES};
    trial_result r;
    subject_run(s, &t, &r);
    int64_t count = gdnn_elements(&conv, (gdnn_role)r.written), wrong = 0;
    while (wrong < count && r.got[wrong] == expected[wrong % plane])
        wrong++;
    double got = wrong < count ? r.got[wrong] : 0;
    trial_release(&r);
    if (count % plane || wrong < count)
        subject_fail(s, &conv, "of all ones, element %lld is %g and should be %g", (long long)wrong,
                     got, expected[wrong % plane]);
}

/* Counted by hand: for each element the pairs of a tap and an output that meet inside of x. */
void exact_ones(subject *s)
{
    static const double same_4x4[] = {4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4};
    static const double twice[] = {8, 12, 12, 8, 12, 18, 18, 12, 12, 18, 18, 12, 8, 12, 12, 8};
    /* 6x6 to 3x3, stride 2, pad 1: the first row and column of taps meet one padding each */
    static const double filter_6x6[] = {4, 6, 6, 6, 9, 9, 6, 9, 9};
    static const double filter_same_4x4[] = {9, 12, 9, 12, 16, 12, 9, 12, 9};
    static const double out_6x6[] = {4, 6, 6, 6, 9, 9, 6, 9, 9};
    /* along an axis of 6 the outputs that reach input i: 1 for even i, 2 for odd i but 1 for the
     * last */
    static const double data_6x6[] = {1, 2, 1, 2, 1, 1, 2, 4, 2, 4, 2, 2, 1, 2, 1, 2, 1, 1,
                                      2, 4, 2, 4, 2, 2, 1, 2, 1, 2, 1, 1, 1, 2, 1, 2, 1, 1};
    static const char *const halves[] = {
        "n=1 c=23 in=6x6 k=23 filter=3x3 stride=2 pad=1 groups=23",
        "n=1 c=24 in=6x6 k=24 filter=3x3 stride=2 pad=1 groups=24",
        "n=1 c=25 in=6x6 k=25 filter=3x3 stride=2 pad=1 groups=25"};
    const double *expected[] = {out_6x6, data_6x6, filter_6x6};
    gdnn_dir dir = s->kernel->dir;
    for (int i = 0; i < 3; i++)
        offer_ones(s, halves[i], expected[dir], dir == GDNN_BWD_DATA ? 36 : 9);

    const double *same[] = {same_4x4, same_4x4, filter_same_4x4};
    int plane = dir == GDNN_BWD_FILTER ? 9 : 16;
    offer_ones(s, "n=1 c=5 in=4x4 k=5 filter=3x3 pad=1 groups=5", same[dir], plane);
    offer_ones(s, "n=1 c=6 in=4x4 k=6 filter=3x3 pad=1 groups=3",
               dir == GDNN_BWD_FILTER ? filter_same_4x4 : twice, plane);
}
