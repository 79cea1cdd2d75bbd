#include "images.h"

#define GDNN_IMAGE(file) extern const char gdnn_image_##file[], gdnn_image_##file##_end[];
#include "images.def"
#undef GDNN_IMAGE

static const struct {
    const char *file, *begin, *end;
} images[] = {
#define GDNN_IMAGE(file) {#file, gdnn_image_##file, gdnn_image_##file##_end},
#include "images.def"
#undef GDNN_IMAGE
};

const void *gdnn_image(int index, size_t *size, const char **file)
{
    *size = (size_t)(images[index].end - images[index].begin);
    *file = images[index].file;
    return images[index].begin;
}
