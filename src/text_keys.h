/* The table behind the text form, from problem_keys.def, and the spelling of its values. */
#ifndef GDNN_TEXT_KEYS_H
#define GDNN_TEXT_KEYS_H

#include "enums.h"
#include "text.h"

typedef enum gdnn_kind {
    GDNN_KIND_WORD,
    GDNN_KIND_COUNT,
    GDNN_KIND_AXES,
    GDNN_KIND_STRIDES,
    GDNN_KIND_SCALE,
    GDNN_KIND_FLAG,
    GDNN_KIND_LABEL
} gdnn_kind;

typedef struct gdnn_key_info {
    const char *key;
    gdnn_kind kind;
    gdnn_enum words; /* of a WORD */
    size_t offset;   /* of its field in gdnn_text */
    bool required;
} gdnn_key_info;

extern const gdnn_key_info gdnn_key_infos[GDNN_KEYS];

/* Reads a real number; false if `text` is anything else, or too large for a double. The same in every locale. */
bool gdnn_scale_read(const char *text, double *value);

/* Bytes that gdnn_axes_text needs at most. */
#define GDNN_AXES_TEXT (GDNN_MAX_DIMS * 21)

/* Writes "56x56" into `text`; returns `text`. */
const char *gdnn_axes_text(char text[GDNN_AXES_TEXT], int count, const int64_t *values);

#endif
