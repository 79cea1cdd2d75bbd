#include "json.h"

#include "error.h"
#include <errno.h>
#include <math.h>
#include <string.h>

gdnn_status json_open(json *j, const char *path)
{
    *j = (json){.path = path};
    if (!path)
        return GDNN_OK;
    j->file = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!j->file)
        return gdnn_fail(GDNN_INVALID, "--json %s: %s", path, strerror(errno));
    return GDNN_OK;
}

/* Bytes of the UTF-8 character at `s`; 0 if it is none. */
static size_t utf8_length(const unsigned char *s)
{
    size_t length = s[0] < 0x80                    ? 1
                    : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                    : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                    : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* overlong, a surrogate, or beyond U+10FFFF */
    return length;
}

static void write_string(FILE *file, const char *value)
{
    fputc('"', file);
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        size_t length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", file);
            length = 1;
        } else if (*s == '"' || *s == '\\') {
            fprintf(file, "\\%c", *s);
        } else if (*s < 0x20) {
            fprintf(file, "\\u%04x", *s);
        } else {
            fwrite(s, 1, length, file);
        }
        s += length;
    }
    fputc('"', file);
}

/* The key, and what separates it; false if nothing is written. */
static bool member(json *j, const char *key)
{
    if (!j->file)
        return false;
    if (!j->first)
        fputs(", ", j->file);
    j->first = false;
    write_string(j->file, key);
    fputs(": ", j->file);
    return true;
}

void json_begin(json *j)
{
    j->first = true;
    if (j->file)
        fputc('{', j->file);
}

void json_end(json *j)
{
    if (!j->file)
        return;
    fputs("}\n", j->file);
    fflush(j->file);
}

void json_text(json *j, const char *key, const char *value)
{
    if (!value)
        json_null(j, key);
    else if (member(j, key))
        write_string(j->file, value);
}

void json_number(json *j, const char *key, double value)
{
    if (!isfinite(value))
        json_null(j, key);
    else if (member(j, key))
        fprintf(j->file, "%.7g", value);
}

void json_integer(json *j, const char *key, long long value)
{
    if (member(j, key))
        fprintf(j->file, "%lld", value);
}

void json_flag(json *j, const char *key, bool value)
{
    if (member(j, key))
        fputs(value ? "true" : "false", j->file);
}

void json_null(json *j, const char *key)
{
    if (member(j, key))
        fputs("null", j->file);
}

gdnn_status json_close(json *j)
{
    if (!j->file)
        return GDNN_OK;
    bool bad = ferror(j->file) || fflush(j->file) != 0;
    if (j->file != stdout)
        bad |= fclose(j->file) != 0;
    j->file = NULL;
    return bad ? gdnn_fail(GDNN_FAILED, "--json %s: not everything could be written", j->path)
               : GDNN_OK;
}
