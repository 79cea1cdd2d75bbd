/* What the tables of `compare` and `explain` share: the column of names, which file rows are from,
 * and the sentences that are said once, below. */
#ifndef TABLE_H
#define TABLE_H

#include "jobs.h"
#include <stdio.h>

/* No line of a table is longer. */
#define TABLE_WIDTH 120

enum { TABLE_NOTES = 32 };

typedef struct table {
    FILE *out; /* standard error where standard output is for JSON */
    int name_width;
    bool many;          /* the rows are from several sources */
    const char *source; /* of the last row */
    struct {
        const char *reason;
        char sentence[512];
    } notes[TABLE_NOTES];
    int note_count;
} table;

/* The table of these problems; prints nothing. */
table table_of(const jobs *jobs, FILE *out);

/* Begins the line of the headings. */
void table_head(const table *t);

/* Begins the row of a problem: says where it is from if that is another source than that of the row
 * before, and prints its name. */
void table_row(table *t, const job *row);

/* Remembers a sentence, once, for below the table. `reason` must live as long as the table. */
void table_note(table *t, const char *reason, const char *sentence);

/* Prints the sentences. */
void table_notes(const table *t);

/* The reasons of the sentences, each once, joined by commas. */
const char *table_reasons(const table *t, char *text, size_t room);

#endif
