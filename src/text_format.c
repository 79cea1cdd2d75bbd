#include "error.h"
#include "problem.h"
#include "text_keys.h"
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *gdnn_axes_text(char text[GDNN_AXES_TEXT], int count, const int64_t *values)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, GDNN_AXES_TEXT - used, "%s%lld", i ? "x" : "",
                                 (long long)values[i]);
    return text;
}

/* Where the text goes: what does not fit is counted only, as snprintf does. */
typedef struct sink {
    char *out;
    size_t size, length;
} sink;

__attribute__((format(printf, 2, 3))) static void append(sink *to, const char *format, ...)
{
    va_list arguments;
    bool room = to->length < to->size;
    va_start(arguments, format);
    int length = vsnprintf(room ? to->out + to->length : NULL, room ? to->size - to->length : 0,
                           format, arguments);
    va_end(arguments);
    if (length > 0)
        to->length += (size_t)length;
}

/* The fewest digits that read back as the same number. */
static void append_scale(sink *to, double value)
{
    char text[32];
    double back;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (gdnn_scale_read(text, &back) && back == value)
            break;
    }
    append(to, "%s", text);
}

static const void *field_of(const gdnn_text *text, const gdnn_key_info *info)
{
    return (const char *)text + info->offset;
}

static size_t field_size(const gdnn_text *text, const gdnn_key_info *info)
{
    switch (info->kind) {
    case GDNN_KIND_WORD:
    case GDNN_KIND_FLAG: return sizeof(int);
    case GDNN_KIND_COUNT: return sizeof(int64_t);
    case GDNN_KIND_AXES: return (size_t)text->conv.spatial * sizeof(int64_t);
    case GDNN_KIND_STRIDES: return (size_t)gdnn_dims(&text->conv) * sizeof(int64_t);
    case GDNN_KIND_SCALE: return sizeof(double);
    case GDNN_KIND_LABEL: return sizeof text->name;
    }
    return 0;
}

static void append_axes(sink *to, const gdnn_key_info *info, int count, const int64_t *values)
{
    char text[GDNN_AXES_TEXT];
    bool all_same = info->kind == GDNN_KIND_AXES && !info->required;
    for (int i = 1; i < count; i++)
        all_same = all_same && values[i] == values[0];
    append(to, "%s", gdnn_axes_text(text, all_same && count ? 1 : count, values));
}

static void append_value(sink *to, const gdnn_text *text, const gdnn_key_info *info)
{
    const void *field = field_of(text, info);
    const char *word;
    int number;
    switch (info->kind) {
    case GDNN_KIND_WORD:
        memcpy(&number, field, sizeof number);
        word = gdnn_enum_word(info->words, number);
        if (word)
            append(to, "%s", word);
        else
            append(to, "%d", number);
        break;
    case GDNN_KIND_FLAG: append(to, "%d", *(const int *)field); break;
    case GDNN_KIND_COUNT: append(to, "%lld", (long long)*(const int64_t *)field); break;
    case GDNN_KIND_AXES: append_axes(to, info, text->conv.spatial, field); break;
    case GDNN_KIND_STRIDES: append_axes(to, info, gdnn_dims(&text->conv), field); break;
    case GDNN_KIND_SCALE: append_scale(to, *(const double *)field); break;
    case GDNN_KIND_LABEL: append(to, "%s", (const char *)field); break;
    }
}

/* What gdnn_text_finish would fill in for keys that are left out. */
static void set_defaults(gdnn_text *defaults, const gdnn_conv *conv)
{
    *defaults = (gdnn_text){.count = 1};
    gdnn_conv_init(&defaults->conv);
    defaults->conv.acc = conv->dtype == GDNN_F64 ? GDNN_F64 : GDNN_F32;
    memcpy(defaults->conv.pad_after, conv->pad, sizeof conv->pad);
    memcpy(defaults->conv.z_stride, conv->y_stride, sizeof conv->y_stride);
}

/* Spaces and # would end the name. */
static void copy_name(gdnn_text *text, const char *name)
{
    snprintf(text->name, sizeof text->name, "%s", name);
    for (char *p = text->name; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == '#' || *p == 0x7f)
            *p = '_';
}

static bool wanted(const gdnn_text *text, const gdnn_text *defaults, gdnn_key key, bool packed)
{
    const gdnn_key_info *info = &gdnn_key_infos[key];
    switch (key) {
    /* A tool runs all of them where the line leaves them out. */
    case GDNN_KEY_dir:
    case GDNN_KEY_dtype: return true;
    case GDNN_KEY_layout: return packed;
    case GDNN_KEY_xstrides:
    case GDNN_KEY_wstrides:
    case GDNN_KEY_ystrides: return !packed;
    case GDNN_KEY_alpha2:
        if (!text->conv.z)
            return false;
        break;
    case GDNN_KEY_zstrides:
        if (packed || !text->conv.z)
            return false;
        break;
    default: break;
    }
    return info->required ||
           memcmp(field_of(text, info), field_of(defaults, info), field_size(text, info));
}

size_t gdnn_text_format(const gdnn_conv *conv, const char *name, char *out, size_t size)
{
    sink to = {out, size, 0};
    gdnn_text text = {.conv = *conv, .count = 1}, defaults;
    if (size)
        out[0] = '\0';
    if (name)
        copy_name(&text, name);
    set_defaults(&defaults, conv);

    /* A broken problem is shown too, for messages: as far as its fields make sense. */
    if (conv->spatial < 0 || conv->spatial > GDNN_MAX_SPATIAL)
        text.conv.spatial = conv->spatial < 0 ? 0 : GDNN_MAX_SPATIAL;
    bool packed = conv->groups >= 1 && gdnn_common_layout(&text.conv, &text.layout);

    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    for (int i = 0; i < GDNN_KEYS; i++)
        if (wanted(&text, &defaults, (gdnn_key)i, packed)) {
            append(&to, "%s%s=", to.length ? " " : "", gdnn_key_infos[i].key);
            append_value(&to, &text, &gdnn_key_infos[i]);
        }
    uselocale(before);
    return to.length;
}

size_t gdnn_conv_format(const gdnn_conv *conv, char *text, size_t size)
{
    if (conv && (text || !size))
        return gdnn_text_format(conv, NULL, text, size);
    gdnn_fail(GDNN_INVALID, "gdnn_conv_format: %s is NULL", conv ? "text" : "conv");
    if (text && size)
        *text = '\0';
    return 0;
}
