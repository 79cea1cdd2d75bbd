/* Text in columns for people: a character counts once, however many bytes of UTF-8 it has. What
 * would control the terminal (C0, DEL, and C1 as UTF-8) is printed as `?`: text may come from
 * anybody. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdio.h>

/* The columns of the terminal that `out` is; 120 where it is none. */
int columns_width(FILE *out);

/* The characters of `text`. */
int columns_of(const char *text);

/* Prints `text`; returns its columns. */
int columns_text(FILE *out, const char *text);

/* Prints `text` in exactly `width` columns: filled with blanks, or cut where it is longer, with a
 * "…" in the last. */
void columns_cell(FILE *out, const char *text, int width);

/* Prints `text`, breaking at blanks so that no line exceeds `width` columns, unless one word does;
 * where the line has `at` columns already. Lines after the first begin with `indent` blanks. A
 * newline in the text is kept, with the blanks after it. Ends with a newline. */
void columns_wrapped(FILE *out, const char *text, int at, int indent, int width);

#endif
