/* Workspace: a kernel takes what it likes of what is on offer, and is right with any of it or declines. */
#include "properties.h"

#include "problem.h"

static void offer_less(subject *s, const char *text)
{
    gdnn_conv conv = subject_conv(s, "%s", text);
    int64_t before = s->offered_bytes, likes = subject_workspace(s, &conv);
    int64_t part = gdnn_elements(&conv, GDNN_ROLE_W) * (int64_t)sizeof(float);
    const int64_t offers[] = {0, 2 * part, 3 * part, likes / 2, likes - 1};
    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
        s->offered_bytes = offers[i];
        if (offers[i] >= 0)
            subject_try(s, &conv);
    }
    s->offered_bytes = before;
}

/* Sums of several images, slabs, strips and sub-grids. */
void workspaces(subject *s)
{
    offer_less(s, "n=2 c=6 in=6x7 k=6 filter=3x3 pad=1 groups=3");
    offer_less(s, "n=7 c=12 in=9x10 k=12 filter=3x3 pad=1 groups=12");
    offer_less(s, "n=3 c=4 in=40x9 k=4 filter=3x3 pad=1 groups=4 mode=conv beta=0.5 alpha=2");
    offer_less(s, "n=3 c=9 in=15x16 k=9 filter=3x3 pad=1 groups=9 stride=2");
    offer_less(s, "n=2 c=5 in=13x17 k=5 filter=3x3 pad=2 groups=5 dilation=2x3");
    offer_less(s, "n=5 c=8 in=11x12 k=8 filter=5x5 pad=2 groups=8");
    offer_less(s, "n=2 c=8 in=19x18 k=8 filter=5x5 pad=2 groups=8 stride=2");
    offer_less(s, "n=3 c=4 in=9x20 k=4 filter=7x7 pad=3 groups=4");
    offer_less(s, "n=3 c=4 in=21x13 k=4 filter=7x7 pad=3 groups=4 stride=2");
    offer_less(s, "n=3 c=4 in=30x15 k=4 filter=1x11 pad=0x5 groups=4");
    offer_less(s, "n=3 c=4 in=30x15 k=4 filter=11x1 pad=5x0 groups=4");
    offer_less(s, "n=1 c=2 in=320x30 k=2 filter=3x3 pad=1 groups=2");
    offer_less(s, "n=150 c=2 in=8x7 k=2 filter=3x3 pad=1 groups=2");
}
