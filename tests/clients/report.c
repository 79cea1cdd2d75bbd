#include "report.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int calls, open_line;
static char last_text[1024];

static void end_line(void)
{
    if (open_line)
        printf(" \"%s\"\n", last_text);
    open_line = 0;
}

cudnnStatus_t report(const char *call, const char *what, cudnnStatus_t status)
{
    end_line();
    calls++;
    open_line = 1;
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

void remark(const char *format, ...)
{
    va_list arguments;
    end_line();
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
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
