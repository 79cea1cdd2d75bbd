/* The table of kernels, from kernels/kernels.def. */
#ifndef GDNN_KERNEL_H
#define GDNN_KERNEL_H

#include "groupdnn.h"
#include <stdbool.h>
#include <stddef.h>

/* Sizes into which a kernel cuts the axes of what it writes. */
typedef struct gdnn_tile {
    int n, groups, spatial[GDNN_MAX_SPATIAL];
} gdnn_tile;

typedef struct gdnn_kernel {
    const char *file, *name;
    gdnn_dir dir;
    unsigned layouts; /* bit GDNN_NCHW, bit GDNN_NHWC: the variants there are */
    bool any_strides; /* the variant is a preference: any strides are right */
    unsigned dtypes;  /* bit gdnn_dtype */
    gdnn_tile tile;
    int threads;
    bool (*when)(const gdnn_conv *p);
    int64_t (*blocks)(const gdnn_conv *p, gdnn_layout variant);
    int64_t (*shared)(const gdnn_conv *p);
    int64_t (*workspace)(const gdnn_conv *p);
    int image; /* index of the image of `file`, for gdnn_image */
} gdnn_kernel;

extern const gdnn_kernel gdnn_kernels[];
extern const int gdnn_kernel_count;

/* The kernel with this name; NULL if there is none. */
const gdnn_kernel *gdnn_kernel_find(const char *name);

/* Symbol of an instance, "gdnn_direct_fwd_nhwc_f16", into `text`. */
void gdnn_kernel_symbol(const gdnn_kernel *kernel, gdnn_layout variant, gdnn_dtype dtype,
                        char *text, size_t size);

#endif
