#include "columns.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

/* Of a page that is no terminal; and the least that a terminal is taken to have. */
enum { PAGE_WIDTH = 120, LEAST_WIDTH = 40 };

int columns_width(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col)
        return PAGE_WIDTH;
    return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

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

/* Prints so many bytes, but none that would control the terminal. */
static void put(FILE *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i],
                      next = i + 1 < bytes ? (unsigned char)text[i + 1] : 0;
        bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
        i += c1;
        fputc(c1 || byte < 0x20 || byte == 0x7f ? '?' : byte, out);
    }
}

int columns_text(FILE *out, const char *text)
{
    put(out, text, strlen(text));
    return columns_of(text);
}

int columns_of(const char *text)
{
    return count(text, strlen(text));
}

void columns_cell(FILE *out, const char *text, int width)
{
    int columns = columns_of(text);
    if (columns <= width) {
        put(out, text, strlen(text));
        fprintf(out, "%*s", width - columns, "");
        return;
    }
    size_t bytes = 0;
    for (int shown = 0; shown < width - 1; shown++)
        for (bytes++; !begins(text[bytes]);)
            bytes++;
    put(out, text, bytes);
    fputs("…", out);
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
        put(out, text, bytes);
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
