/* Versions and texts. */
#include "calls.h"
#include "report.h"
#include <string.h>

static void call_texts(void)
{
    static const int statuses[] = {0,    1,    1001, 1002, 1003, 1004, 1008, 2000, 2001, 2002, 2008,
                                   2013, 3000, 3002, 3007, 4000, 4003, 5000, 5001, 5003, 6000, -1};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        report("cudnnGetErrorString", "", (cudnnStatus_t)statuses[i]);
}

/* The text stays until it is asked for, and is cut to what there is room for. */
static void call_last_text(void)
{
    char text[8];
    memset(text, '#', sizeof text);
    const cudnnStatus_t status = cudnnCreateTensorDescriptor(NULL);
    cudnnGetLastErrorString(text, 5);
    report("cudnnGetLastErrorString", "room for 5", status);
    show("%.8s, then '%c'", text, text[6]);
    cudnnGetLastErrorString(NULL, 0);
    report("cudnnGetLastErrorString", "NULL", CUDNN_STATUS_SUCCESS);
}

void call_library(void)
{
    report("cudnnGetVersion", "", CUDNN_STATUS_SUCCESS);
    show("%zu", cudnnGetVersion());
    report("cudnnGetCudartVersion", "", CUDNN_STATUS_SUCCESS);
    show("%zu", cudnnGetCudartVersion());
    report("cudnnGetMaxDeviceVersion", "", CUDNN_STATUS_SUCCESS);
    show("%zu", cudnnGetMaxDeviceVersion());
    for (int type = -1; type <= 3; type++) {
        int value = -77;
        CALL("", cudnnGetProperty((libraryPropertyType)type, &value));
        show("of %d: %d", type, value);
    }
    call_texts();
    call_last_text();
}
