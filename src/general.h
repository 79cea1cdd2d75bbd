/* How the general depthwise kernel (kernels/dw_general.h) cuts a problem into blocks. */
#ifndef GDNN_GENERAL_H
#define GDNN_GENERAL_H

#include "kernel.h"

/* The grid for `p`, a forward problem in two dimensions with one channel of x a group. A thread computes
 * `outputs` outputs at a time. It depends on the problem alone. */
gdnn_grid gdnn_dw_general_grid(const gdnn_conv *p, int outputs);

#endif
