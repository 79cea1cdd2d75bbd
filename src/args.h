/* From a problem to what its kernel is told. */
#ifndef GDNN_ARGS_H
#define GDNN_ARGS_H

#include "conv_args.h"
#include "groupdnn.h"

/* A divisor, 1 <= value < 2^63. */
gdnn_divisor gdnn_divide_by(int64_t value);

int64_t gdnn_greatest_common_divisor(int64_t a, int64_t b);

/* Fills `args` for `conv`, which passed gdnn_check. */
void gdnn_args_fill(gdnn_args *args, const gdnn_conv *conv);

#endif
