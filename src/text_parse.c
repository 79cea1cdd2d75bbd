#include "error.h"
#include "text_keys.h"
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GDNN_ENUM_acc      GDNN_ENUM_dtype
#define WORDS_WORD(key)    GDNN_ENUM_##key
#define WORDS_COUNT(key)   0
#define WORDS_AXES(key)    0
#define WORDS_STRIDES(key) 0
#define WORDS_SCALE(key)   0
#define WORDS_FLAG(key)    0
#define WORDS_LABEL(key)   0

const gdnn_key_info gdnn_key_infos[GDNN_KEYS] = {
#define GDNN_KEY(key, kind, field, fallback, help)                                                 \
    {#key, GDNN_KIND_##kind, WORDS_##kind(key), offsetof(gdnn_text, field),                        \
     sizeof(fallback) == 1 && GDNN_KIND_##kind != GDNN_KIND_LABEL},
#include "problem_keys.def"
#undef GDNN_KEY
};

/* A piece of the line. */
typedef struct piece {
    const char *at;
    size_t length;
} piece;

/* Arguments for "%.*s%s" that show a piece, cut where it is very long. */
#define SHOWN_LIMIT 80
#define SHOW(p)                                                                                    \
    (int)((p).length > SHOWN_LIMIT ? SHOWN_LIMIT : (p).length), (p).at,                            \
        (p).length > SHOWN_LIMIT ? "..." : ""

static gdnn_status bad_value(const gdnn_key_info *info, piece value, const char *wanted)
{
    return gdnn_fail(GDNN_INVALID, "%s=%.*s%s: %s", info->key, SHOW(value), wanted);
}

/* Changes that turn `a` into `b`, letters inserted, deleted or replaced, whatever their case. */
static size_t edit_distance(piece a, piece b)
{
    enum { LONGEST = 15 };
    size_t row[LONGEST + 1];
    if (a.length > LONGEST || b.length > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= b.length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.length; j++) {
            bool same = tolower((unsigned char)a.at[i - 1]) == tolower((unsigned char)b.at[j - 1]);
            size_t best = diagonal + !same;
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b.length];
}

static gdnn_status unknown_key(piece key)
{
    const char *near = NULL;
    size_t nearest = 3;
    char keys[512] = "";
    size_t used = 0;
    for (int i = 0; i < GDNN_KEYS; i++) {
        const char *known = gdnn_key_infos[i].key;
        size_t distance = edit_distance(key, (piece){known, strlen(known)});
        if (distance < nearest && distance < strlen(known)) {
            nearest = distance;
            near = known;
        }
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%s%s", i ? ", " : "", known);
    }
    if (near)
        return gdnn_fail(GDNN_INVALID, "unknown key \"%.*s%s\", did you mean %s?", SHOW(key), near);
    return gdnn_fail(GDNN_INVALID, "unknown key \"%.*s%s\"; the keys are %s", SHOW(key), keys);
}

/* The readers return NULL, or what the value should have been. */
static const char not_whole[] = "must be a whole number";

static const char *read_whole(piece text, int64_t *value)
{
    size_t i = 0;
    bool negative = text.length && text.at[0] == '-';
    if (text.length && (text.at[0] == '-' || text.at[0] == '+'))
        i++;
    if (i == text.length)
        return not_whole;
    *value = 0;
    bool fits = true;
    for (; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return not_whole;
        int digit = text.at[i] - '0';
        fits = fits && !__builtin_mul_overflow(*value, 10, value) &&
               !__builtin_add_overflow(*value, negative ? -digit : digit, value);
    }
    return fits ? NULL : "does not fit in 64 bits";
}

static const char *read_axes(piece text, int most, int64_t *values, uint8_t *parts)
{
    static const char not_axes[] = "must be whole numbers joined by x, such as 3x3";
    static const char not_strides[] = "must be whole numbers joined by x, such as 64x16x4x1";
    *parts = 0;
    for (;;) {
        const char *end = memchr(text.at, 'x', text.length);
        piece part = {text.at, end ? (size_t)(end - text.at) : text.length};
        int64_t value;
        const char *wrong = read_whole(part, &value);
        if (wrong)
            return wrong != not_whole ? wrong : most == GDNN_MAX_SPATIAL ? not_axes : not_strides;
        if (*parts == most)
            return most == GDNN_MAX_SPATIAL ? "there are at most 3 spatial axes"
                                            : "a tensor has at most 5 axes";
        values[(*parts)++] = value;
        if (!end)
            return NULL;
        text.length -= part.length + 1;
        text.at = end + 1;
    }
}

bool gdnn_scale_read(const char *text, double *value)
{
    /* The locale's decimal comma must not get in; this one is static, nothing is allocated. */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end;
    if (!c_locale || !*text || isspace((unsigned char)*text))
        return false;
    *value = strtod_l(text, &end, c_locale);
    return !*end && (!isinf(*value) || strpbrk(text, "iI"));
}

static const char *read_scale(piece text, double *value)
{
    char copy[64];
    if (text.length < sizeof copy) {
        memcpy(copy, text.at, text.length);
        copy[text.length] = '\0';
        if (gdnn_scale_read(copy, value))
            return NULL;
    }
    return "must be a number that fits in a double";
}

/* Our word for what other programs say otherwise, or in capitals; NULL if it is none of these. Only
 * for messages: one word means one thing here. */
static const char *meant_word(gdnn_enum words, piece value)
{
    static const char *const others[][2] = {
        {"fp16", "f16"},           {"half", "f16"},         {"float16", "f16"},
        {"bfloat16", "bf16"},      {"fp32", "f32"},         {"float", "f32"},
        {"float32", "f32"},        {"single", "f32"},       {"fp64", "f64"},
        {"double", "f64"},         {"float64", "f64"},      {"forward", "fwd"},
        {"fprop", "fwd"},          {"dgrad", "bwd_data"},   {"wgrad", "bwd_filter"},
        {"channels_last", "nhwc"}, {"convolution", "conv"}, {"cross_correlation", "xcorr"},
    };
    int word;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i][0]) == value.length &&
            !strncasecmp(others[i][0], value.at, value.length) &&
            gdnn_enum_value(words, others[i][1], strlen(others[i][1]), &word))
            return others[i][1];
    char small[16];
    if (value.length >= sizeof small)
        return NULL;
    for (size_t i = 0; i < value.length; i++)
        small[i] = (char)tolower((unsigned char)value.at[i]);
    return gdnn_enum_value(words, small, value.length, &word) ? gdnn_enum_word(words, word) : NULL;
}

static gdnn_status read_word(const gdnn_key_info *info, piece value, void *field)
{
    int word;
    if (!gdnn_enum_value(info->words, value.at, value.length, &word)) {
        const char *near = meant_word(info->words, value);
        return gdnn_fail(GDNN_INVALID, "%s=%.*s%s: must be one of %s%s%s%s", info->key, SHOW(value),
                         gdnn_enum_words(info->words), near ? "; did you mean " : "",
                         near ? near : "", near ? "?" : "");
    }
    memcpy(field, &word, sizeof word);
    return GDNN_OK;
}

static gdnn_status read_value(gdnn_text *text, gdnn_key key, piece value)
{
    const gdnn_key_info *info = &gdnn_key_infos[key];
    void *field = (char *)text + info->offset;
    int64_t *numbers = field;
    const char *wrong = NULL;
    switch (info->kind) {
    case GDNN_KIND_WORD: return read_word(info, value, field);
    case GDNN_KIND_COUNT: wrong = read_whole(value, numbers); break;
    case GDNN_KIND_AXES:
        wrong = read_axes(value, GDNN_MAX_SPATIAL, numbers, &text->parts[key]);
        if (!wrong && text->parts[key] == 1 && !info->required)
            for (int i = 1; i < GDNN_MAX_SPATIAL; i++)
                numbers[i] = numbers[0];
        break;
    case GDNN_KIND_STRIDES:
        wrong = read_axes(value, GDNN_MAX_DIMS, numbers, &text->parts[key]);
        break;
    case GDNN_KIND_SCALE: wrong = read_scale(value, field); break;
    case GDNN_KIND_FLAG:
        if (value.length == 1 && (*value.at == '0' || *value.at == '1'))
            *(int *)field = *value.at - '0';
        else
            wrong = "must be 0 or 1";
        break;
    case GDNN_KIND_LABEL:
        snprintf(field, sizeof text->name, "%.*s", (int)value.length, value.at);
        break;
    }
    return wrong ? bad_value(info, value, wrong) : GDNN_OK;
}

/* True if commas were meant to separate pairs: one ends the value, or another pair follows it. */
static bool separates_by_commas(piece value)
{
    const char *comma = memchr(value.at, ',', value.length);
    size_t rest = comma ? (size_t)(value.at + value.length - comma) : 0;
    return comma && (rest == 1 || memchr(comma, '=', rest));
}

/* Reads one pair; `before` is the key of the pair in front of it, NULL if it is the first. */
static gdnn_status read_token(gdnn_text *text, piece token, const gdnn_key_info **before)
{
    const char *equals = memchr(token.at, '=', token.length);
    if (!equals) {
        bool cut =
            *before && ((*before)->kind == GDNN_KIND_AXES || (*before)->kind == GDNN_KIND_STRIDES ||
                        (*before)->kind == GDNN_KIND_LABEL);
        return gdnn_fail(GDNN_INVALID, "\"%.*s%s\": expected key=value%s", SHOW(token),
                         cut ? "; values contain no blanks" : "");
    }
    piece key = {token.at, (size_t)(equals - token.at)};
    piece value = {equals + 1, token.length - key.length - 1};
    for (int i = 0; i < GDNN_KEYS; i++) {
        const char *known = gdnn_key_infos[i].key;
        if (strlen(known) != key.length || memcmp(known, key.at, key.length))
            continue;
        if (gdnn_text_has(text, (gdnn_key)i))
            return gdnn_fail(GDNN_INVALID, "%.*s%s: %s was given before", SHOW(token), known);
        *before = &gdnn_key_infos[i];
        if ((*before)->kind != GDNN_KIND_LABEL && separates_by_commas(value))
            return gdnn_fail(GDNN_INVALID, "%.*s%s: pairs are separated by blanks, not commas",
                             SHOW(token));
        text->given |= UINT64_C(1) << i;
        return read_value(text, (gdnn_key)i, value);
    }
    return unknown_key(key);
}

_Static_assert(GDNN_KEYS <= 64, "gdnn_text.given has a bit for each key");
_Static_assert(sizeof(gdnn_dir) == sizeof(int), "words are stored as int");

gdnn_status gdnn_text_parse(const char *line, gdnn_text *text, bool *empty)
{
    static const char blanks[] = " \t\r\n\v\f";
    *text = (gdnn_text){.count = 1};
    gdnn_conv_init(&text->conv);
    *empty = true;
    const gdnn_key_info *before = NULL;
    for (const char *at = line + strspn(line, blanks); *at; at += strspn(at, blanks)) {
        if (*at == '#') {
            at += strcspn(at, "\n");
            continue;
        }
        *empty = false;
        piece token = {at, strcspn(at, " \t\r\n\v\f#")};
        gdnn_status status = read_token(text, token, &before);
        if (status)
            return status;
        at += token.length;
    }
    int in = text->parts[GDNN_KEY_in], filter = text->parts[GDNN_KEY_filter];
    if (in && filter && in != filter) {
        char in_text[GDNN_AXES_TEXT], filter_text[GDNN_AXES_TEXT];
        char hint[GDNN_AXES_TEXT + 16] = "", whole[GDNN_AXES_TEXT];
        const int64_t size = text->conv.filter[0], sizes[GDNN_MAX_SPATIAL] = {size, size, size};
        if (filter == 1) /* other keys take one number for all axes */
            snprintf(hint, sizeof hint, ": write filter=%s", gdnn_axes_text(whole, in, sizes));
        return gdnn_fail(GDNN_INVALID, "in=%s and filter=%s differ in the number of axes%s",
                         gdnn_axes_text(in_text, in, text->conv.in),
                         gdnn_axes_text(filter_text, filter, text->conv.filter), hint);
    }
    if (in || filter)
        text->conv.spatial = in ? in : filter;
    return GDNN_OK;
}

static gdnn_status check_parts(const gdnn_text *text)
{
    int spatial = text->conv.spatial;
    for (int i = 0; i < GDNN_KEYS; i++) {
        const gdnn_key_info *info = &gdnn_key_infos[i];
        bool strides = info->kind == GDNN_KIND_STRIDES;
        int parts = text->parts[i], wanted = strides ? spatial + 2 : spatial;
        char value[GDNN_AXES_TEXT];
        if (!parts || parts == wanted || (parts == 1 && !strides && !info->required))
            continue;
        const int64_t *numbers = (const int64_t *)((const char *)text + info->offset);
        return gdnn_fail(GDNN_INVALID,
                         "%s=%s: has %d parts, but with %d spatial %s it must have %d%s", info->key,
                         gdnn_axes_text(value, parts, numbers), parts, spatial,
                         spatial == 1 ? "axis" : "axes", wanted,
                         strides || info->required ? "" : ", or one for all");
    }
    return GDNN_OK;
}

static gdnn_status check_missing(const gdnn_text *text)
{
    for (int i = 0; i < GDNN_KEYS; i++)
        if (gdnn_key_infos[i].required && !gdnn_text_has(text, (gdnn_key)i))
            return gdnn_fail(GDNN_INVALID, "%s is missing: a problem needs n, c, in, k and filter",
                             gdnn_key_infos[i].key);

    static const gdnn_key strides[] = {GDNN_KEY_xstrides, GDNN_KEY_wstrides, GDNN_KEY_ystrides};
    const char *missing = NULL, *present = NULL;
    for (int i = 2; i >= 0; i--) {
        const char *key = gdnn_key_infos[strides[i]].key;
        if (gdnn_text_has(text, strides[i]))
            present = key;
        else
            missing = key;
    }
    if (present && gdnn_text_has(text, GDNN_KEY_layout))
        return gdnn_fail(GDNN_INVALID, "layout=%s: leave it out where %s is given",
                         gdnn_enum_word(GDNN_ENUM_layout, (int)text->layout), present);
    if (present && missing)
        return gdnn_fail(GDNN_INVALID, "%s is missing: %s was given, and they go together", missing,
                         present);
    return GDNN_OK;
}

/* What belongs to z means nothing without it. */
static gdnn_status check_z(const gdnn_text *text)
{
    char value[GDNN_AXES_TEXT];
    if (text->conv.z)
        return GDNN_OK;
    if (gdnn_text_has(text, GDNN_KEY_alpha2))
        return gdnn_fail(GDNN_INVALID, "alpha2=%g: needs z=1", text->conv.alpha2);
    if (gdnn_text_has(text, GDNN_KEY_zstrides))
        return gdnn_fail(
            GDNN_INVALID, "zstrides=%s: needs z=1",
            gdnn_axes_text(value, text->parts[GDNN_KEY_zstrides], text->conv.z_stride));
    return GDNN_OK;
}

gdnn_status gdnn_text_finish(const gdnn_text *text, gdnn_conv *conv)
{
    gdnn_conv done = text->conv, clean;
    gdnn_status status;
    if ((status = check_missing(text)) || (status = check_parts(text)) || (status = check_z(text)))
        return status;
    if (text->count < 1)
        return gdnn_fail(GDNN_INVALID, "count=%lld: must be at least 1", (long long)text->count);
    if (!gdnn_text_has(text, GDNN_KEY_acc))
        done.acc = done.dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
    if (!gdnn_text_has(text, GDNN_KEY_pad_after))
        memcpy(done.pad_after, done.pad, sizeof done.pad);
    /* One number for all axes has filled those that the problem lacks, too. */
    gdnn_conv_init(&clean);
    for (int i = done.spatial < 0 ? 0 : done.spatial; i < GDNN_MAX_SPATIAL; i++) {
        done.pad[i] = clean.pad[i];
        done.pad_after[i] = clean.pad_after[i];
        done.stride[i] = clean.stride[i];
        done.dilation[i] = clean.dilation[i];
    }
    if (!gdnn_text_has(text, GDNN_KEY_xstrides) &&
        (status = gdnn_conv_set_layout(&done, text->layout)))
        return status;
    if (gdnn_text_has(text, GDNN_KEY_zstrides))
        memcpy(done.z_stride, text->conv.z_stride, sizeof done.z_stride);
    else
        memcpy(done.z_stride, done.y_stride, sizeof done.z_stride);
    if ((status = gdnn_check(&done)))
        return status;
    *conv = done;
    return GDNN_OK;
}

gdnn_status gdnn_conv_parse(const char *text, gdnn_conv *conv)
{
    gdnn_text line;
    bool empty;
    if (!text || !conv)
        return gdnn_fail(GDNN_INVALID, "%s is NULL", text ? "conv" : "text");
    gdnn_status status = gdnn_text_parse(text, &line, &empty);
    if (status)
        return status;
    if (empty)
        return gdnn_fail(GDNN_INVALID, "the text is empty; a problem needs n, c, in, k and filter");
    return gdnn_text_finish(&line, conv);
}
