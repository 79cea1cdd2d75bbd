#include "npy_header.h"
#include "error.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *descr;
    gdnn_dtype type;
} TYPES[] = {{"<f2", GDNN_F16}, {"<u2", GDNN_BF16}, {"<f4", GDNN_F32}, {"<f8", GDNN_F64}};

enum { N_TYPES = sizeof TYPES / sizeof *TYPES };

/* The text while it is taken apart. */
typedef struct cursor {
    const char *path, *at, *end;
} cursor;

static gdnn_status damaged(const cursor *c, const char *what)
{
    return gdnn_fail(GDNN_INVALID, "%s: its header %s; write the file again with numpy.save",
                     c->path, what);
}

static void skip_spaces(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

/* Takes `text` if it comes next, spaces before it aside. */
static bool take(cursor *c, const char *text)
{
    const size_t length = strlen(text);

    skip_spaces(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* Takes a string in either kind of quotes; longer ones than `out` holds are refused. */
static bool take_string(cursor *c, char *out, size_t out_size)
{
    skip_spaces(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char *first = c->at + 1;
    const char *last = memchr(first, *c->at, (size_t)(c->end - first));
    if (last == NULL || (size_t)(last - first) >= out_size)
        return false;
    const size_t length = (size_t)(last - first);
    memcpy(out, first, length);
    out[length] = '\0';
    c->at = last + 1;
    return strlen(out) == length;
}

/* Takes a whole number; one that does not fit is refused. */
static bool take_size(cursor *c, int64_t *size)
{
    int64_t value = 0;

    skip_spaces(c);
    const char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *c->at - '0', &value))
            return false;
    }
    *size = value;
    return c->at > first;
}

static gdnn_status parse_descr(cursor *c, gdnn_npy_header *h)
{
    char descr[16];

    if (!take_string(c, descr, sizeof descr))
        return gdnn_fail(GDNN_INVALID,
                         "%s: its elements are not plain numbers; save one of float16, float32, "
                         "float64, or the bits of bfloat16 as uint16",
                         c->path);
    for (int i = 0; i < N_TYPES; i++) {
        if (strcmp(descr, TYPES[i].descr) == 0) {
            h->type = TYPES[i].type;
            return GDNN_OK;
        }
    }
    if (descr[0] == '>')
        return gdnn_fail(GDNN_INVALID,
                         "%s: element type %s is big-endian; save it little-endian, "
                         "a.astype(a.dtype.newbyteorder('<'))",
                         c->path, descr);
    return gdnn_fail(GDNN_INVALID,
                     "%s: element type %s is not supported; save one of <f2, <f4, <f8, or the bits "
                     "of bfloat16 as <u2",
                     c->path, descr);
}

/* (), (3,), (3, 4) or (3, 4,): without a comma, (3) is no tuple. */
static gdnn_status parse_shape(cursor *c, gdnn_npy_header *h)
{
    if (!take(c, "("))
        return damaged(c, "has a shape that is no tuple");
    while (!take(c, ")")) {
        if (h->dims == GDNN_NPY_DIMS)
            return gdnn_fail(GDNN_INVALID, "%s: it has more than %d axes; a tensor has at most %d",
                             c->path, GDNN_NPY_DIMS, GDNN_MAX_DIMS);
        if (!take_size(c, &h->size[h->dims++]))
            return damaged(c, "has a shape with something in it that is no size");
        if (take(c, ","))
            continue;
        if (h->dims < 2 || !take(c, ")"))
            return damaged(c, "has a shape that is no tuple");
        break;
    }
    return GDNN_OK;
}

static gdnn_status parse_order(cursor *c, gdnn_npy_header *h)
{
    h->fortran = take(c, "True");
    if (!h->fortran && !take(c, "False"))
        return damaged(c, "has a fortran_order that is neither True nor False");
    return GDNN_OK;
}

gdnn_status gdnn_npy_header_parse(const char *path, const char *text, size_t length,
                                  gdnn_npy_header *header)
{
    static const struct {
        const char *key;
        gdnn_status (*parse)(cursor *, gdnn_npy_header *);
    } KEYS[] = {{"descr", parse_descr}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    enum { N_KEYS = sizeof KEYS / sizeof *KEYS };
    cursor c = {path, text, text + length};
    unsigned seen = 0;

    *header = (gdnn_npy_header){0};
    if (!take(&c, "{"))
        return damaged(&c, "is no dictionary");
    while (!take(&c, "}")) {
        char key[16];
        int which = 0;

        if (!take_string(&c, key, sizeof key) || !take(&c, ":"))
            return damaged(&c, "is no dictionary");
        while (which < N_KEYS && strcmp(key, KEYS[which].key) != 0)
            which++;
        if (which == N_KEYS || (seen >> which & 1))
            return damaged(&c, "has a key that is unknown or comes twice");
        seen |= 1U << which;

        const gdnn_status status = KEYS[which].parse(&c, header);
        if (status != GDNN_OK)
            return status;
        if (take(&c, ","))
            continue;
        if (!take(&c, "}"))
            return damaged(&c, "is no dictionary");
        break;
    }
    skip_spaces(&c);
    if (c.at != c.end)
        return damaged(&c, "goes on behind the dictionary");
    if (seen != (1U << N_KEYS) - 1)
        return damaged(&c, "lacks descr, fortran_order or shape");
    return GDNN_OK;
}

size_t gdnn_npy_header_format(gdnn_dtype type, int dims, const int64_t *size,
                              char text[GDNN_NPY_HEADER_TEXT])
{
    const size_t before = 10; /* magic, version and length of format 1.0 */
    size_t length = 0;
    int i = 0;

    while (i < N_TYPES && TYPES[i].type != type)
        i++;
    if (i == N_TYPES)
        return 0;
    length +=
        (size_t)sprintf(text, "{'descr': '%s', 'fortran_order': False, 'shape': (", TYPES[i].descr);
    for (int axis = 0; axis < dims; axis++)
        length += (size_t)sprintf(text + length, "%s%" PRId64, axis > 0 ? ", " : "", size[axis]);
    length += (size_t)sprintf(text + length, "%s), }", dims == 1 ? "," : "");
    while ((before + length + 1) % 64 != 0)
        text[length++] = ' ';
    text[length++] = '\n';
    return length;
}
