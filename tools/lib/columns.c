#include "columns.h"

#include <string.h>

/* True if the byte begins a character. */
static int begins(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static int count(const char *text, size_t bytes)
{
    int columns = 0;
    for (size_t i = 0; i < bytes; i++)
        columns += begins(text[i]);
    return columns;
}

int columns_of(const char *text)
{
    return count(text, strlen(text));
}

void columns_cell(FILE *out, const char *text, int width)
{
    int columns = columns_of(text);
    if (columns <= width) {
        fprintf(out, "%s%*s", text, width - columns, "");
        return;
    }
    size_t bytes = 0;
    for (int shown = 0; shown < width - 1; shown++)
        for (bytes++; !begins(text[bytes]);)
            bytes++;
    fprintf(out, "%.*s…", (int)bytes, text);
}

void columns_wrapped(FILE *out, const char *text, int at, int indent, int width)
{
    while (*text) {
        size_t blanks = strspn(text, " "), bytes = blanks + strcspn(text + blanks, " \n");
        int columns = count(text, bytes);
        if (at > indent && at + columns > width) {
            fprintf(out, "\n%*s", indent, "");
            text += blanks;
            bytes -= blanks;
            at = indent;
            columns = count(text, bytes);
        }
        fwrite(text, 1, bytes, out);
        at += columns;
        text += bytes;
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] ? indent : 0, "");
            at = indent;
            text++;
        }
    }
    fputc('\n', out);
}
