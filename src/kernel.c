#include "kernel.h"
#include "enums.h"
#include "images.h"
#include "kernel_terms.h"
#include <stdio.h>
#include <string.h>

#define TILE(n, groups, d, h, w)                                                                   \
    {                                                                                              \
        n, groups,                                                                                 \
        {                                                                                          \
            d, h, w                                                                                \
        }                                                                                          \
    }

/* The columns that depend on the problem become functions. */
#define GDNN_KERNEL(file, name, direction, layouts, dtypes, tile, when, threads, blocks, shared,   \
                    workspace)                                                                     \
    static bool name##_when(const gdnn_conv *p)                                                    \
    {                                                                                              \
        (void)p;                                                                                   \
        return when;                                                                               \
    }                                                                                              \
    static int64_t name##_blocks(const gdnn_conv *p, gdnn_layout variant)                          \
    {                                                                                              \
        (void)p, (void)variant;                                                                    \
        return blocks;                                                                             \
    }                                                                                              \
    static int64_t name##_shared(const gdnn_conv *p)                                               \
    {                                                                                              \
        (void)p;                                                                                   \
        return shared;                                                                             \
    }                                                                                              \
    static int64_t name##_workspace(const gdnn_conv *p)                                            \
    {                                                                                              \
        (void)p;                                                                                   \
        return workspace;                                                                          \
    }
#include "kernels.def"
#undef GDNN_KERNEL

enum { NCHW = 1 << GDNN_NCHW, NHWC = 1 << GDNN_NHWC, ANY = NCHW | NHWC | 4 };
enum { F16 = 1 << GDNN_F16, BF16 = 1 << GDNN_BF16, F32 = 1 << GDNN_F32, F64 = 1 << GDNN_F64 };

const gdnn_kernel gdnn_kernels[] = {
#define GDNN_KERNEL(file, name, direction, layouts, dtypes, tile, when, threads, blocks, shared,   \
                    workspace)                                                                     \
    {#file,                                                                                        \
     #name,                                                                                        \
     GDNN_##direction,                                                                             \
     (layouts) & (NCHW | NHWC),                                                                    \
     (layouts) == ANY,                                                                             \
     dtypes,                                                                                       \
     tile,                                                                                         \
     threads,                                                                                      \
     name##_when,                                                                                  \
     name##_blocks,                                                                                \
     name##_shared,                                                                                \
     name##_workspace,                                                                             \
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

void gdnn_kernel_symbol(const gdnn_kernel *kernel, gdnn_layout variant, gdnn_dtype dtype,
                        char *text, size_t size)
{
    snprintf(text, size, "gdnn_%s_%s_%s", kernel->name, gdnn_enum_word(GDNN_ENUM_layout, variant),
             gdnn_enum_word(GDNN_ENUM_dtype, dtype));
}
