/* How the general backward-filter kernel (kernels/dw_gfilter.h) cuts a problem into blocks. */
#ifndef GDNN_GFILTER_GRID_H
#define GDNN_GFILTER_GRID_H

#include "kernel.h"

/* The grid for `p`, a problem in two dimensions with one channel of x a group, packed as `variant`, if `workspace`
 * bytes are on offer. Sums are split among blocks as far as the workspace holds the parts, or not at all. It depends on the
 * problem, the variant and the workspace alone; more than the returned workspace changes nothing. */
gdnn_grid gdnn_gfilter_grid(const gdnn_conv *p, gdnn_layout variant, int64_t workspace);

#endif
