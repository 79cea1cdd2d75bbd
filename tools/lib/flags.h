/* A command's options, from a table: parsing, messages and --help. */
#ifndef FLAGS_H
#define FLAGS_H

#include <stdbool.h>
#include <stdio.h>

/* The tool's exit statuses. */
enum tool_exit {
    EXIT_PASS = 0,
    EXIT_MISMATCH = 1,   /* a mismatch or a failure was found, or nothing was run */
    EXIT_USAGE = 2,      /* wrong words on the command line or in a file */
    EXIT_ENVIRONMENT = 3 /* no GPU, no build product, no space, ... */
};

/* One option: `--name VALUE` or `--name=VALUE`, or `--name` alone where `value` is NULL. */
typedef struct flag {
    const char *name;  /* without the dashes */
    const char *value; /* what the value is, for people */
    const char *help;  /* lines are broken where --help is printed */
    const char **text; /* gets the value */
    bool *set;         /* gets true; either may be NULL */
} flag;

typedef struct command {
    const char *name;
    const char *arguments; /* "FILE...|'PROBLEM'...", "" if it takes none */
    const char *help;      /* paragraphs, separated by newlines */
    const flag *flags;
    int flag_count;
    /* The command of another program: what follows the first argument belongs to it, options too. */
    bool runs;
    const char *statuses; /* the exit statuses, for --help; NULL: the tool's */
} command;

/* Reads argv[1] to argv[argc - 1]. What is no option is gathered, in order, at argv[0] on, and
 * counted in *arguments. -1: go on; else the exit status: EXIT_PASS after --help, which was
 * printed, or EXIT_USAGE. */
int flags_parse(const command *c, int argc, char **argv, int *arguments);

/* Says on standard error what is wrong: "groupdnn compare: ...". Returns EXIT_USAGE. */
int usage_error(const command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what the machine lacks. Returns EXIT_ENVIRONMENT. */
int environment_error(const command *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads a whole number from 0 to `largest`; false, after a message that names the option, if `text`
 * is none. */
bool flags_number(const command *c, const char *name, const char *text, unsigned long long largest,
                  unsigned long long *number);

/* Everything on standard output is written out: `status`, or EXIT_ENVIRONMENT after a message. */
int finish_output(const command *c, int status);

#endif
