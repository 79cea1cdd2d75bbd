#include "kernel.h"
#include "enums.h"
#include "images.h"
#include "kernel_terms.h"
#include "turn.h"
#include <stdio.h>
#include <string.h>

#define TILE(n, groups, d, h, w)                                                                   \
    {                                                                                              \
        n, groups,                                                                                 \
        {                                                                                          \
            d, h, w                                                                                \
        }                                                                                          \
    }

enum {
    DIRECTION_FWD = GDNN_FWD,
    DIRECTION_BWD_DATA = GDNN_BWD_DATA,
    DIRECTION_BWD_FILTER = GDNN_BWD_FILTER,
    DIRECTION_TURNED
};

/* The columns that depend on the problem become functions. */
#define GDNN_KERNEL(file, name, code, direction, layouts, dtypes, epilogues, tile, when, grid)     \
    static bool name##_when(const gdnn_conv *p)                                                    \
    {                                                                                              \
        (void)p;                                                                                   \
        return when;                                                                               \
    }                                                                                              \
    static gdnn_grid name##_grid(const gdnn_conv *p, gdnn_layout variant, int64_t workspace)       \
    {                                                                                              \
        (void)p, (void)variant, (void)workspace;                                                   \
        return grid;                                                                               \
    }
#include "kernels.def"
#undef GDNN_KERNEL

enum { NCHW = 1 << GDNN_NCHW, NHWC = 1 << GDNN_NHWC, ANY = NCHW | NHWC | 4 };
enum { F16 = 1 << GDNN_F16, BF16 = 1 << GDNN_BF16, F32 = 1 << GDNN_F32, F64 = 1 << GDNN_F64 };
enum { PLAIN = 1, FULL = 2 };

const gdnn_kernel gdnn_kernels[] = {
#define GDNN_KERNEL(file, name, code, direction, layouts, dtypes, epilogues, tile, when, grid)     \
    {#file,                                                                                        \
     #name,                                                                                        \
     #code,                                                                                        \
     DIRECTION_##direction == DIRECTION_TURNED ? GDNN_BWD_DATA : (gdnn_dir)DIRECTION_##direction,  \
     DIRECTION_##direction == DIRECTION_TURNED,                                                    \
     (layouts) & (NCHW | NHWC),                                                                    \
     (layouts) == ANY,                                                                             \
     dtypes,                                                                                       \
     ((epilogues)&PLAIN) != 0,                                                                     \
     tile,                                                                                         \
     name##_when,                                                                                  \
     name##_grid,                                                                                  \
     GDNN_IMAGE_##file},
#include "kernels.def"
#undef GDNN_KERNEL
};

const int gdnn_kernel_count = sizeof gdnn_kernels / sizeof gdnn_kernels[0];

const gdnn_kernel *gdnn_kernel_find(const char *name)
{
    for (int i = 0; i < gdnn_kernel_count; i++)
        if (!strcmp(gdnn_kernels[i].name, name))
            return &gdnn_kernels[i];
    return NULL;
}

/* The problem that the kernel runs for `conv`: it, or it turned, in `turned`; NULL if the kernel is not for it. */
static const gdnn_conv *run_as(const gdnn_kernel *kernel, const gdnn_conv *conv, gdnn_conv *turned)
{
    if (kernel->turned)
        conv = gdnn_turn(conv, turned) ? turned : NULL;
    return conv && kernel->when(conv) ? conv : NULL;
}

bool gdnn_kernel_packed(const gdnn_kernel *kernel, const gdnn_conv *conv, gdnn_layout *variant)
{
    for (int i = GDNN_NCHW; i <= GDNN_NHWC; i++)
        if (kernel->layouts >> i & 1 && gdnn_packed_as(conv, (gdnn_layout)i)) {
            *variant = (gdnn_layout)i;
            return true;
        }
    return false;
}

bool gdnn_kernel_fits(const gdnn_kernel *kernel, const gdnn_conv *conv)
{
    gdnn_conv turned;
    gdnn_layout variant;
    return kernel->dir == conv->dir && kernel->dtypes >> conv->dtype & 1 &&
           (kernel->any_strides || gdnn_kernel_packed(kernel, conv, &variant)) &&
           run_as(kernel, conv, &turned);
}

bool gdnn_kernel_grid(const gdnn_kernel *kernel, const gdnn_conv *conv, gdnn_layout variant,
                      int64_t workspace, gdnn_grid *grid)
{
    gdnn_conv turned;
    conv = run_as(kernel, conv, &turned);
    if (!conv)
        return false;
    *grid = kernel->grid(conv, variant, workspace);
    return true;
}

void gdnn_kernel_symbol(const gdnn_kernel *kernel, gdnn_layout variant, gdnn_dtype dtype,
                        bool plain, char *text, size_t size)
{
    snprintf(text, size, "gdnn_%s_%s_%s%s", kernel->code, gdnn_enum_word(GDNN_ENUM_layout, variant),
             gdnn_enum_word(GDNN_ENUM_dtype, dtype), plain ? "_plain" : "");
}

void gdnn_kernel_finish_symbol(const gdnn_kernel *kernel, gdnn_layout variant, gdnn_dtype dtype,
                               char *text, size_t size)
{
    snprintf(text, size, "gdnn_%s_finish_%s_%s", kernel->file,
             gdnn_enum_word(GDNN_ENUM_layout, variant), gdnn_enum_word(GDNN_ENUM_dtype, dtype));
}
