/* Calls with all that a call can carry, and what arrived of it. */
#ifndef GDNN_TESTS_FORWARD_H
#define GDNN_TESTS_FORWARD_H

#include "frame.h"
#include <stdbool.h>

/* Random arguments of every kind: integers, all vector registers as wide as this processor has them, stack words. */
void forward_fill(frame *given, uint64_t *random);

/* True if a call of `function` reaches recorder `number` with every argument as it was given, and returns what that
 * returns. Else `what` says which argument came differently. */
bool forward_arrives(void *function, int number, uint64_t *random, char *what, size_t size);

/* How many instructions of the object that holds `function` are executed in a call of it with zeros. -1: cannot count. */
int forward_steps(void *function, uint64_t *returned);

#endif
