#include "error.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long enough for the longest message, the one that lists every key of the text form. */
#define ERROR_SIZE 1024

/* A key instead of _Thread_local: a library that a program opens late has few bytes of the fast kind of thread-local
 * storage, and the slow kind needs the loader as a library. */
static pthread_key_t last_error;
static bool have_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    have_key = !pthread_key_create(&last_error, free);
}

/* This thread's text of ERROR_SIZE bytes; NULL if there is none, and memory for `wanted` is short. */
static char *text_of_thread(bool wanted)
{
    pthread_once(&key_once, make_key);
    if (!have_key)
        return NULL;
    char *text = pthread_getspecific(last_error);
    if (text || !wanted)
        return text;
    text = malloc(ERROR_SIZE);
    if (text && pthread_setspecific(last_error, text)) {
        free(text);
        text = NULL;
    }
    return text;
}

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
    char *kept = text_of_thread(true);
    if (kept)
        memcpy(kept, text, sizeof text);
    return status;
}

const char *gdnn_last_error(void)
{
    const char *text = text_of_thread(false);
    return text ? text : "";
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
