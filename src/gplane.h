/* How the general plane kernels (kernels/dw_gplane.h) cut a problem into blocks. */
#ifndef GDNN_GPLANE_H
#define GDNN_GPLANE_H

#include "kernel.h"

/* The grid for `p`, forward or backward-data, in two dimensions with one channel of x a group. It depends on the problem
 * alone. */
gdnn_grid gdnn_gplane_grid(const gdnn_conv *p);

#endif
