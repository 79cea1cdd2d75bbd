/* What the general depthwise kernel and its host agree on, plain C and CUDA C. */
#ifndef GDNN_DW_GENERAL_HOST_H
#define GDNN_DW_GENERAL_HOST_H

/* Threads of a block; the tile, a power of two, divides it. */
#define GDNN_DW_GENERAL_THREADS 256

#endif
