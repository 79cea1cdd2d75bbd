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

/* Reads every option through `get` (as getenv) into `options`, which then holds a valid value for
 * each: a bad value leaves the default and is handed to `report` as one sentence with the variable,
 * the value and the accepted values. `report` may be NULL. */
void gdnn_options_read(gdnn_options *options,
                       const char *(*get)(const char *variable, void *context),
                       void (*report)(const char *sentence, void *context), void *context);

/* The options of this process: read from the environment at the first call, and never again. A
 * process with elevated rights (AT_SECURE) gets the defaults. Bad values are logged once, at level
 * error; they are shown on standard error even when GROUPDNN_LOG is off or itself bad, since a user
 * who set a variable wants to know. */
const gdnn_options *gdnn_options_get(void);

/* The word for `mode`, "verify". Static. */
const char *gdnn_mode_word(gdnn_run_mode mode);

/* True if the comma-joined list `options->disable` holds `word`. */
bool gdnn_options_disables(const gdnn_options *options, const char *word);

#endif
