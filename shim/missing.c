#include "missing.h"
#include "cudnn_types.h"
#include "real.h"
#include <stdio.h>

typedef enum kind { STATUS, SIZE, TEXT, NONE } kind;

static const unsigned char kinds[] = {
#define GDNN_CUDNN(name, returns, way) returns,
#include "cudnn_api.def"
#undef GDNN_CUDNN
};

/* The real functions have arguments, these have none: a C caller passes them in registers and on its own stack, where
 * they may be left alone. */
static cudnnStatus_t not_supported(void)
{
    return CUDNN_STATUS_NOT_SUPPORTED;
}

static cudnnStatus_t loading_failed(void)
{
    return CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED;
}

static size_t zero(void)
{
    return 0;
}

static void nothing(void)
{
}

/* cudnnGetErrorString, the only function that returns a text. */
static const char *error_string(cudnnStatus_t status)
{
    switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED: return "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    default: return "groupdnn: a status of cuDNN that only the real library can name";
    }
}

/* cudnnGetLastErrorString. */
static void last_error_string(char *message, size_t max_size)
{
    const char *why = gdnn_real_failure();
    if (message)
        snprintf(message, max_size, *why ? "groupdnn: %s" : "%s", why);
}

void *gdnn_missing(gdnn_api which, bool no_library)
{
    if (which == GDNN_API_cudnnGetLastErrorString)
        return last_error_string;
    switch (kinds[which]) {
    case STATUS: return no_library ? loading_failed : not_supported;
    case SIZE: return zero;
    case TEXT: return error_string;
    default: return nothing;
    }
}
