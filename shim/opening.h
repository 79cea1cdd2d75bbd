/* The time in which a thread opens the real library. */
#ifndef GDNN_OPENING_H
#define GDNN_OPENING_H

#include <stdbool.h>

/* Begins it for this thread; false if it is opening already, so that this is a call of a constructor of the real
 * library, or if that cannot be noted. */
bool gdnn_opening_begin(void);
void gdnn_opening_end(void);

#endif
