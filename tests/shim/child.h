/* Options are read once a process, and exit output needs an exit: cases run in children. */
#ifndef GDNN_TESTS_SHIM_CHILD_H
#define GDNN_TESTS_SHIM_CHILD_H

#include "unit.h"
#include <sys/wait.h>
#include <unistd.h>

/* Runs `body`, then exit(0) if it returns, in a child whose standard error ends up in `shown`. Returns the child's
 * status, as waitpid has it; *child, if not NULL, gets its process id. */
static inline int child_run(void (*body)(void), char *shown, size_t size, pid_t *child)
{
    int ends[2], status;
    size_t used = 0;
    ssize_t got;
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        body();
        exit(0);
    }
    close(ends[1]);
    while (used + 1 < size && (got = read(ends[0], shown + used, size - used - 1)) > 0)
        used += (size_t)got;
    shown[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(process, &status, 0), process);
    if (child)
        *child = process;
    return status;
}

/* Waits for a child of the caller's; 0 if it ended well. */
static inline int child_wait(pid_t process)
{
    int status;
    return process < 0 || waitpid(process, &status, 0) != process || status;
}

/* All of a file; "" if it cannot be read. */
static inline void read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (!file)
        return;
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* Lines of a text. */
static inline int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

#endif
