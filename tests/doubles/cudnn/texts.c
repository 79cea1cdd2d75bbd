/* Statuses as text, and the text of the last error. */
#include "texts.h"
#include "double.h"
#include <string.h>

static _Thread_local char last_text[512];

const char *text_of(int status)
{
    switch (status) {
#define GDNN_STATUS(number, name)                                                                  \
    case number:                                                                                   \
        return "CUDNN_STATUS_" #name;
#include "statuses.def"
#undef GDNN_STATUS
    default: return "CUDNN_UNKNOWN_STATUS";
    }
}

void keep_text(const char *text)
{
    strncpy(last_text, text, sizeof last_text - 1);
}

void take_text(char *text, size_t size)
{
    if (!text || !size)
        return;
    strncpy(text, last_text, size - 1);
    text[size - 1] = '\0';
    last_text[0] = '\0';
}
