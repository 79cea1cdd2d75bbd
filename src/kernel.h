/* The table of kernels, from kernels/kernels.def. */
#ifndef GDNN_KERNEL_H
#define GDNN_KERNEL_H

#include "conv_args.h"
#include "groupdnn.h"
#include <stdbool.h>
#include <stddef.h>

/* Sizes into which a kernel cuts the axes of what it writes. */
typedef struct gdnn_tile {
    int n, groups, spatial[GDNN_MAX_SPATIAL];
} gdnn_tile;

/* How a kernel is launched for a problem. */
typedef struct gdnn_grid {
    int threads;           /* of a block */
    int64_t blocks;        /* all in x */
    int64_t shared;        /* bytes of dynamic shared memory */
    int64_t workspace;     /* bytes of workspace that a run needs */
    int finish_threads;    /* of a block of the second launch */
    int64_t finish_blocks; /* 0: there is none */
    gdnn_tiling tiling;
} gdnn_grid;

typedef struct gdnn_kernel {
    const char *file, *name;
    const char *code; /* the name of its instances */
    gdnn_dir dir;
    bool turned;      /* runs the forward problem of gdnn_turn */
    unsigned layouts; /* bit GDNN_NCHW, bit GDNN_NHWC: the variants there are */
    bool any_strides; /* the variant is a preference: any strides are right */
    unsigned dtypes;  /* bit gdnn_dtype */
    bool has_plain;   /* has instances for problems with a plain epilogue */
    gdnn_tile tile;
    bool (*when)(const gdnn_conv *p);
    gdnn_grid (*grid)(const gdnn_conv *p, gdnn_layout variant, int64_t workspace);
    int image; /* index of the image of `file`, for gdnn_image */
} gdnn_kernel;

extern const gdnn_kernel gdnn_kernels[];
extern const int gdnn_kernel_count;

/* The kernel with this name; NULL if there is none. */
const gdnn_kernel *gdnn_kernel_find(const char *name);

/* The variant of `kernel` in whose layout all tensors of `conv` are packed; false if there is none. */
bool gdnn_kernel_packed(const gdnn_kernel *kernel, const gdnn_conv *conv, gdnn_layout *variant);

/* Whether `kernel` is for `conv`: its direction, type, layout and shape. A device, or sizes, may still be too small or large
 * for it. */
bool gdnn_kernel_fits(const gdnn_kernel *kernel, const gdnn_conv *conv);

/* Whether `kernel` can run `conv`, of its direction and in its `variant`; if so, how, with `workspace` bytes on offer, of
 * which kernels that cannot do with less may want more. */
bool gdnn_kernel_grid(const gdnn_kernel *kernel, const gdnn_conv *conv, gdnn_layout variant,
                      int64_t workspace, gdnn_grid *grid);

/* Symbol of an instance, "gdnn_direct_fwd_nhwc_f16", into `text`; `plain`: of the one with a plain epilogue, which
 * kernels with has_plain have. */
void gdnn_kernel_symbol(const gdnn_kernel *kernel, gdnn_layout variant, gdnn_dtype dtype,
                        bool plain, char *text, size_t size);

/* Symbol of the second launch, "gdnn_<file>_finish_nhwc_f16", which the kernels of a file share. */
void gdnn_kernel_finish_symbol(const gdnn_kernel *kernel, gdnn_layout variant, gdnn_dtype dtype,
                               char *text, size_t size);

#endif
