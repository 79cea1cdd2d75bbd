/* NVIDIA's library, for the flavour `real`. */
#ifndef GDNN_CUDNN_DOUBLE_PASSTHROUGH_H
#define GDNN_CUDNN_DOUBLE_PASSTHROUGH_H

#include <stddef.h>

/* Its cudnnGetLastErrorString. Set when the double is loaded. */
extern void (*real_last_text)(char *, size_t);

#endif
