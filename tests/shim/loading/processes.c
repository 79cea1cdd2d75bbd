/* A program that makes processes: processes MODE FUNCTION...
 *
 * Whoever is to call cuDNN calls the functions, with zeros, in this order. The first returns the
 * version of cuDNN. Exit status 0 if every process got one.
 *
 *   call               this process calls, once
 *   fork-before        a child calls, then this process
 *   fork-after         this process calls, then a child
 *   fork-meanwhile     a thread calls, and others fork children that call
 *   vfork, spawn       a new program that calls
 *   exec               this process becomes one
 */
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 10, CHILD_SECONDS = 20 };

extern char **environ;
static char **functions; /* NULL behind the last */

static size_t call_one(const char *name)
{
    size_t (*function)(size_t, size_t, size_t, size_t, size_t, size_t);
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (!symbol) {
        fprintf(stderr, "processes: %s is not there\n", name);
        _exit(3);
    }
    memcpy(&function, &symbol, sizeof function);
    return function(0, 0, 0, 0, 0, 0);
}

static size_t call_all(void)
{
    size_t first = call_one(functions[0]);
    for (int i = 1; functions[i]; i++)
        call_one(functions[i]);
    return first;
}

/* True if the child ends well. */
static int ends_well(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 0;
    if (WIFSIGNALED(status))
        fprintf(stderr, "processes: a child died of signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fprintf(stderr, "processes: a child ended with status %d\n", WEXITSTATUS(status));
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* A child that calls and expects `version`, unless that is 0. */
static pid_t fork_one(size_t version)
{
    pid_t child = fork();
    if (child)
        return child;
    alarm(CHILD_SECONDS);
    size_t got = call_all();
    /* exit, not _exit: what the library left for then runs too. */
    exit(got && (!version || got == version) ? 0 : 4);
}

static void *keep_calling(void *unused)
{
    (void)unused;
    return (void *)call_all();
}

/* At first in quick succession, then less so. */
static void *keep_forking(void *unused)
{
    (void)unused;
    pid_t children[FORKS];
    size_t well = 0;
    for (int i = 0; i < FORKS; i++) {
        usleep((useconds_t)i * 1000);
        children[i] = fork_one(0);
    }
    for (int i = 0; i < FORKS; i++)
        well += (size_t)ends_well(children[i]);
    return (void *)well;
}

static int fork_meanwhile(void)
{
    pthread_t caller, forker;
    void *version, *well;
    if (pthread_create(&caller, NULL, keep_calling, NULL) ||
        pthread_create(&forker, NULL, keep_forking, NULL))
        return 0;
    pthread_join(forker, &well);
    pthread_join(caller, &version);
    return version && (size_t)well == FORKS;
}

static pid_t start(const char *mode, char **arguments)
{
    pid_t child = -1;
    if (!strcmp(mode, "spawn"))
        return posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) ? -1 : child;
    child = !strcmp(mode, "vfork") ? vfork() : 0;
    if (!child) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    return child;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *mode = argv[1];
    functions = argv + 2;
    if (!strcmp(mode, "call"))
        return call_all() ? 0 : 4;
    if (!strcmp(mode, "fork-before"))
        return ends_well(fork_one(0)) && call_all() ? 0 : 5;
    if (!strcmp(mode, "fork-after")) {
        size_t version = call_all();
        return version && ends_well(fork_one(version)) ? 0 : 5;
    }
    if (!strcmp(mode, "fork-meanwhile"))
        return fork_meanwhile() ? 0 : 5;
    argv[1] = "call";
    return ends_well(start(mode, argv)) ? 0 : 5;
}
