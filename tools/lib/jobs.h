/* The problems that a command line asks for: files of them, and problems as text. */
#ifndef JOBS_H
#define JOBS_H

#include "enums.h"
#include "text.h"
#include <stdbool.h>

typedef struct job {
    gdnn_conv conv;
    char name[64];
    const char *source; /* the file, as the argument has it, "standard input" or "as text" */
} job;

typedef struct jobs {
    job *list;
    int count, room;
    const char *source; /* of what is being added */
} jobs;

/* What a line that leaves it open is run over: bit i stands for value i of the enumeration. A line
 * that says it itself is run as it says. */
typedef struct jobs_choice {
    unsigned dirs, dtypes, layouts;
} jobs_choice;

/* All directions, f16, bf16 and f32, nchw. */
jobs_choice jobs_default(void);

/* Words joined by commas, as bits. GDNN_INVALID: one is not of the enumeration, or it is empty. */
gdnn_status jobs_words(gdnn_enum which, const char *list, unsigned *bits);

/* Adds what a line stands for. GDNN_INVALID: it is no problem. GDNN_FAILED: out of memory. */
gdnn_status jobs_add_text(jobs *j, const gdnn_text *text, const jobs_choice *choice);

/* Adds an argument, which must live as long as the jobs: standard input if it is "-", a file if one
 * has this name, else a problem.
 * GDNN_INVALID: gdnn_last_error names file and line, or the problem. */
gdnn_status jobs_add(jobs *j, const char *argument, const jobs_choice *choice);

/* True if the argument is taken for a file: one has this name, or it cannot be a problem. */
bool jobs_is_file(const char *argument);

void jobs_free(jobs *j);

#endif
