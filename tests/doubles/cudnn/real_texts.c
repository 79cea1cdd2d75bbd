/* The last error's text in the flavour `real`: the double's or NVIDIA's, whichever came later. */
#include "double.h"
#include "passthrough.h"
#include "texts.h"
#include <stdio.h>

void forget_real_text(void)
{
    char earlier[16];
    real_last_text(earlier, sizeof earlier);
}

/* NVIDIA's text is forgotten, so that what it has when it is asked for is the later one. */
cudnnStatus_t fail(cudnnStatus_t status, const char *text)
{
    forget_real_text();
    keep_text(text);
    return status;
}

void cudnnGetLastErrorString(char *text, size_t size)
{
    char ours[512];
    take_text(ours, sizeof ours);
    if (!text || !size)
        return;
    text[0] = '\0';
    real_last_text(text, size);
    if (!text[0])
        snprintf(text, size, "%s", ours);
}
