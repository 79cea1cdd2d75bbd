#include "progress.h"

#include "columns.h"
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool shown;

void progress_show(int done, int all, const char *what)
{
    if (!isatty(STDERR_FILENO))
        return;
    progress_clear();
    char start[61];
    snprintf(start, sizeof start, "%s", what);
    fprintf(stderr, "%d/%d  ", done, all);
    columns_text(stderr, start);
    fflush(stderr);
    shown = true;
}

void progress_clear(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
