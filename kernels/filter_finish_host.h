/* What the second launch of backward-filter and the host agree on, plain C and CUDA C. */
#ifndef GDNN_FILTER_FINISH_HOST_H
#define GDNN_FILTER_FINISH_HOST_H

/* Weights of a block, and threads for each of them. */
#define GDNN_FINISH_WEIGHTS 32
#define GDNN_FINISH_SLICES  16

#endif
