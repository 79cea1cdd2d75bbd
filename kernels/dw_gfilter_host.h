/* What the general backward-filter kernel and its host agree on, plain C and CUDA C. */
#ifndef GDNN_DW_GFILTER_HOST_H
#define GDNN_DW_GFILTER_HOST_H

/* Most threads of a block; channels of a thread in channels last; the fewest taps of a tile in shared memory. */
#define GDNN_GFILTER_THREADS  256
#define GDNN_GFILTER_CHANNELS 2
#define GDNN_GFILTER_TAPS     4

#endif
