#include "lines.h"

#include "error.h"
#include <errno.h>
#include <string.h>

gdnn_status lines_located(const lines *l, gdnn_status status)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", gdnn_last_error());
    return gdnn_fail(status, "%s:%d: %s", l->source, l->number, why);
}

gdnn_status lines_next(lines *l, bool *more)
{
    size_t length = 0;
    int byte;
    errno = 0;
    while ((byte = getc(l->file)) != EOF && byte != '\n') {
        if (length == LINE_MOST)
            return gdnn_fail(GDNN_INVALID,
                             "%s:%d: line is longer than %d bytes: is this a file of %s?",
                             l->source, l->number + 1, LINE_MOST, l->holds);
        l->text[length++] = (char)byte;
    }
    l->text[length] = 0;
    if (ferror(l->file))
        return gdnn_fail(GDNN_INVALID, "%s: %s", l->source,
                         errno ? strerror(errno) : "it cannot be read");
    *more = byte == '\n' || length > 0;
    l->number += *more;
    if (strlen(l->text) != length) {
        gdnn_fail(GDNN_INVALID, "a zero byte: this is not a text file");
        return lines_located(l, GDNN_INVALID);
    }
    return GDNN_OK;
}
