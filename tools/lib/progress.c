#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool shown;

void progress_show(int done, int all, const char *what)
{
    if (!isatty(STDERR_FILENO))
        return;
    progress_clear();
    fprintf(stderr, "%d/%d  %.60s", done, all, what);
    fflush(stderr);
    shown = true;
}

void progress_clear(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
