/* What `info` prints: lines of name, value and origin for people, and the same as records. */
#ifndef INFO_H
#define INFO_H

#include "json.h"

typedef struct info {
    FILE *out; /* standard error where standard output is for JSON */
    json json;
} info;

/* A line: "name  value (origin)". An empty value is shown as "none". */
void info_line(info *o, const char *name, const char *value, const char *origin);

/* A record, and a line unless `shown` is false. */
void info_item(info *o, bool shown, const char *kind, const char *name, const char *value,
               const char *origin);

/* The drop-in and the real cuDNN: their files, and whether one can stand in for the other. */
typedef struct info_cudnn {
    char dropin[4096], real[4096]; /* "" if there is none */
    char version[32];              /* of the real one, "9.19.0"; "" if it does not say */
    int missing; /* functions of the real one that the drop-in lacks; -1: not known */
} info_cudnn;

/* Shows them for the file `program` (NULL: no program in particular); with all that was tried if
 * `verbose`. */
void info_show_cudnn(info *o, const char *program, bool verbose, info_cudnn *facts);

#endif
