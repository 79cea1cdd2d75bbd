/* GPUs that graphs are planned for. cuDNN is told their properties, so none need be there. */
#ifndef GDNN_CLIENT_GPUS_H
#define GDNN_CLIENT_GPUS_H

#include <stddef.h>

/* Writes the properties of the GPU `name` (h200, a100, t4) as cuDNN takes them,
 * CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, and returns the length of the text. 0: the name is unknown, or `text` is
 * too small. */
int gpu_properties(const char *name, char *text, size_t size);

#endif
