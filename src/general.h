/* How the general depthwise kernel (kernels/dw_general.h) cuts a problem into blocks. */
#ifndef GDNN_GENERAL_H
#define GDNN_GENERAL_H

#include "kernel.h"

/* The grid for `p`, a forward problem in two dimensions with one channel of x a group. A thread computes
 * `outputs` outputs at a time. It depends on the problem alone. */
gdnn_grid gdnn_dw_general_grid(const gdnn_conv *p, int outputs);

/* The same for the kernel of backward-data (kernels/dw_general_data.h). */
gdnn_grid gdnn_dw_general_data_grid(const gdnn_conv *p);

#endif
