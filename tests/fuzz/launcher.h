/* A driver that launches nothing and tells what it was to launch, in place of the one that the drop-in opens. */
#ifndef GDNN_FUZZ_LAUNCHER_H
#define GDNN_FUZZ_LAUNCHER_H

#include "meaning.h"

typedef struct launcher_state {
    bool no_context, refuses_launches;
    int launches; /* that were not refused, and the first of them */
    launch last;
} launcher_state;

extern launcher_state launcher;

#endif
