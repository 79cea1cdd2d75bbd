#include "commands.h"
#include "cudnn.h"
#include "dropin.h"
#include "flags.h"
#include "misspelt.h"
#include "options.h"
#include "program.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Statuses of env(1), nohup(1) and shells for a command that does not start. */
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* A flag for every option of the environment, in the order of options.def. */
enum {
#define GDNN_OPTION(field, variable, kind, values, fallback, help) OPTION_##field,
#include "options.def"
#undef GDNN_OPTION
    OPTIONS
};

static const char *const variables[] = {
#define GDNN_OPTION(field, variable, kind, values, fallback, help) variable,
#include "options.def"
#undef GDNN_OPTION
};

/* As typed, and then as the command gets them. */
static const char *texts[OPTIONS];
static bool on[OPTIONS];

#define NAMED_WORD(values) values
#define NAMED_LOG(values)  values
#define NAMED_PATH(values) "FILE"
#define NAMED_FILE(values) "FILE"
#define NAMED_LIST(values) values
#define NAMED_TEXT(values) values
#define NAMED_FLAG(values) NULL /* --stats, and no value */

static const flag flags[] = {
#define GDNN_OPTION(field, variable, kind, values, fallback, help)                                 \
    {#field, NAMED_##kind(values), help, &texts[OPTION_##field], &on[OPTION_##field]},
#include "options.def"
#undef GDNN_OPTION
};

static const command face = {
    .name = "run",
    .arguments = "[--] COMMAND [ARGUMENT]...",
    .help =
        "Runs a command with groupdnn's libcudnn.so.9 in front of NVIDIA's, by LD_PRELOAD, for "
        "it and the processes that it starts. The options set the variables of the same names: "
        "--mode is GROUPDNN_MODE. A FILE may be relative to this folder.\n"
        "If the real cuDNN that the command would get has functions that this drop-in does not "
        "know, that is said, and the command runs without it.\n"
        "Programs that are setuid or statically linked, or that open cuDNN by an absolute path, "
        "are not reached. With --stats every process that the drop-in is reached in says so at "
        "its end.",
    .flags = flags,
    .flag_count = sizeof flags / sizeof flags[0],
    .runs = true,
    .statuses = "Exit status: the command's. If it does not start: 127 there is no such command, "
                "126 it cannot be executed, 2 wrong usage, 3 the drop-in is missing.",
};

/* The values that the command line gives, as an environment. */
static const char *from_flags(const char *variable, void *context)
{
    (void)context;
    for (int i = 0; i < OPTIONS; i++)
        if (!strcmp(variable, variables[i]))
            return texts[i] ? texts[i] : on[i] ? "1" : NULL;
    return NULL;
}

static const char *flag_of(const char *variable)
{
    int i = 0;
    while (strcmp(variable, variables[i]) != 0)
        i++;
    return flags[i].name;
}

static void refuse(const gdnn_option_fault *fault, void *context)
{
    *(int *)context =
        usage_error(&face, "--%s %s: %s", flag_of(fault->variable), fault->value, fault->wrong);
}

/* Makes `value`, from its byte `at` on a file's name, one that does not depend on the folder: the command may work in
 * others. `room` is where it may be put. */
static const char *absolute(const char *value, size_t at, char room[2 * PATH_MAX])
{
    char folder[PATH_MAX];
    const char *file = value + at;
    if (!*file || *file == '/' || !getcwd(folder, sizeof folder))
        return value;
    int length = snprintf(room, 2 * PATH_MAX, "%.*s%s/%s", (int)at, value, folder, file);
    return length < 2 * PATH_MAX ? room : value;
}

static void make_absolute(void)
{
    static char cudnn[2 * PATH_MAX], trace[2 * PATH_MAX], log[2 * PATH_MAX];
    const char *colon = texts[OPTION_log] ? strchr(texts[OPTION_log], ':') : NULL;
    if (texts[OPTION_cudnn])
        texts[OPTION_cudnn] = absolute(texts[OPTION_cudnn], 0, cudnn);
    if (texts[OPTION_trace])
        texts[OPTION_trace] = absolute(texts[OPTION_trace], 0, trace);
    if (colon)
        texts[OPTION_log] =
            absolute(texts[OPTION_log], (size_t)(colon + 1 - texts[OPTION_log]), log);
}

/* Puts the options into the environment; EXIT_PASS unless one is wrong. */
static int set_options(void)
{
    gdnn_options checked;
    int code = EXIT_PASS;
    make_absolute();
    for (int i = 0; i < OPTIONS; i++)
        if (texts[i] && !*texts[i])
            code = usage_error(&face, "--%s: the value is empty", flags[i].name);
    gdnn_options_read(&checked, from_flags, refuse, &code);
    if (code != EXIT_PASS)
        return code;
    for (int i = 0; i < OPTIONS; i++) {
        const char *value = from_flags(variables[i], NULL);
        if (value && setenv(variables[i], value, 1))
            return environment_error(&face, "%s: %s", variables[i], strerror(errno));
    }
    return EXIT_PASS;
}

typedef struct gap {
    int count;
    char names[512];
} gap;

enum { NAMES_SHOWN = 5 };

static void add_name(const char *name, void *context)
{
    gap *g = context;
    size_t used = strlen(g->names);
    if (g->count++ < NAMES_SHOWN)
        snprintf(g->names + used, sizeof g->names - used, "%s%s", used ? ", " : "", name);
}

/* False, after a message, if a program would not start with the drop-in in front of `real`. */
static bool suits(const cudnn_file *real)
{
    gap missing = {0};
    char more[48] = "";
    if (cudnn_missing(real->path, add_name, &missing) <= 0)
        return true;
    if (missing.count > NAMES_SHOWN)
        snprintf(more, sizeof more, " and %d more", missing.count - NAMES_SHOWN);
    environment_error(&face,
                      "%s (%s) has functions that this version of groupdnn does not know: %s%s; "
                      "the command runs without groupdnn",
                      real->path, real->origin, missing.names, more);
    return false;
}

/* Why the library that --cudnn names, the only one that is tried then, cannot be used. */
static void refuse_cudnn(const cudnn_file *file, const char *wrong, void *context)
{
    if (wrong)
        *(int *)context = usage_error(&face, "--cudnn %s %s", file->path, wrong);
}

/* Sets LD_PRELOAD for `program`; EXIT_PASS also where it is better left alone. */
static int set_preload(const char *program)
{
    char path[PATH_MAX], text[4 * PATH_MAX];
    const char *ignored = program_ignores_preload(program);
    cudnn_file real;
    int code = EXIT_PASS;
    if (!dropin_find(path))
        return environment_error(
            &face, "the drop-in is missing: there is no %s; build or install it", path);
    if (ignored)
        environment_error(&face, "%s: %s, so groupdnn does not reach it", program, ignored);
    bool found = cudnn_find(program, &real, texts[OPTION_cudnn] ? refuse_cudnn : NULL, &code);
    if (code != EXIT_PASS || (found && !suits(&real)))
        return code;
    if (!dropin_preload(path, getenv("LD_PRELOAD"), text, sizeof text))
        return environment_error(&face,
                                 "LD_PRELOAD cannot hold %s: blanks and colons end a name there; "
                                 "move groupdnn to a folder without",
                                 path);
    if (setenv("LD_PRELOAD", text, 1))
        return environment_error(&face, "LD_PRELOAD: %s", strerror(errno));
    return EXIT_PASS;
}

static void warn_of_misspelt(const char *name, const char *value, const char *near, void *context)
{
    (void)value, (void)context;
    environment_error(&face, "%s: there is no such option; ignored%s%s", name,
                      near ? "; did you mean " : "", near ? near : "");
}

/* Says why the command does not start. */
static int not_started(const char *word, int why)
{
    environment_error(&face, "%s: %s", word, program_not_found(word, why));
    return why == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

int cmd_run(int argc, char **argv)
{
    int count;
    char program[PATH_MAX];
    int code = flags_parse(&face, argc, argv, &count);
    if (code >= 0)
        return code;
    if (!count)
        return usage_error(&face, "what to run? groupdnn run [OPTION]... -- COMMAND [ARGUMENT]...");
    code = set_options();
    if (code != EXIT_PASS)
        return code;
    if (!program_find(argv[0], program))
        return not_started(argv[0], errno);
    gdnn_options_be_quiet(); /* the command's processes say it */
    misspelt_variables(warn_of_misspelt, NULL);
    code = set_preload(program);
    if (code != EXIT_PASS)
        return code;
    argv[count] = NULL;
    execvp(argv[0], argv);
    return not_started(argv[0], errno);
}
