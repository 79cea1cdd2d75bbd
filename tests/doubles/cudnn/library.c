/* Versions and texts of the flavour `plain`. */
#include "double.h"
#include "texts.h"

enum { MAJOR = 9, MINOR = 19, PATCH = 0 };

size_t cudnnGetVersion(void)
{
    return MAJOR * 10000 + MINOR * 100 + PATCH;
}

size_t cudnnGetCudartVersion(void)
{
    return 13010;
}

size_t cudnnGetMaxDeviceVersion(void)
{
    return 1210;
}

cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int *value)
{
    if (!value)
        return CUDNN_STATUS_BAD_PARAM;
    switch (type) {
    case MAJOR_VERSION: *value = MAJOR; return CUDNN_STATUS_SUCCESS;
    case MINOR_VERSION: *value = MINOR; return CUDNN_STATUS_SUCCESS;
    case PATCH_LEVEL: *value = PATCH; return CUDNN_STATUS_SUCCESS;
    }
    return CUDNN_STATUS_BAD_PARAM;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    return text_of((int)status);
}

cudnnStatus_t fail(cudnnStatus_t status, const char *text)
{
    keep_text(text);
    return status;
}

void cudnnGetLastErrorString(char *text, size_t size)
{
    take_text(text, size);
}
