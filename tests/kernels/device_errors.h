/* What the emulated device finds wrong by itself: it ends the process at once (an access outside
 * of all memory), or it counts (the race checker). Both are told to the test case, and with the
 * problem's text. */
#ifndef DEVICE_ERRORS_H
#define DEVICE_ERRORS_H

#include "groupdnn.h"

/* Finds the device's counters, and from now on names the problem if the process aborts. */
void device_errors_watch(void);

/* The problem that runs next, by the kernel of this name. */
void device_errors_name(const char *kernel, const gdnn_conv *conv);

/* Races and uninitialised reads so far; 0 where nothing checks for them. */
unsigned long long device_errors(void);

#endif
