/* The emulated device of a test program, opened and closed around its tests. */
#ifndef EMULATED_DEVICE_H
#define EMULATED_DEVICE_H

#include "session.h"
#include "unit.h"

static session device;

static int open_device(void **state)
{
    (void)state;
    if (session_open(&device, SESSION_EMULATED) == GDNN_OK)
        return 0;
    print_message("# %s\n", gdnn_last_error());
    return -1;
}

static int close_device(void **state)
{
    (void)state;
    session_close(&device); /* the double aborts if something was leaked */
    return 0;
}

#endif
