#include "report.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int calls;
static char last_text[1024];

static void end_line(void)
{
    if (calls > 0)
        printf(" \"%s\"\n", last_text);
}

cudnnStatus_t report(const char *call, const char *what, cudnnStatus_t status)
{
    end_line();
    calls++;
    printf("%d %.*s (%s): %d %s", calls, (int)strcspn(call, "("), call, what, (int)status,
           cudnnGetErrorString(status));
    memset(last_text, 0, sizeof last_text);
    cudnnGetLastErrorString(last_text, sizeof last_text);
    for (char *p = last_text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    return status;
}

void show(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    putchar(' ');
    vprintf(format, arguments);
    va_end(arguments);
}

void show_ints(const char *name, const int *values, int count)
{
    printf(" %s=", name);
    for (int i = 0; i < count; i++)
        printf("%s%d", i ? "," : "", values[i]);
}

int report_end(void)
{
    end_line();
    return calls;
}
