/* The thread's last error: every function that returns a gdnn_status other than GDNN_OK passes
 * through here. */
#ifndef GDNN_ERROR_H
#define GDNN_ERROR_H

#include "groupdnn.h"

/* Remembers the sentence for gdnn_last_error and returns `status`, so that callers write
 * `return gdnn_fail(GDNN_INVALID, "stride %lld: must be at least 1", ...)`. Allocates nothing. */
gdnn_status gdnn_fail(gdnn_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
