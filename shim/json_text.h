/* JSON where it lies: nothing is copied or allocated, nothing calls itself. The numbers NaN, Infinity and -Infinity are
 * none of JSON's, but cuDNN writes them. Strings are not checked for what is no UTF-8, nor escapes for what they stand
 * for. */
#ifndef GDNN_JSON_TEXT_H
#define GDNN_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDNN_JSON_DEPTH = 32 }; /* of objects and arrays in each other that is read */

/* A value: its first byte, and the one behind its last. */
typedef struct gdnn_json {
    const char *at, *end;
} gdnn_json;

/* What is left of an object's members or an array's elements. */
typedef struct gdnn_json_items {
    gdnn_json rest;
    bool named;
} gdnn_json_items;

/* False unless the `length` bytes of `text` are one value, with white space around it at most. All values inside are
 * well formed then, and every other function takes those only. */
bool gdnn_json_read(const char *text, size_t length, gdnn_json *value);

bool gdnn_json_is_object(gdnn_json value);
bool gdnn_json_is_array(gdnn_json value);

/* The members or elements of `value`; none if it has no such. */
gdnn_json_items gdnn_json_open(gdnn_json value);

/* Takes the next one; `name` is set if it is an object's, a string. False: there is none. */
bool gdnn_json_next(gdnn_json_items *items, gdnn_json *name, gdnn_json *value);

/* The first member of that name. False: there is none, or `object` is none. */
bool gdnn_json_find(gdnn_json object, const char *name, gdnn_json *value);

/* The bytes of a string, without quotes. False: no string, or it has escapes, which are not resolved. */
bool gdnn_json_string(gdnn_json value, gdnn_json *bytes);

/* Whether `value` is a string without escapes and has the bytes of `text`. */
bool gdnn_json_is(gdnn_json value, const char *text);

/* Whether both are strings without escapes and have the same bytes. */
bool gdnn_json_equal(gdnn_json one, gdnn_json other);

bool gdnn_json_flag(gdnn_json value, bool *flag);

/* An integer that is written as one and fits; also the bytes of a string. */
bool gdnn_json_whole(gdnn_json value, int64_t *number);

/* A number of up to 63 characters that fits in a double. In any locale a point is a point. */
bool gdnn_json_real(gdnn_json value, double *number);

#endif
