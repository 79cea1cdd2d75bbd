/* Text files line by line, from the user: every way in which one can be wrong is an error that says
 * where. */
#ifndef LINES_H
#define LINES_H

#include "enums.h"
#include <stdbool.h>
#include <stdio.h>

/* Bytes of a line without its newline. What has more is no text that a person wrote. */
enum { LINE_MOST = 65536 };

/* The caller sets the first three, and closes the file. */
typedef struct lines {
    FILE *file;
    const char *source; /* as messages name it */
    const char *holds;  /* what should be in it: "problems" */
    int number;         /* of the line in `text`, from 1; 0 before the first */
    char text[LINE_MOST + 1];
} lines;

/* Reads the next line into `text`, without its newline; false in *more if there is none.
 * GDNN_INVALID: the file cannot be read, the line is too long or holds a zero byte; gdnn_last_error
 * names source and line. */
gdnn_status lines_next(lines *l, bool *more);

/* Puts source and line in front of the last error; returns `status`. */
gdnn_status lines_located(const lines *l, gdnn_status status);

#endif
