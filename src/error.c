#include "error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Long enough for the longest message, the one that lists every key of the text form. */
#define ERROR_SIZE 1024

static _Thread_local char last_error[ERROR_SIZE];

gdnn_status gdnn_fail(gdnn_status status, const char *format, ...)
{
    /* Formatted aside first: an argument may be gdnn_last_error() itself. */
    char text[ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= sizeof text)
        memcpy(text + sizeof text - 4, "...", 4);
    /* Values come from users: a message stays on one line whatever they hold. */
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    memcpy(last_error, text, sizeof text);
    return status;
}

const char *gdnn_last_error(void)
{
    return last_error;
}

const char *gdnn_status_name(gdnn_status status)
{
    switch (status) {
    case GDNN_OK: return "ok";
    case GDNN_INVALID: return "invalid";
    case GDNN_UNSUPPORTED: return "unsupported";
    case GDNN_FAILED: return "failed";
    }
    return "unknown";
}

#define TEXT_OF(x)                   #x
#define VERSION(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *gdnn_version(void)
{
    return VERSION(GDNN_VERSION_MAJOR, GDNN_VERSION_MINOR, GDNN_VERSION_PATCH);
}
