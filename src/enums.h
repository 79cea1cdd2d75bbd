/* Words for the enumerations of the public header, from enums.def. */
#ifndef GDNN_ENUMS_H
#define GDNN_ENUMS_H

#include "groupdnn.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum gdnn_enum {
    GDNN_ENUM_dir,
    GDNN_ENUM_dtype,
    GDNN_ENUM_layout,
    GDNN_ENUM_mode,
    GDNN_ENUM_math,
    GDNN_ENUM_act
} gdnn_enum;

/* The word for `value`; NULL if the enumeration has no such value. */
const char *gdnn_enum_word(gdnn_enum which, int value);

/* The value for the word of `length` bytes at `word`; false if there is none. */
bool gdnn_enum_value(gdnn_enum which, const char *word, size_t length, int *value);

/* All words, "f16, bf16, f32, f64", for messages. Static. */
const char *gdnn_enum_words(gdnn_enum which);

#endif
