/* Options: what the environment asks for, read once, from options.def. */
#ifndef GDNN_OPTIONS_H
#define GDNN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum gdnn_run_mode {
    GDNN_MODE_OFF,
    GDNN_MODE_OBSERVE,
    GDNN_MODE_ON,
    GDNN_MODE_FORCE,
    GDNN_MODE_VERIFY
} gdnn_run_mode;

typedef enum gdnn_log_level {
    GDNN_LOG_OFF,
    GDNN_LOG_ERROR,
    GDNN_LOG_INFO,
    GDNN_LOG_CALLS
} gdnn_log_level;

typedef struct gdnn_options {
    gdnn_run_mode mode;
    gdnn_log_level log;
    char log_file[512]; /* "" for standard error */
    char cudnn[512];    /* "" to search */
    char disable[256];  /* words joined by commas */
    char kernel[64];    /* "" for the best */
    int stats;          /* 1: a table at exit */
    char trace[512];    /* "" for no trace */
} gdnn_options;

/* The defaults of options.def. */
void gdnn_options_init(gdnn_options *options);

/* What is wrong with the value of an option. Texts live as long as the call that brings them. */
typedef struct gdnn_option_fault {
    const char *variable;
    const char *value;   /* its beginning, if it is very long */
    const char *wrong;   /* "not one of the accepted values; accepted: off|on" */
    const char *instead; /* "using on", "ignored"; NULL: it is kept */
} gdnn_option_fault;

typedef void gdnn_option_report(const gdnn_option_fault *fault, void *context);

/* Reads every option through `get` (as getenv) into `options`, which then holds a valid value for
 * each: a bad value leaves the default and is handed to `report`, which may be NULL. */
void gdnn_options_read(gdnn_options *options,
                       const char *(*get)(const char *variable, void *context),
                       gdnn_option_report *report, void *context);

/* The options of this process: read from the environment at the first call, and never again. A
 * process with elevated rights (AT_SECURE) gets the defaults. Bad values are logged once, at level
 * error; they are shown on standard error even when GROUPDNN_LOG is off or itself bad, since a user
 * who set a variable wants to know. */
const gdnn_options *gdnn_options_get(void);

/* Before the first gdnn_options_get: it is not to show bad values, for somebody else does. */
void gdnn_options_be_quiet(void);

/* The word for `mode`, "verify". Static. */
const char *gdnn_mode_word(gdnn_run_mode mode);

/* True if the comma-joined list `options->disable` holds `word`. */
bool gdnn_options_disables(const gdnn_options *options, const char *word);

#endif
