#include "groupdnn.h"
#include "columns.h"
#include "commands.h"
#include "flags.h"
#include "suggest.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
#define GDNN_COMMAND(name, help) {#name, help, cmd_##name},
#include "commands.def"
#undef GDNN_COMMAND
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out)
{
    fputs("usage: groupdnn COMMAND [OPTION]... [ARGUMENT]...\n"
          "\n"
          "Grouped convolutions with CUDA kernels of their own. The commands:\n"
          "\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputs("\n"
          "groupdnn COMMAND --help tells about one; --version says which version this is.\n",
          out);
}

static int unknown(const char *word)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = suggest(word, names, COMMANDS);
    fprintf(stderr, "groupdnn: there is no %s ", word[0] == '-' ? "option" : "command");
    columns_text(stderr, word);
    if (near)
        fprintf(stderr, "; did you mean %s?\n", near);
    else
        fputs("; see groupdnn --help\n", stderr);
    return EXIT_USAGE;
}

static int finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_PASS;
    fputs("groupdnn: standard output: not everything could be written\n", stderr);
    return EXIT_ENVIRONMENT;
}

static int run(int argc, char **argv)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(argv[0], commands[i].name))
            return commands[i].run(argc, argv);
    return unknown(argv[0]);
}

static int help(const char *command)
{
    if (command)
        return run(2, (char *[]){(char *)command, (char *)"--help", NULL});
    print_help(stdout);
    return finish();
}

/* A file must not get the number of a standard stream that the caller closed: what is meant for the
 * stream would go into it. Those numbers are given away so that using the stream still fails. */
static bool occupy_standard_streams(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        if (fcntl(number, F_GETFD) < 0 &&
            open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY) != number)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    if (!occupy_standard_streams()) {
        fprintf(stderr, "groupdnn: a standard stream is closed, and /dev/null: %s\n",
                strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return help(argv[2]);
    if (!strcmp(argv[1], "--version")) {
        printf("groupdnn %s\n", gdnn_version());
        return finish();
    }
    return run(argc - 1, argv + 1);
}
