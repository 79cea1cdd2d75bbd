/* What the plane kernels and their host agree on, plain C and CUDA C. */
#ifndef GDNN_DW_PLANE_HOST_H
#define GDNN_DW_PLANE_HOST_H

/* How columns outside the plane are left out of the sums. */
typedef enum gdnn_plane_edges {
    GDNN_PLANE_WHOLE,  /* a strip is a whole row: they are known to the compiler */
    GDNN_PLANE_EDGES,  /* known, too, but of the first and last strips only */
    GDNN_PLANE_MASKED, /* any columns of any strip */
} gdnn_plane_edges;

/* Most threads of a block. */
#define GDNN_PLANE_THREADS 128

/* Bytes kept free before and after what is brought of x: strips may read as far beyond a row. */
#define GDNN_PLANE_GUARD 128

/* Bytes of shared memory for `count` elements of filters of `size` bytes. */
#define gdnn_plane_filters(count, size) (((count) * (int)(size) + 15) / 16 * 16)

/* Room for a run of `bytes`, which may begin anywhere in a sector and is copied in whole sectors. */
#define gdnn_plane_room(bytes) (((bytes) + 31) / 32 * 32 + 32)

#endif
