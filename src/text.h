/* The text form of a problem: one line of key=value tokens, from problem_keys.def. */
#ifndef GDNN_TEXT_H
#define GDNN_TEXT_H

#include "groupdnn.h"
#include <stdbool.h>

typedef enum gdnn_key {
#define GDNN_KEY(key, kind, field, fallback, help) GDNN_KEY_##key,
#include "problem_keys.def"
#undef GDNN_KEY
    GDNN_KEYS
} gdnn_key;

/* A line as read. Keys that the line leaves out have their defaults; dir, dtype and layout are then
 * the caller's to choose, and the sizes may come from elsewhere (the shapes of .npy files): who
 * sets the field of a required key also sets its bit in `given`, and conv.spatial where the line
 * has neither in nor filter. */
typedef struct gdnn_text {
    gdnn_conv conv; /* strides are set only where the line gives them */
    gdnn_layout layout;
    char name[64]; /* "" if there is none; longer names are cut */
    int64_t count;
    uint64_t given;           /* bit GDNN_KEY_x: the line has key x */
    uint8_t parts[GDNN_KEYS]; /* how many numbers the line has for a key over axes, else 0 */
} gdnn_text;

static inline bool gdnn_text_has(const gdnn_text *text, gdnn_key key)
{
    return text->given >> key & 1;
}

/* Reads one line; `#` begins a comment. *empty: the line holds nothing else. The result need not be
 * a complete or valid problem yet. GDNN_INVALID: unknown or repeated key, a value that is not of
 * the key's kind; gdnn_last_error names both. */
gdnn_status gdnn_text_parse(const char *line, gdnn_text *text, bool *empty);

/* Makes the problem of a line whose dir, dtype, layout and sizes are settled: fills what has a
 * default that depends on them (pads, acc, strides) and checks it. `*conv` is written only on
 * GDNN_OK. GDNN_INVALID: a required key is missing, alpha2 or zstrides is given without z=1, or a
 * rule of gdnn_check is broken. */
gdnn_status gdnn_text_finish(const gdnn_text *text, gdnn_conv *conv);

/* gdnn_conv_format with a name in front (NULL: none). */
size_t gdnn_text_format(const gdnn_conv *conv, const char *name, char *out, size_t size);

#endif
