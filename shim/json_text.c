#include "json_text.h"
#include "text_keys.h"
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether the next byte is `c`, which is taken then. */
static bool take_byte(gdnn_json *rest, char c)
{
    if (rest->at == rest->end || *rest->at != c)
        return false;
    rest->at++;
    return true;
}

static void skip_space(gdnn_json *rest)
{
    while (rest->at < rest->end && is_space(*rest->at))
        rest->at++;
}

static bool take(gdnn_json *rest, char c)
{
    skip_space(rest);
    return take_byte(rest, c);
}

static bool take_word(gdnn_json *rest, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(rest->end - rest->at) < length || memcmp(rest->at, word, length) != 0)
        return false;
    rest->at += length;
    return true;
}

static bool take_digits(gdnn_json *rest)
{
    const char *first = rest->at;
    while (rest->at < rest->end && is_digit(*rest->at))
        rest->at++;
    return rest->at > first;
}

static bool take_number(gdnn_json *rest)
{
    take_byte(rest, '-');
    if (take_word(rest, "Infinity"))
        return true;
    if (!take_byte(rest, '0') && !take_digits(rest))
        return false;
    if (take_byte(rest, '.') && !take_digits(rest))
        return false;
    if (!take_byte(rest, 'e') && !take_byte(rest, 'E'))
        return true;
    if (!take_byte(rest, '+'))
        take_byte(rest, '-');
    return take_digits(rest);
}

static bool take_string(gdnn_json *rest)
{
    if (!take(rest, '"'))
        return false;
    for (; rest->at < rest->end; rest->at++) {
        if (*rest->at == '"')
            return take_byte(rest, '"');
        if ((unsigned char)*rest->at < ' ')
            return false;
        if (*rest->at == '\\' && ++rest->at == rest->end) /* whatever follows is no end */
            return false;
    }
    return false;
}

static bool take_scalar(gdnn_json *rest)
{
    skip_space(rest);
    if (rest->at < rest->end && *rest->at == '"')
        return take_string(rest);
    return take_word(rest, "true") || take_word(rest, "false") || take_word(rest, "null") ||
           take_word(rest, "NaN") || take_number(rest);
}

static bool take_value(gdnn_json *rest)
{
    bool named[GDNN_JSON_DEPTH]; /* of what is open: whether it is an object */
    int depth = 0;
    for (;;) {
        if (depth && named[depth - 1] && !(take_string(rest) && take(rest, ':')))
            return false;
        bool object = take(rest, '{');
        if (object || take(rest, '[')) {
            if (depth == GDNN_JSON_DEPTH)
                return false;
            if (!take(rest, object ? '}' : ']')) {
                named[depth++] = object;
                continue;
            }
        } else if (!take_scalar(rest)) {
            return false;
        }
        while (depth && !take(rest, ',')) {
            if (!take(rest, named[depth - 1] ? '}' : ']'))
                return false;
            depth--;
        }
        if (!depth)
            return true;
    }
}

/* The value at the beginning of `rest`. */
static bool split(gdnn_json *rest, gdnn_json *value)
{
    skip_space(rest);
    value->at = rest->at;
    bool whole = take_value(rest);
    value->end = rest->at;
    return whole;
}

bool gdnn_json_read(const char *text, size_t length, gdnn_json *value)
{
    gdnn_json rest = {text, text + length};
    if (!split(&rest, value))
        return false;
    skip_space(&rest);
    return rest.at == rest.end;
}

static bool begins(gdnn_json value, char c)
{
    return value.at < value.end && *value.at == c;
}

bool gdnn_json_is_object(gdnn_json value)
{
    return begins(value, '{');
}

bool gdnn_json_is_array(gdnn_json value)
{
    return begins(value, '[');
}

gdnn_json_items gdnn_json_open(gdnn_json value)
{
    bool named = gdnn_json_is_object(value);
    if (named || gdnn_json_is_array(value))
        return (gdnn_json_items){{value.at + 1, value.end - 1}, named};
    return (gdnn_json_items){{value.end, value.end}, false};
}

bool gdnn_json_next(gdnn_json_items *items, gdnn_json *name, gdnn_json *value)
{
    gdnn_json *rest = &items->rest;
    take(rest, ',');
    if (items->named) {
        skip_space(rest);
        name->at = rest->at;
        if (!take_string(rest))
            return false;
        name->end = rest->at;
        take(rest, ':');
    }
    return split(rest, value);
}

bool gdnn_json_find(gdnn_json object, const char *name, gdnn_json *value)
{
    gdnn_json_items items = gdnn_json_open(object);
    gdnn_json found;
    while (items.named && gdnn_json_next(&items, &found, value))
        if (gdnn_json_is(found, name))
            return true;
    return false;
}

bool gdnn_json_string(gdnn_json value, gdnn_json *bytes)
{
    if (!begins(value, '"'))
        return false;
    *bytes = (gdnn_json){value.at + 1, value.end - 1};
    return !memchr(bytes->at, '\\', (size_t)(bytes->end - bytes->at));
}

static bool same_bytes(gdnn_json one, gdnn_json other)
{
    size_t length = (size_t)(one.end - one.at);
    return (size_t)(other.end - other.at) == length && memcmp(one.at, other.at, length) == 0;
}

bool gdnn_json_is(gdnn_json value, const char *text)
{
    gdnn_json bytes;
    return gdnn_json_string(value, &bytes) &&
           same_bytes(bytes, (gdnn_json){text, text + strlen(text)});
}

bool gdnn_json_equal(gdnn_json one, gdnn_json other)
{
    return gdnn_json_string(one, &one) && gdnn_json_string(other, &other) && same_bytes(one, other);
}

bool gdnn_json_flag(gdnn_json value, bool *flag)
{
    *flag = begins(value, 't');
    return *flag || begins(value, 'f');
}

bool gdnn_json_whole(gdnn_json value, int64_t *number)
{
    bool negative = take_byte(&value, '-');
    *number = 0;
    if (value.at == value.end || (*value.at == '0' && value.end - value.at > 1))
        return false;
    for (; value.at < value.end; value.at++) {
        int64_t digit = *value.at - '0';
        if (!is_digit(*value.at) || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, negative ? -digit : digit, number))
            return false;
    }
    return true;
}

bool gdnn_json_real(gdnn_json value, double *number)
{
    char copy[64];
    size_t length = (size_t)(value.end - value.at);
    if (length >= sizeof copy || begins(value, '"'))
        return false;
    memcpy(copy, value.at, length);
    copy[length] = '\0';
    return gdnn_scale_read(copy, number);
}
