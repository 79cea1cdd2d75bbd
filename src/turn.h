/* Backward-data as a forward convolution: where every stride is 1, dx is dy convolved with the filter
 * turned around, and its taps reach as far over dy's edges as the filter minus the padding. */
#ifndef GDNN_TURN_H
#define GDNN_TURN_H

#include "groupdnn.h"
#include <stdbool.h>

/* Fills `turned` with the forward problem whose x is the dy of `conv`, a backward-data problem that passed
 * gdnn_check, and whose y is its dx; w is the same memory. False if there is none: a stride is not 1, a
 * group has more than one channel, or padding exceeds what the filter reaches. */
bool gdnn_turn(const gdnn_conv *conv, gdnn_conv *turned);

#endif
