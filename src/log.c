#include "log.h"
#include "append.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Longer than any problem's text. A pipe takes up to 4096 bytes as a whole. */
#define LINE_SIZE 2048

static gdnn_append_file log_file = GDNN_APPEND_CLOSED;

/* `prefix` and the message as one line; its length. */
__attribute__((format(printf, 3, 0))) static size_t
make_line(char line[static LINE_SIZE], const char *prefix, const char *format, va_list arguments)
{
    size_t used = (size_t)snprintf(line, LINE_SIZE, "%s", prefix);
    int length = vsnprintf(line + used, LINE_SIZE - used, format, arguments);
    if (length < 0)
        return 0;
    char *end = line + used + length;
    if ((size_t)length >= LINE_SIZE - used) {
        end = line + LINE_SIZE - 1;
        memcpy(end - 3, "...", 3);
    }
    /* A line is a line: its values come from users. */
    for (char *p = line + used; p < end; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    *end++ = '\n';
    return (size_t)(end - line);
}

__attribute__((format(printf, 1, 0))) static void stderr_line(const char *format, va_list arguments)
{
    char line[LINE_SIZE];
    gdnn_append_write(STDERR_FILENO, line, make_line(line, "groupdnn: ", format, arguments));
}

void gdnn_log_stderr(const char *format, ...)
{
    int saved = errno;
    va_list arguments;
    va_start(arguments, format);
    stderr_line(format, arguments);
    va_end(arguments);
    errno = saved;
}

static void open_log(void)
{
    const char *file = gdnn_options_get()->log_file;
    char path[GDNN_APPEND_PATH];
    if (*file && !gdnn_append_open(&log_file, file, path))
        gdnn_log_stderr("GROUPDNN_LOG: cannot open %s: %m; nothing is logged", path);
}

__attribute__((format(printf, 1, 0))) static void log_line(const char *format, va_list arguments)
{
    int saved = errno;
    char prefix[40], line[LINE_SIZE];
    pthread_once(&log_file.once, open_log);
    if (!*gdnn_options_get()->log_file) {
        stderr_line(format, arguments);
    } else {
        snprintf(prefix, sizeof prefix, "groupdnn[%ld]: ", (long)getpid());
        size_t length = make_line(line, prefix, format, arguments);
        if (gdnn_append_loses(&log_file, line, length))
            gdnn_log_stderr("GROUPDNN_LOG: lines are lost: %m");
    }
    errno = saved;
}

bool gdnn_log_wants(gdnn_log_level level)
{
    return level != GDNN_LOG_OFF && level <= gdnn_options_get()->log;
}

void gdnn_log(gdnn_log_level level, const char *format, ...)
{
    if (!gdnn_log_wants(level))
        return;
    va_list arguments;
    va_start(arguments, format);
    log_line(format, arguments);
    va_end(arguments);
}

void gdnn_log_conv(gdnn_log_level level, const gdnn_conv *conv, const char *what,
                   const char *detail)
{
    char text[1024];
    if (!gdnn_log_wants(level))
        return;
    gdnn_conv_format(conv, text, sizeof text);
    gdnn_log(level, "%s: %s: %s", what, detail, text);
}

void gdnn_log_report(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_line(format, arguments);
    va_end(arguments);
}
