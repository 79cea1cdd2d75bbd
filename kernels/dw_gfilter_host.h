/* What the general backward-filter kernel and its host agree on, plain C and CUDA C. */
#ifndef GDNN_DW_GFILTER_HOST_H
#define GDNN_DW_GFILTER_HOST_H

/* Most threads of a block; channels of a thread in channels last, and the fewest taps of which it has room for
 * sums. */
#define GDNN_GFILTER_THREADS  256
#define GDNN_GFILTER_CHANNELS 2
#define GDNN_GFILTER_TAPS     4
/* Channels first: taps of a tile along the axis across the march, for `taps` along it. */
#define GDNN_GFILTER_CROSS(taps) ((taps) == 8 ? 1 : 4)

#endif
