#include "given.h"

#include "error.h"
#include "problem.h"
#include "text_keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that the text of a shape needs at most. */
enum { SHAPE_TEXT = 8 + GDNN_NPY_DIMS * 22 };

/* "(2, 64, 28, 28)" */
static const char *shape_text(int dims, const int64_t *size, char text[static SHAPE_TEXT])
{
    int used = snprintf(text, SHAPE_TEXT, "(");
    for (int i = 0; i < dims; i++)
        used += snprintf(text + used, SHAPE_TEXT - (size_t)used, "%s%lld", i ? ", " : "",
                         (long long)size[i]);
    snprintf(text + used, SHAPE_TEXT - (size_t)used, dims == 1 ? ",)" : ")");
    return text;
}

/* Checks the number of axes of a file, and against `first`, the first file that has spatial axes,
 * TENSORS if none is read yet. */
static gdnn_status check_dims(const given *g, tensor_name name, tensor_name *first)
{
    char shape[SHAPE_TEXT], other[SHAPE_TEXT];
    const gdnn_npy *file = &g->file[name], *earlier = *first == TENSORS ? NULL : &g->file[*first];
    const char *path = g->path[name];
    shape_text(file->dims, file->size, shape);
    if (name == TENSOR_BIAS)
        return file->dims == 1
                   ? GDNN_OK
                   : gdnn_fail(GDNN_INVALID, "%s: shape %s, but a bias is (K,)", path, shape);
    if (file->dims < 3 || file->dims > GDNN_MAX_DIMS)
        return gdnn_fail(GDNN_INVALID,
                         "%s: shape %s, but 2 axes and 1 to %d spatial ones are needed", path,
                         shape, GDNN_MAX_SPATIAL);
    if (earlier && file->dims != earlier->dims)
        return gdnn_fail(GDNN_INVALID,
                         "%s has %d axes, %s, and %s has %d axes, %s: they must have "
                         "the same number",
                         g->path[*first], earlier->dims,
                         shape_text(earlier->dims, earlier->size, other), path, file->dims, shape);
    if (!earlier)
        *first = name;
    return GDNN_OK;
}

gdnn_status given_read(given *g)
{
    tensor_name first = TENSORS;
    gdnn_status status = GDNN_OK;
    for (tensor_name i = 0; i < TENSORS && status == GDNN_OK; i++) {
        if (!g->path[i])
            continue;
        status = gdnn_npy_read(g->path[i], &g->file[i]);
        if (status == GDNN_OK)
            status = check_dims(g, i, &first);
    }
    return status;
}

/* Where the sizes that are settled so far come from. */
typedef struct origins {
    const char *of[GDNN_KEYS];
} origins;

/* Sets one size of `text`, or compares it with what is known. */
static gdnn_status settle(gdnn_text *text, origins *from, gdnn_key key, int64_t *field,
                          int64_t size, const char *path)
{
    if (gdnn_text_has(text, key) && *field != size)
        return gdnn_fail(GDNN_INVALID, "%s is %lld in %s and %lld in %s", gdnn_key_infos[key].key,
                         (long long)*field, from->of[key] ? from->of[key] : "the problem",
                         (long long)size, path);
    *field = size;
    text->given |= UINT64_C(1) << key;
    from->of[key] = path;
    return GDNN_OK;
}

/* The same for the spatial sizes that a file has. */
static gdnn_status settle_axes(gdnn_text *text, gdnn_key key, int64_t *field, const gdnn_npy *file,
                               const char *path)
{
    int spatial = file->dims - 2;
    size_t bytes = (size_t)spatial * sizeof *field;
    char said[GDNN_AXES_TEXT], has[GDNN_AXES_TEXT];
    if (gdnn_text_has(text, key) &&
        (text->parts[key] != spatial || memcmp(field, file->size + 2, bytes)))
        return gdnn_fail(GDNN_INVALID, "%s is %s in the problem and %s in %s",
                         gdnn_key_infos[key].key, gdnn_axes_text(said, text->parts[key], field),
                         gdnn_axes_text(has, spatial, file->size + 2), path);
    memcpy(field, file->size + 2, bytes);
    text->given |= UINT64_C(1) << key;
    text->parts[key] = (uint8_t)spatial;
    return GDNN_OK;
}

/* Groups: C over the channels that a filter sees; or C, where groups are said. */
static gdnn_status settle_groups(gdnn_text *text, origins *from, const gdnn_npy *w,
                                 const char *path)
{
    gdnn_conv *conv = &text->conv;
    int64_t cpg = w->size[1];
    if (!gdnn_text_has(text, GDNN_KEY_c)) /* the line must say it, or groups; else c is missing */
        return gdnn_text_has(text, GDNN_KEY_groups) && cpg > 0 && conv->groups < INT64_MAX / cpg
                   ? settle(text, from, GDNN_KEY_c, &conv->c, conv->groups * cpg, path)
                   : GDNN_OK;
    if (cpg < 1 || conv->c % cpg)
        return gdnn_fail(GDNN_INVALID, "c=%lld is not a multiple of the %lld channels of %s",
                         (long long)conv->c, (long long)cpg, path);
    if (gdnn_text_has(text, GDNN_KEY_groups) && conv->groups != conv->c / cpg)
        return gdnn_fail(GDNN_INVALID,
                         "%s has C/groups=%lld and %s has C=%lld, so groups would be %lld, but the "
                         "problem says groups=%lld",
                         path, (long long)cpg,
                         from->of[GDNN_KEY_c] ? from->of[GDNN_KEY_c] : "the problem",
                         (long long)conv->c, (long long)(conv->c / cpg), (long long)conv->groups);
    return settle(text, from, GDNN_KEY_groups, &conv->groups, conv->c / cpg, path);
}

gdnn_status given_sizes(const given *g, gdnn_text *text)
{
    gdnn_conv *conv = &text->conv;
    const struct {
        tensor_name tensor;
        int axis;
        gdnn_key key;
        int64_t *field;
    } sizes[] = {
        {TENSOR_X, 0, GDNN_KEY_n, &conv->n}, {TENSOR_X, 1, GDNN_KEY_c, &conv->c},
        {TENSOR_W, 0, GDNN_KEY_k, &conv->k}, {TENSOR_Y, 0, GDNN_KEY_n, &conv->n},
        {TENSOR_Y, 1, GDNN_KEY_k, &conv->k}, {TENSOR_Z, 0, GDNN_KEY_n, &conv->n},
        {TENSOR_Z, 1, GDNN_KEY_k, &conv->k}, {TENSOR_BIAS, 0, GDNN_KEY_k, &conv->k},
    };
    const gdnn_npy *x = &g->file[TENSOR_X], *w = &g->file[TENSOR_W];
    const char *x_path = g->path[TENSOR_X], *w_path = g->path[TENSOR_W];
    origins from = {.of = {NULL}};
    gdnn_status status = GDNN_OK;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && status == GDNN_OK; i++) {
        tensor_name name = sizes[i].tensor;
        if (g->path[name] && name != TENSOR_BIAS)
            conv->spatial = g->file[name].dims - 2;
        if (g->path[name])
            status = settle(text, &from, sizes[i].key, sizes[i].field,
                            g->file[name].size[sizes[i].axis], g->path[name]);
    }
    if (status == GDNN_OK && x_path)
        status = settle_axes(text, GDNN_KEY_in, conv->in, x, x_path);
    if (status == GDNN_OK && w_path)
        status = settle_axes(text, GDNN_KEY_filter, conv->filter, w, w_path);
    if (status == GDNN_OK && w_path)
        status = settle_groups(text, &from, w, w_path);
    conv->z |= g->path[TENSOR_Z] != NULL;
    conv->bias |= g->path[TENSOR_BIAS] != NULL;
    return status;
}

gdnn_status given_dtype(const given *g, gdnn_dtype *dtype)
{
    const char *first = NULL;
    for (int i = 0; i < TENSORS; i++) {
        if (!g->path[i])
            continue;
        if (first && g->file[i].type != *dtype)
            return gdnn_fail(GDNN_INVALID, "%s holds %s and %s holds %s: say dtype=", first,
                             gdnn_enum_word(GDNN_ENUM_dtype, (int)*dtype), g->path[i],
                             gdnn_enum_word(GDNN_ENUM_dtype, (int)g->file[i].type));
        first = g->path[i];
        *dtype = g->file[i].type;
    }
    return GDNN_OK;
}

bool given_suffices(const given *g, gdnn_dir dir)
{
    for (int role = TENSOR_X; role <= TENSOR_Y; role++)
        if (role != (int)gdnn_written(dir) && !g->path[role])
            return false;
    return true;
}

gdnn_status given_check(const given *g, const gdnn_conv *conv)
{
    char has[SHAPE_TEXT], wants[SHAPE_TEXT];
    for (tensor_name i = 0; i < TENSORS; i++) {
        if (!g->path[i])
            continue;
        tensor t = tensor_of(conv, i);
        const gdnn_npy *file = &g->file[i];
        if (file->dims != t.dims || memcmp(file->size, t.size, (size_t)t.dims * sizeof t.size[0]))
            return gdnn_fail(GDNN_INVALID, "%s: shape %s, but %s of this problem is %s", g->path[i],
                             shape_text(file->dims, file->size, has), tensor_label(conv->dir, i),
                             shape_text(t.dims, t.size, wants));
    }
    return GDNN_OK;
}

void given_free(given *g)
{
    for (int i = 0; i < TENSORS; i++)
        free(g->file[i].data);
    *g = (given){.path = {NULL}};
}
