#include "append.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static _Atomic(gdnn_append_file *) opened;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

static void forget_files(void)
{
    for (gdnn_append_file *file = atomic_load(&opened); file; file = file->next) {
        if (gdnn_append_ready(file))
            close(file->fd);
        file->fd = -1;
        file->once = (pthread_once_t)PTHREAD_ONCE_INIT;
    }
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_files);
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
    if (used < size)
        out[used] = '\0';
    return used < size;
}

/* Listed before it is open, so that a child forked in between closes nothing and forgets all. */
static void list(gdnn_append_file *file)
{
    pthread_once(&watch_once, watch_forks);
    if (file->listed)
        return;
    file->listed = true;
    file->next = atomic_load(&opened);
    while (!atomic_compare_exchange_weak(&opened, &file->next, file))
        continue;
}

bool gdnn_append_open(gdnn_append_file *file, const char *path, char shown[GDNN_APPEND_PATH])
{
    struct stat facts;
    list(file);
    if (!expand_path(path, shown, GDNN_APPEND_PATH)) {
        snprintf(shown, GDNN_APPEND_PATH, "%s", path);
        errno = ENAMETOOLONG;
        return false;
    }
    /* Not to wait for somebody who reads, where this is a pipe that nobody does. */
    int fd = open(shown, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (fd < 0)
        return false;
    if (fstat(fd, &facts) || fcntl(fd, F_SETFL, O_APPEND)) {
        close(fd);
        return false;
    }
    file->device = facts.st_dev;
    file->inode = facts.st_ino;
    file->fd = fd;
    return true;
}

bool gdnn_append_ready(const gdnn_append_file *file)
{
    struct stat facts;
    return file->fd >= 0 && !fstat(file->fd, &facts) && facts.st_dev == file->device &&
           facts.st_ino == file->inode;
}

bool gdnn_append_write(int fd, const char *line, size_t length)
{
    sigset_t fatal, before, pending;
    sigemptyset(&fatal);
    sigemptyset(&pending);
    sigaddset(&fatal, SIGPIPE);
    sigaddset(&fatal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &fatal, &before);
    sigpending(&pending);
    ssize_t written;
    do
        written = write(fd, line, length);
    while (written < 0 && errno == EINTR);
    /* The signal is for this thread and waits here; one that waited before is not ours to take. */
    int raised = written >= 0 ? 0 : errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;
    if (raised && !sigismember(&pending, raised)) {
        sigset_t ours;
        sigemptyset(&ours);
        sigaddset(&ours, raised);
        while (sigtimedwait(&ours, NULL, &(struct timespec){0, 0}) < 0 && errno == EINTR)
            continue;
    }
    int error = written < 0 ? errno : ENOSPC; /* what else cuts a line short */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written == (ssize_t)length;
}

bool gdnn_append_loses(gdnn_append_file *file, const char *line, size_t length)
{
    return gdnn_append_ready(file) && !gdnn_append_write(file->fd, line, length) &&
           !atomic_exchange(&file->lost, true);
}
