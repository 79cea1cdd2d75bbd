#include "tried.h"
#include "options.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void say(gdnn_tried *tried, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(tried->text + tried->used, sizeof tried->text - tried->used, format, arguments);
    va_end(arguments);
    size_t room = sizeof tried->text - 1 - tried->used;
    if (length > 0)
        tried->used += (size_t)length < room ? (size_t)length : room;
}

void gdnn_tried_add(gdnn_tried *tried, const char *path, const char *origin, const char *why)
{
    say(tried, "%s%s (%s) %s", tried->used ? "; " : "", path, origin, why);
}

/* Puts `text` before the places, which are cut at their end if need be. */
static void say_first(gdnn_tried *tried, const char *text)
{
    size_t length = strlen(text);
    memmove(tried->text + length, tried->text, sizeof tried->text - 1 - length);
    memcpy(tried->text, text, length);
}

void gdnn_tried_none(gdnn_tried *tried)
{
    if (*gdnn_options_get()->cudnn)
        say_first(
            tried,
            "cuDNN cannot be used; correct GROUPDNN_CUDNN, or unset it to have cuDNN searched "
            "for: ");
    else if (tried->used)
        say_first(tried,
                  "cuDNN cannot be used; set GROUPDNN_CUDNN to the absolute path of NVIDIA's "
                  "libcudnn.so.9. Tried: ");
    else
        say(tried,
            "cuDNN was not found; set GROUPDNN_CUDNN to the absolute path of NVIDIA's "
            "libcudnn.so.9. It is not among the loaded libraries, in their RPATH or RUNPATH, in "
            "nvidia/cudnn/lib beside them, in LD_LIBRARY_PATH, ld.so.cache or the default folders");
}
