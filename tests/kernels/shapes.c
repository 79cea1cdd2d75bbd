/* The properties whose cases are listed, in cases.def. */
#include "properties.h"

#include <string.h>

static const struct {
    const char *property, *text;
} cases[] = {
#define GDNN_CASE(property, text) {#property, text},
#include "cases.def"
#undef GDNN_CASE
};

static void offer(subject *s, const char *property)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].property, property) != 0)
            continue;
        gdnn_conv conv = subject_conv(s, "%s", cases[i].text);
        subject_try(s, &conv);
    }
}

#define SHAPES(property)                                                                           \
    void shapes_##property(subject *s)                                                             \
    {                                                                                              \
        offer(s, #property);                                                                       \
    }
SHAPES(1x1)
SHAPES(filters)
SHAPES(pads)
SHAPES(strides)
SHAPES(dilations)
SHAPES(both)
SHAPES(axes)
SHAPES(groups)
SHAPES(long)
SHAPES(flipped)
SHAPES(scales)
SHAPES(epilogue)
SHAPES(known_bugs)
SHAPES(large)
