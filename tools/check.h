/* What `check` tries, a line each: ok, failed or skipped. */
#ifndef CHECK_H
#define CHECK_H

#include "json.h"

typedef enum check_verdict {
    CHECK_OK,
    CHECK_FAILED,
    CHECK_LACKS, /* failed, because the machine lacks something rather than by a fault */
    CHECK_SKIPPED
} check_verdict;

typedef struct check {
    FILE *out; /* standard error where standard output is for JSON */
    json json;
    int count[CHECK_SKIPPED + 1];
} check;

/* Prints and records the outcome of one trial. */
void check_line(check *c, check_verdict verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The drop-in, and the real cuDNN behind it, as `program` would get it (NULL: none in particular). */
void check_cudnn(check *c, const char *program);

/* Every GPU, or the emulated device where there is none: whether our kernels load, and a small problem
 * for each kernel, type and layout against the reference. */
void check_devices(check *c);

#endif
