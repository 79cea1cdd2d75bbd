/* The least that passes for a real cuDNN: what `check` asks without a GPU. With NEWER it has functions that no release
 * has yet; with CRASHING it does not survive being asked; with VERSION it says to be another. */
#include <stddef.h>
#include <stdlib.h>

#ifndef VERSION
#define VERSION 91234
#endif

size_t cudnnGetVersion(void);
const char *cudnnGetErrorString(int status);

size_t cudnnGetVersion(void)
{
#ifdef CRASHING
    abort();
#endif
    return VERSION;
}

const char *cudnnGetErrorString(int status)
{
    return status ? "CUDNN_STATUS_SOMETHING" : "CUDNN_STATUS_SUCCESS";
}

#ifdef NEWER
int cudnnOfTomorrow(void);
int cudnnOfTheDayAfter(void);

int cudnnOfTomorrow(void)
{
    return 0;
}

int cudnnOfTheDayAfter(void)
{
    return 0;
}
#endif
