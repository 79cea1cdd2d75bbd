/* How the plane kernels (kernels/dw_plane.h) cut a problem into blocks. */
#ifndef GDNN_PLANE_H
#define GDNN_PLANE_H

#include "kernel.h"

/* What a plane kernel is made for: PlaneShape's numbers. */
typedef struct gdnn_plane_shape {
    int filter_h, filter_w, stride, columns;
} gdnn_plane_shape;

/* Whether the kernel can run `p`, a depthwise problem with this filter and stride: no dilation, at most as many strips in a
 * row as a block has threads, and no output that lies in the padding alone. */
bool gdnn_plane_fits(const gdnn_conv *p, gdnn_plane_shape shape);

/* How columns outside the plane are left out, a gdnn_plane_edges. */
int gdnn_plane_edges_of(const gdnn_conv *p, const gdnn_plane_shape *shape);

/* The grid for `p`. It depends on the problem alone. */
gdnn_grid gdnn_plane_grid(const gdnn_conv *p, gdnn_plane_shape shape);

/* The same for backward-data of stride 2 with filters of `filter` both ways (kernels/dw_plane_up.h), `columns` pairs a
 * thread. */
bool gdnn_plane_up_fits(const gdnn_conv *p, int filter, int columns);
gdnn_grid gdnn_plane_up_grid(const gdnn_conv *p, int filter, int columns);

#endif
