#include "enums.h"
#include "error.h"
#include "problem.h"
#include "text_keys.h"
#include <math.h>

/* Below this are every number of a problem and the bytes of every tensor, so that a sum of two, or one tile more than
 * a size, still fits in 64 bits. */
#define LIMIT ((int64_t)1 << 62)

static gdnn_status check_word(gdnn_enum which, const char *key, int value)
{
    if (!gdnn_enum_word(which, value))
        return gdnn_fail(GDNN_INVALID, "%s=%d: must be one of %s", key, value,
                         gdnn_enum_words(which));
    return GDNN_OK;
}

static gdnn_status check_flag(const char *key, int value)
{
    if (value != 0 && value != 1)
        return gdnn_fail(GDNN_INVALID, "%s=%d: must be 0 or 1", key, value);
    return GDNN_OK;
}

static gdnn_status check_kinds(const gdnn_conv *conv)
{
    gdnn_status status;
    if ((status = check_word(GDNN_ENUM_dir, "dir", (int)conv->dir)) ||
        (status = check_word(GDNN_ENUM_dtype, "dtype", (int)conv->dtype)) ||
        (status = check_word(GDNN_ENUM_dtype, "acc", (int)conv->acc)) ||
        (status = check_word(GDNN_ENUM_mode, "mode", (int)conv->mode)) ||
        (status = check_word(GDNN_ENUM_math, "math", (int)conv->math)) ||
        (status = check_word(GDNN_ENUM_act, "act", (int)conv->act)) ||
        (status = check_flag("bias", conv->bias)) || (status = check_flag("z", conv->z)))
        return status;
    if (conv->acc == GDNN_BF16)
        return gdnn_fail(GDNN_INVALID, "acc=bf16: sums must be f16, f32 or f64");
    if (conv->dtype == GDNN_F64 && conv->acc != GDNN_F64)
        return gdnn_fail(GDNN_INVALID, "acc=%s: sums of dtype=f64 must be f64",
                         gdnn_enum_word(GDNN_ENUM_dtype, (int)conv->acc));
    if (conv->dir != GDNN_FWD) {
        const char *key = conv->bias ? "bias=1" : conv->z ? "z=1" : conv->act ? "act=relu" : NULL;
        if (key)
            return gdnn_fail(GDNN_INVALID, "%s: needs dir=fwd, and dir is %s", key,
                             gdnn_enum_word(GDNN_ENUM_dir, (int)conv->dir));
    }
    for (size_t i = 0; i < sizeof conv->reserved / sizeof *conv->reserved; i++)
        if (conv->reserved[i])
            return gdnn_fail(GDNN_INVALID, "reserved[%zu]=%llu: must be 0; gdnn_conv_init sets it",
                             i, (unsigned long long)conv->reserved[i]);
    return GDNN_OK;
}

static gdnn_status check_count(const char *key, int64_t value)
{
    if (value < 1)
        return gdnn_fail(GDNN_INVALID, "%s=%lld: must be at least 1", key, (long long)value);
    if (value >= LIMIT)
        return gdnn_fail(GDNN_INVALID, "%s=%lld: must be below 2^62", key, (long long)value);
    return GDNN_OK;
}

static gdnn_status check_channels(const gdnn_conv *conv)
{
    gdnn_status status;
    if ((status = check_count("n", conv->n)) || (status = check_count("c", conv->c)) ||
        (status = check_count("k", conv->k)) || (status = check_count("groups", conv->groups)))
        return status;
    if (conv->c % conv->groups)
        return gdnn_fail(GDNN_INVALID, "c=%lld is not a multiple of groups=%lld",
                         (long long)conv->c, (long long)conv->groups);
    if (conv->k % conv->groups)
        return gdnn_fail(GDNN_INVALID, "k=%lld is not a multiple of groups=%lld",
                         (long long)conv->k, (long long)conv->groups);
    return GDNN_OK;
}

/* The values of one key for all axes, each at least `least`. */
static gdnn_status check_range(const char *key, int spatial, const int64_t *values, int64_t least)
{
    char text[GDNN_AXES_TEXT];
    const char *where = spatial > 1 ? " on every axis" : "";
    for (int i = 0; i < spatial; i++) {
        if (values[i] < least)
            return gdnn_fail(GDNN_INVALID, "%s=%s: must be at least %lld%s", key,
                             gdnn_axes_text(text, spatial, values), (long long)least, where);
        if (values[i] >= LIMIT)
            return gdnn_fail(GDNN_INVALID, "%s=%s: must be below 2^62%s", key,
                             gdnn_axes_text(text, spatial, values), where);
    }
    return GDNN_OK;
}

/* That the dilated filter fits into the padded input along `axis`. */
static gdnn_status check_out(const gdnn_conv *conv, int axis)
{
    long long in = conv->in[axis], pad = conv->pad[axis], pad_after = conv->pad_after[axis];
    long long filter = conv->filter[axis], dilation = conv->dilation[axis];
    long long padded, extent;
    /* Each is below 2^62, so two of them can be added. */
    if (__builtin_add_overflow(in + pad, pad_after, &padded) || padded >= LIMIT)
        return gdnn_fail(GDNN_INVALID,
                         "axis %d: in=%lld with pad=%lld and pad_after=%lld must be below 2^62",
                         axis, in, pad, pad_after);
    if (__builtin_mul_overflow(filter - 1, dilation, &extent) || extent >= LIMIT)
        return gdnn_fail(GDNN_INVALID,
                         "axis %d: filter=%lld with dilation=%lld must span less than 2^62", axis,
                         filter, dilation);
    extent += 1;
    if (extent > padded)
        return gdnn_fail(GDNN_INVALID,
                         "axis %d has no output: filter=%lld with dilation=%lld spans %lld, more "
                         "than the %lld of in=%lld with pad=%lld and pad_after=%lld",
                         axis, filter, dilation, extent, padded, in, pad, pad_after);
    return GDNN_OK;
}

static gdnn_status check_axes(const gdnn_conv *conv)
{
    gdnn_status status;
    int spatial = conv->spatial;
    if (spatial < 1 || spatial > GDNN_MAX_SPATIAL)
        return gdnn_fail(GDNN_INVALID, "%d spatial axes: must be 1 to %d", spatial,
                         GDNN_MAX_SPATIAL);
    if ((status = check_range("in", spatial, conv->in, 1)) ||
        (status = check_range("filter", spatial, conv->filter, 1)) ||
        (status = check_range("pad", spatial, conv->pad, 0)) ||
        (status = check_range("pad_after", spatial, conv->pad_after, 0)) ||
        (status = check_range("stride", spatial, conv->stride, 1)) ||
        (status = check_range("dilation", spatial, conv->dilation, 1)))
        return status;
    for (int i = 0; i < spatial; i++)
        if ((status = check_out(conv, i)))
            return status;
    return GDNN_OK;
}

static const char role_names[] = "xwy";

static gdnn_status check_elements(const gdnn_conv *conv, gdnn_role role)
{
    int64_t size[GDNN_MAX_DIMS], bytes = (int64_t)gdnn_dtype_size(conv->dtype);
    char text[GDNN_AXES_TEXT];
    gdnn_sizes(conv, role, size);
    for (int i = 0; i < gdnn_dims(conv); i++)
        if (__builtin_mul_overflow(bytes, size[i], &bytes) || bytes >= LIMIT)
            return gdnn_fail(GDNN_INVALID,
                             "%c of %s elements of %s: must have less than 2^62 bytes",
                             role_names[role], gdnn_axes_text(text, gdnn_dims(conv), size),
                             gdnn_enum_word(GDNN_ENUM_dtype, (int)conv->dtype));
    return GDNN_OK;
}

/* An infinite factor would make NaN of every sum that it meets twice; nobody means it. */
static gdnn_status check_factor(const gdnn_conv *conv, const char *key, double value)
{
    bool wide = conv->dtype == GDNN_F64;
    if (!isfinite(wide ? value : (float)value))
        return gdnn_fail(GDNN_INVALID, "%s=%g: must be finite in %s, the type of the sums", key,
                         value, wide ? "f64" : "f32");
    return GDNN_OK;
}

/* Everything but the strides. */
static gdnn_status check_shape(const gdnn_conv *conv)
{
    gdnn_status status;
    if (!conv)
        return gdnn_fail(GDNN_INVALID, "the problem is NULL");
    if ((status = check_kinds(conv)) || (status = check_channels(conv)) ||
        (status = check_factor(conv, "alpha", conv->alpha)) ||
        (status = check_factor(conv, "beta", conv->beta)) ||
        (status = check_factor(conv, "alpha2", conv->alpha2)) || (status = check_axes(conv)) ||
        (status = check_elements(conv, GDNN_ROLE_X)) ||
        (status = check_elements(conv, GDNN_ROLE_W)) ||
        (status = check_elements(conv, GDNN_ROLE_Y)))
        return status;
    return GDNN_OK;
}

/* `name` is the tensor's: z has y's sizes and strides of its own. */
static gdnn_status check_strides(const gdnn_conv *conv, char name, gdnn_role role,
                                 const int64_t *stride)
{
    int64_t size[GDNN_MAX_DIMS], element = (int64_t)gdnn_dtype_size(conv->dtype), bytes = element;
    int dims = gdnn_dims(conv);
    char text[GDNN_AXES_TEXT];
    gdnn_sizes(conv, role, size);
    for (int i = 0; i < dims; i++) {
        int64_t step, reach;
        if (stride[i] < 0)
            return gdnn_fail(GDNN_INVALID, "%cstrides=%s: must be at least 0 on every axis", name,
                             gdnn_axes_text(text, dims, stride));
        /* cuDNN lets x, y and z repeat along an axis, but not the filter. Nobody repeats a filter: these are strides
         * that were never set. */
        if (role == GDNN_ROLE_W && stride[i] == 0 && size[i] > 1)
            return gdnn_fail(GDNN_INVALID,
                             "wstrides=%s: must be at least 1 on every axis longer than 1; "
                             "gdnn_conv_set_layout sets packed strides",
                             gdnn_axes_text(text, dims, stride));
        if (__builtin_mul_overflow(stride[i], element, &step) || step >= LIMIT ||
            __builtin_mul_overflow(size[i] - 1, step, &reach) ||
            __builtin_add_overflow(bytes, reach, &bytes) || bytes >= LIMIT)
            return gdnn_fail(GDNN_INVALID, "%cstrides=%s: %c must span less than 2^62 bytes", name,
                             gdnn_axes_text(text, dims, stride), name);
    }
    return GDNN_OK;
}

gdnn_status gdnn_check(const gdnn_conv *conv)
{
    gdnn_status status;
    if ((status = check_shape(conv)) ||
        (status = check_strides(conv, 'x', GDNN_ROLE_X, conv->x_stride)) ||
        (status = check_strides(conv, 'w', GDNN_ROLE_W, conv->w_stride)) ||
        (status = check_strides(conv, 'y', GDNN_ROLE_Y, conv->y_stride)))
        return status;
    return conv->z ? check_strides(conv, 'z', GDNN_ROLE_Y, conv->z_stride) : GDNN_OK;
}

gdnn_status gdnn_conv_set_layout(gdnn_conv *conv, gdnn_layout layout)
{
    gdnn_status status;
    if ((status = check_shape(conv)) ||
        (status = check_word(GDNN_ENUM_layout, "layout", (int)layout)))
        return status;
    int dims = gdnn_dims(conv);
    int64_t size[GDNN_MAX_DIMS];
    gdnn_sizes(conv, GDNN_ROLE_X, size);
    gdnn_packed(dims, size, layout, conv->x_stride);
    gdnn_sizes(conv, GDNN_ROLE_W, size);
    gdnn_packed(dims, size, layout, conv->w_stride);
    gdnn_sizes(conv, GDNN_ROLE_Y, size);
    gdnn_packed(dims, size, layout, conv->y_stride);
    gdnn_packed(dims, size, layout, conv->z_stride);
    return GDNN_OK;
}

gdnn_status gdnn_conv_out(const gdnn_conv *conv, int64_t out[GDNN_MAX_SPATIAL])
{
    if (!conv || !out)
        return gdnn_fail(GDNN_INVALID, "%s is NULL", conv ? "out" : "the problem");
    gdnn_status status = check_axes(conv);
    if (status)
        return status;
    for (int i = 0; i < conv->spatial; i++)
        out[i] = gdnn_out_size(conv, i);
    return GDNN_OK;
}
