#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longer than any problem's text. A pipe takes up to 4096 bytes as a whole. */
#define LINE_SIZE 2048

static int log_fd = -1; /* -1: nothing to log to */
static bool log_is_file;
static dev_t log_device;
static ino_t log_inode;
static pthread_once_t log_once = PTHREAD_ONCE_INIT;

/* Writes `prefix` and the message as one line. */
__attribute__((format(printf, 3, 0))) static void write_line(int fd, const char *prefix,
                                                             const char *format, va_list arguments)
{
    char line[LINE_SIZE];
    size_t used = (size_t)snprintf(line, sizeof line, "%s", prefix);
    int length = vsnprintf(line + used, sizeof line - used, format, arguments);
    if (length < 0)
        return;
    char *end = line + used + length;
    if ((size_t)length >= sizeof line - used) {
        end = line + sizeof line - 1;
        memcpy(end - 3, "...", 3);
    }
    /* A line is a line: its values come from users. */
    for (char *p = line + used; p < end; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    *end++ = '\n';
    ssize_t written;
    do
        written = write(fd, line, (size_t)(end - line));
    while (written < 0 && errno == EINTR);
}

void gdnn_log_stderr(const char *format, ...)
{
    int saved = errno;
    va_list arguments;
    va_start(arguments, format);
    write_line(STDERR_FILENO, "groupdnn: ", format, arguments);
    va_end(arguments);
    errno = saved;
}

/* The path with %p replaced by the process id; false if that is too long. */
static bool expand_path(const char *path, char *out, size_t size)
{
    size_t used = 0;
    while (*path && used < size) {
        if (path[0] == '%' && path[1] == 'p') {
            used += (size_t)snprintf(out + used, size - used, "%ld", (long)getpid());
            path += 2;
        } else {
            out[used++] = *path++;
        }
    }
    if (used >= size)
        return false;
    out[used] = '\0';
    return true;
}

/* A program that closes all descriptors, daemons do, may get ours for a file of its own. */
static bool still_ours(void)
{
    struct stat facts;
    return !fstat(log_fd, &facts) && facts.st_dev == log_device && facts.st_ino == log_inode;
}

/* A child opens the log anew: `%p` is its own number, and fork copies the descriptors before the memory, so that a
 * descriptor that another thread opened in between is known to the child but not open in it. */
static void forget_log(void)
{
    if (log_is_file && still_ours())
        close(log_fd);
    log_fd = -1;
    log_is_file = false;
    log_once = (pthread_once_t)PTHREAD_ONCE_INIT;
}

static void open_log(void)
{
    static bool watching_forks;
    if (!watching_forks)
        watching_forks = !pthread_atfork(NULL, NULL, forget_log);
    const char *file = gdnn_options_get()->log_file;
    char path[sizeof gdnn_options_get()->log_file + 64];
    struct stat facts;
    if (!*file) {
        log_fd = STDERR_FILENO;
        return;
    }
    if (!expand_path(file, path, sizeof path)) {
        gdnn_log_stderr("GROUPDNN_LOG: the name of the log file is too long; nothing is logged");
        return;
    }
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0 || fstat(fd, &facts)) {
        gdnn_log_stderr("GROUPDNN_LOG: cannot open %s: %m; nothing is logged", path);
        return;
    }
    log_device = facts.st_dev;
    log_inode = facts.st_ino;
    log_is_file = true;
    log_fd = fd;
}

bool gdnn_log_wants(gdnn_log_level level)
{
    return level != GDNN_LOG_OFF && level <= gdnn_options_get()->log;
}

void gdnn_log(gdnn_log_level level, const char *format, ...)
{
    if (!gdnn_log_wants(level))
        return;
    int saved = errno;
    pthread_once(&log_once, open_log);
    if (log_fd >= 0 && (!log_is_file || still_ours())) {
        char prefix[40] = "groupdnn: ";
        if (log_is_file)
            snprintf(prefix, sizeof prefix, "groupdnn[%ld]: ", (long)getpid());
        va_list arguments;
        va_start(arguments, format);
        write_line(log_fd, prefix, format, arguments);
        va_end(arguments);
    }
    errno = saved;
}
