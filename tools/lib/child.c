#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 60 };

static void be_child(int to, void (*work)(void *context, char *answer, size_t size), void *context,
                     char *answer, size_t size)
{
    int nothing = open("/dev/null", O_RDWR);
    for (int stream = STDIN_FILENO; nothing >= 0 && stream <= STDERR_FILENO; stream++)
        dup2(nothing, stream);
    signal(SIGALRM, SIG_DFL);
    alarm(MOST_SECONDS);
    work(context, answer, size);
    size_t length = strlen(answer);
    for (size_t at = 0; at < length;) {
        ssize_t written = write(to, answer + at, length - at);
        if (written < 0 && errno != EINTR)
            break;
        at += written > 0 ? (size_t)written : 0;
    }
}

bool child_ask(void (*work)(void *context, char *answer, size_t size), void *context, char *answer,
               size_t size)
{
    int ends[2], status;
    size_t used = 0;
    ssize_t got;
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL); /* where it was ignored, children vanish unheard */
    answer[0] = 0;
    if (pipe2(ends, O_CLOEXEC)) {
        snprintf(answer, size, "no pipe: %s", strerror(errno));
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        be_child(ends[1], work, context, answer, size);
        _exit(0);
    }
    close(ends[1]);
    while (child > 0 && used + 1 < size) {
        got = read(ends[0], answer + used, size - used - 1);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        used += got > 0 ? (size_t)got : 0;
    }
    answer[used] = 0;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        snprintf(answer, size, "no child process: %s", strerror(errno));
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(answer, size, "it took longer than %d s", (int)MOST_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(answer, size, "it crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(answer, size, "it ended the process with status %d", WEXITSTATUS(status));
    return false;
}
