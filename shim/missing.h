/* What stands in for functions that there are none of. */
#ifndef GDNN_MISSING_H
#define GDNN_MISSING_H

#include "api.h"
#include <stdbool.h>

/* A function that can be called in place of `which`, whatever its arguments, and returns what fits its type:
 *
 * STATUS  CUDNN_STATUS_NOT_SUPPORTED where there is a real library that lacks the function,
 *         CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED where there is none (`no_library`)
 * SIZE    0
 * TEXT    the name of a status that we return, or a text that says who speaks
 *
 * cudnnGetLastErrorString tells why there is no library. Never NULL. */
void *gdnn_missing(gdnn_api which, bool no_library);

#endif
