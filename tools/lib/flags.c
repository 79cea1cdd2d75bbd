#include "flags.h"

#include "columns.h"
#include "suggest.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 32 };

static void say(const command *c, const char *format, va_list arguments)
{
    char text[4096]; /* what is longer is cut */
    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    fprintf(stderr, "groupdnn %s: ", c->name);
    columns_text(stderr, text);
    fputc('\n', stderr);
}

int usage_error(const command *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(c, format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

int environment_error(const command *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(c, format, arguments);
    va_end(arguments);
    return EXIT_ENVIRONMENT;
}

/* No line of a help text is longer, and options' explanations begin in column HELP_AT. */
enum { HELP_WIDTH = 80, HELP_AT = 36 };

static void print_flag(const char *name, const char *value, const char *help)
{
    int used = printf("  --%s %s", name, value ? value : "");
    if (used + 1 < HELP_AT)
        printf("%*s", HELP_AT - used, "");
    else
        printf("\n%*s", HELP_AT, "");
    columns_wrapped(stdout, help, HELP_AT, HELP_AT, HELP_WIDTH);
}

static void print_help(const command *c)
{
    printf("usage: groupdnn %s [OPTION]...%s%s\n\n", c->name, *c->arguments ? " " : "",
           c->arguments);
    columns_wrapped(stdout, c->help, 0, 0, HELP_WIDTH);
    putchar('\n');
    for (int i = 0; i < c->flag_count; i++)
        print_flag(c->flags[i].name, c->flags[i].value, c->flags[i].help);
    print_flag("help", NULL, "this text");
    putchar('\n');
    columns_wrapped(stdout,
                    c->statuses ? c->statuses
                                : "Exit status: 0 pass, 1 mismatch or failure found, or nothing "
                                  "was run, 2 wrong usage, 3 the machine lacks something.",
                    0, 0, HELP_WIDTH);
}

static int unknown(const command *c, const char *option)
{
    const char *names[MOST_FLAGS + 1] = {"help"};
    int count = 1;
    for (int i = 0; i < c->flag_count; i++)
        names[count++] = c->flags[i].name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(option + 2, "="), option + 2);
    const char *near = suggest(word, names, count);
    if (near && option[1] == '-')
        return usage_error(c, "there is no option %s; did you mean --%s?", option, near);
    return usage_error(c, "there is no option %s; see groupdnn %s --help", option, c->name);
}

/* Reads one option at *at; moves *at past its value. -1: go on. */
static int read_flag(const command *c, int argc, char **argv, int *at)
{
    const char *option = argv[*at];
    size_t length = strcspn(option, "=");
    const char *joined = option[length] ? option + length + 1 : NULL;
    for (int i = 0; i < c->flag_count; i++) {
        const flag *f = &c->flags[i];
        if (strlen(f->name) != length - 2 || strncmp(option + 2, f->name, length - 2) != 0)
            continue;
        if (!f->value && joined)
            return usage_error(c, "--%s takes no value, but has '%s'", f->name, joined);
        if (f->value && !joined && *at + 1 >= argc)
            return usage_error(c, "--%s needs a value: %s", f->name, f->value);
        if (f->value && f->text)
            *f->text = joined ? joined : argv[++*at];
        if (f->set)
            *f->set = true;
        return -1;
    }
    return unknown(c, option);
}

int flags_parse(const command *c, int argc, char **argv, int *arguments)
{
    bool options = true;
    *arguments = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (options && (!strcmp(word, "--help") || !strcmp(word, "-h"))) {
            print_help(c);
            return finish_output(c, EXIT_PASS);
        }
        if (options && !strcmp(word, "--")) {
            options = false;
        } else if (options && word[0] == '-' && word[1] == '-') {
            int status = read_flag(c, argc, argv, &i);
            if (status >= 0)
                return status;
        } else if (options && word[0] == '-' && word[1]) { /* - alone is an argument */
            return usage_error(c, "there is no option %s; see groupdnn %s --help", word, c->name);
        } else {
            argv[(*arguments)++] = argv[i];
            options = options && !c->runs;
        }
    }
    if (*arguments && !*c->arguments)
        return usage_error(c, "'%s': this command takes no arguments", argv[0]);
    return -1;
}

bool flags_number(const command *c, const char *name, const char *text, unsigned long long largest,
                  unsigned long long *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *number <= largest)
        return true;
    usage_error(c, "--%s %s: must be a whole number from 0 to %llu", name, text, largest);
    return false;
}

int finish_output(const command *c, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    return environment_error(c, "standard output: not everything could be written");
}
