#include "facts.h"

#include "error.h"
#include "lines.h"
#include "suggest.h"
#include "text_keys.h"
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef enum fact_kind { TEXT, INT, INT64, REAL } fact_kind;

typedef struct fact {
    const char *key;
    fact_kind kind;
    size_t offset;
    bool required;
} fact;

static const fact facts[] = {
    {"name", TEXT, offsetof(gdnn_device, name), false},
    {"sm", INT, offsetof(gdnn_device, sm), true},
    {"multiprocessors", INT, offsetof(gdnn_device, multiprocessors), true},
    {"shared_bytes", INT64, offsetof(gdnn_device, shared_bytes), true},
    {"bandwidth_gbs", REAL, offsetof(gdnn_device, bandwidth_gbs), false},
    {"fp32_tflops", REAL, offsetof(gdnn_device, fp32_tflops), false},
    {"tensor16_tflops", REAL, offsetof(gdnn_device, tensor16_tflops), false},
};
enum { FACTS = sizeof facts / sizeof facts[0] };

static const char keys[] =
    "name, sm, multiprocessors, shared_bytes, bandwidth_gbs, fp32_tflops, tensor16_tflops";

/* Stores the value; false if it is none of the fact's kind, or not above 0. */
static bool store(const fact *f, const char *value, gdnn_device *device)
{
    char *field = (char *)device + f->offset;
    double number;
    if (f->kind == TEXT) {
        snprintf(field, sizeof device->name, "%s", value);
        return true;
    }
    if (!gdnn_scale_read(value, &number) || !(number > 0 && number < 1e15))
        return false;
    if (f->kind == REAL) {
        memcpy(field, &number, sizeof number);
        return true;
    }
    int64_t whole = (int64_t)number;
    int narrow = (int)whole;
    if ((double)whole != number || (f->kind == INT && narrow != whole))
        return false;
    if (f->kind == INT)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &whole, sizeof whole);
    return true;
}

static gdnn_status unknown_key(int length, const char *line)
{
    const char *names[FACTS];
    char key[64];
    for (int i = 0; i < FACTS; i++)
        names[i] = facts[i].key;
    snprintf(key, sizeof key, "%.*s", length, line);
    const char *near = suggest(key, names, FACTS);
    if (near)
        return gdnn_fail(GDNN_INVALID, "unknown key '%s', did you mean %s?", key, near);
    return gdnn_fail(GDNN_INVALID, "unknown key '%s'; the keys are %s", key, keys);
}

/* One line. */
static gdnn_status read_line(char *line, gdnn_device *device, unsigned *given)
{
    line[strcspn(line, "#\r")] = 0;
    line += strspn(line, " \t");
    for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]); end--)
        line[end - 1] = 0;
    size_t length = strcspn(line, "=");
    if (!*line)
        return GDNN_OK;
    if (!line[length])
        return gdnn_fail(GDNN_INVALID, "'%s': expected key=value", line);
    for (int i = 0; i < FACTS; i++) {
        const char *value = line + length + 1;
        if (strlen(facts[i].key) != length || strncmp(facts[i].key, line, length) != 0)
            continue;
        if (*given >> i & 1)
            return gdnn_fail(GDNN_INVALID, "%s=%s: %s was given before", facts[i].key, value,
                             facts[i].key);
        *given |= 1u << i;
        if (store(&facts[i], value, device))
            return GDNN_OK;
        return gdnn_fail(GDNN_INVALID, "%s=%s: must be a %s above 0", facts[i].key, value,
                         facts[i].kind == REAL ? "number" : "whole number");
    }
    return unknown_key((int)length, line);
}

/* Names all keys that a file must have and has not. */
static gdnn_status check_required(const char *path, unsigned given)
{
    char missing[256] = "";
    size_t used = 0;
    int count = 0;
    for (int i = 0; i < FACTS; i++) {
        if (!facts[i].required || given >> i & 1)
            continue;
        used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s", count ? ", " : "",
                                 facts[i].key);
        count++;
    }
    if (!count)
        return GDNN_OK;
    return gdnn_fail(GDNN_INVALID, "%s: %s %s missing", path, missing, count == 1 ? "is" : "are");
}

static gdnn_status read_lines(lines *l, gdnn_device *device)
{
    unsigned given = 0;
    bool more;
    for (;;) {
        gdnn_status status = lines_next(l, &more);
        if (status != GDNN_OK)
            return status;
        if (!more)
            return check_required(l->source, given);
        status = read_line(l->text, device, &given);
        if (status != GDNN_OK)
            return lines_located(l, status);
    }
}

static gdnn_status read_file(const char *path, gdnn_device *device)
{
    lines l = {.file = fopen(path, "r"), .source = path, .holds = "device facts"};
    if (!l.file)
        return gdnn_fail(GDNN_INVALID, "--device-facts %s: %s", path, strerror(errno));
    memset(device, 0, sizeof *device);
    snprintf(device->name, sizeof device->name, "%s", path);
    gdnn_status status = read_lines(&l, device);
    fclose(l.file);
    return status;
}

gdnn_status facts_read(const char *name, gdnn_device *device)
{
    if (!strcmp(name, "gpu"))
        return gdnn_device_current(device);
    gdnn_status status = gdnn_device_known(name, device);
    if (status == GDNN_OK || (access(name, F_OK) != 0 && !strpbrk(name, "./")))
        return status;
    return read_file(name, device);
}
