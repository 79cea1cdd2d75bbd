/* JSON lines: one object a line, its members in the order of the calls. */
#ifndef JSON_H
#define JSON_H

#include "groupdnn.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct json {
    FILE *file; /* NULL: nothing is written */
    const char *path;
    bool first; /* no member yet in this object */
} json;

/* `path` is a file, "-" for standard output, or NULL for none.
 * GDNN_INVALID: the file cannot be made; gdnn_last_error says why. */
gdnn_status json_open(json *j, const char *path);

void json_begin(json *j);
void json_end(json *j);

/* Members. JSON has no NaN and no infinity: they are written as null. */
void json_text(json *j, const char *key, const char *value); /* NULL: null */
void json_number(json *j, const char *key, double value);
void json_integer(json *j, const char *key, long long value);
void json_flag(json *j, const char *key, bool value);
void json_null(json *j, const char *key);

/* GDNN_FAILED: something could not be written, for want of space for example. */
gdnn_status json_close(json *j);

#endif
