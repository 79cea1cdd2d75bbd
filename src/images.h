/* The compiled kernels, one image (fatbin) for each file of kernels/, embedded by the build. */
#ifndef GDNN_IMAGES_H
#define GDNN_IMAGES_H

#include <stddef.h>

enum {
#define GDNN_IMAGE(file) GDNN_IMAGE_##file,
#include "images.def"
#undef GDNN_IMAGE
    GDNN_IMAGES
};

/* The bytes of an image, 0 <= index < GDNN_IMAGES, their number and the file it comes from. Static. */
const void *gdnn_image(int index, size_t *size, const char **file);

#endif
