/* What the general plane kernels and their host agree on, plain C and CUDA C. */
#ifndef GDNN_DW_GPLANE_HOST_H
#define GDNN_DW_GPLANE_HOST_H

/* Threads of a block. */
#define GDNN_GPLANE_THREADS 128

/* Rows of a thread that share what they read, and taps of a column of the filter that are read together. */
#define GDNN_GPLANE_ROWS 8
#define GDNN_GPLANE_TAPS 4

#endif
