/* The bits of a result depend on the problem and the data alone, and so does the number of
 * launches. */
#include "properties.h"

#include "problem.h"
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The emulated device reads it at every launch. */
static const char schedule[] = "GDNN_EMU_SCHEDULE";

static void run(const subject *s, const gdnn_conv *conv, trial_result *r)
{
    trial t = {.conv = conv, .seed = subject_seed()};
    subject_run(s, &t, r);
}

static void offer_again(subject *s, const char *text)
{
    static const char *const orders[] = {NULL, "fwd", "rev", "7", "8"}; /* NULL: as before */
    gdnn_conv conv = subject_conv(s, "%s", text);
    if (!subject_takes(s, &conv))
        return;
    trial_result first, again;
    run(s, &conv, &first);
    size_t bytes = (size_t)gdnn_elements(&conv, (gdnn_role)first.written) * sizeof(double);
    const char *before = getenv(schedule), *differs = NULL;
    char saved[32];
    snprintf(saved, sizeof saved, "%s", before ? before : "");
    for (size_t i = 0; i < sizeof orders / sizeof *orders && !differs; i++) {
        if (orders[i])
            setenv(schedule, orders[i], 1);
        run(s, &conv, &again);
        if (memcmp(first.got, again.got, bytes) != 0)
            differs = orders[i] ? orders[i] : "the same";
        trial_release(&again);
    }
    if (*saved)
        setenv(schedule, saved, 1);
    else
        unsetenv(schedule);
    trial_release(&first);
    if (differs)
        subject_fail(s, &conv, "two runs differ in their bits; the second had schedule %s",
                     differs);
}

/* Sums long enough for more than one thread, warp and chain. */
void repeatable(subject *s)
{
    offer_again(s, "n=2 c=6 in=6x7 k=6 filter=3x3 pad=1 groups=3");
    offer_again(s, "n=7 c=4 in=13x14 k=4 filter=3x3 pad=1 groups=4");
    offer_again(s, "n=3 c=16 in=7x7 k=16 filter=3x3 pad=1 groups=2 beta=1");
    offer_again(s, "n=3 c=16 in=9x9 k=16 filter=3x3 pad=1 groups=4 stride=2");
    offer_again(s, "n=3 c=3 in=300 k=3 filter=5 pad=2 groups=3");
    offer_again(s, "n=2 c=32 in=4x5 k=32 filter=1x1 groups=2");
    offer_again(s, "n=1 c=2 in=4x5x6 k=4 filter=2x3x2 groups=2");
}

/* Sample after sample alone, on the same data as in the batch. */
static void offer_batch(subject *s, const char *rest, int n)
{
    gdnn_conv conv = subject_conv(s, "n=%d %s", n, rest), one = subject_conv(s, "n=1 %s", rest);
    if (!subject_takes(s, &conv))
        return;
    trial_result all, alone;
    run(s, &conv, &all);
    tensor_name read = all.written == TENSOR_Y ? TENSOR_X : TENSOR_Y;
    int64_t in = gdnn_elements(&one, (gdnn_role)read);
    int64_t out = gdnn_elements(&one, (gdnn_role)all.written);
    int differs = -1;
    for (int i = 0; i < n && differs < 0; i++) {
        trial t = {.conv = &one, .seed = subject_seed()};
        t.given[read] = all.values[read] + i * in;
        subject_run(s, &t, &alone);
        if (memcmp(all.got + i * out, alone.got, (size_t)out * sizeof(double)) != 0)
            differs = i;
        trial_release(&alone);
    }
    trial_release(&all);
    if (differs >= 0)
        subject_fail(s, &conv, "sample %d alone has other bits than in the batch", differs);
}

void batch_invariant(subject *s)
{
    offer_batch(s, "c=6 in=5x6 k=6 filter=3x3 pad=1 groups=3", 3);
    offer_batch(s, "c=4 in=7x7 k=4 filter=3x3 pad=1 groups=4 stride=2", 5);
    offer_batch(s, "c=16 in=4x5 k=16 filter=3x3 pad=1 groups=2", 9);
    offer_batch(s, "c=2 in=37 k=2 filter=31 pad=15 groups=2", 4);
    offer_batch(s, "c=32 in=3x3 k=32 filter=1x1 groups=2", 17);
}

static void offer_launches(subject *s, int groups, int each)
{
    gdnn_conv conv = subject_conv(s, "n=1 c=%d in=2x2 k=%d filter=1x1 groups=%d", groups * each,
                                  groups * each, groups);
    if (!subject_takes(s, &conv))
        return;
    trial_result r;
    run(s, &conv, &r);
    int made = r.launches,
        most = conv.dir == GDNN_BWD_FILTER && subject_workspace(s, &conv) ? 2 : 1;
    trial_release(&r);
    if (made < 1 || made > most)
        subject_fail(s, &conv, "%d launches for %d groups: at most %d are allowed", made, groups,
                     most);
}

void launches(subject *s)
{
    offer_launches(s, 2, 1);
    offer_launches(s, 2, 8);
    offer_launches(s, 2, 16);
    offer_launches(s, 1000, 2);
    offer_launches(s, 10000, 1);
}
