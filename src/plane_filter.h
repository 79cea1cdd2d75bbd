/* How the backward-filter plane kernels (kernels/dw_plane_filter.h) cut a problem into blocks. */
#ifndef GDNN_PLANE_FILTER_H
#define GDNN_PLANE_FILTER_H

#include "plane.h"

/* The grid for `p`, which gdnn_plane_fits, if `workspace` bytes are on offer. Sums are split among blocks as far as the
 * workspace holds the parts, or not at all. It depends on the problem and the workspace alone; more than the returned
 * workspace changes nothing. */
gdnn_grid gdnn_plane_filter_grid(const gdnn_conv *p, int64_t workspace, gdnn_plane_shape shape);

#endif
