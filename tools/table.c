#include "table.h"
#include "columns.h"
#include <string.h>

/* Of the column of names. */
enum { LEAST = 8, MOST = 21 };

static const char *name_of(const job *row)
{
    return *row->name ? row->name : "-";
}

table table_of(const jobs *jobs, FILE *out)
{
    table t = {.out = out, .name_width = LEAST};
    for (int i = 0; i < jobs->count; i++) {
        int columns = columns_of(name_of(&jobs->list[i]));
        if (columns > t.name_width)
            t.name_width = columns < MOST ? columns : MOST;
        t.many |= jobs->list[i].source != jobs->list[0].source;
    }
    return t;
}

void table_head(const table *t)
{
    fputc('\n', t->out);
    columns_cell(t->out, "name", t->name_width);
    fputc(' ', t->out);
}

void table_row(table *t, const job *row)
{
    if (t->many && row->source != t->source) {
        columns_text(t->out, row->source);
        fputs(":\n", t->out);
    }
    t->source = row->source;
    columns_cell(t->out, name_of(row), t->name_width);
    fputc(' ', t->out);
}

void table_note(table *t, const char *reason, const char *sentence)
{
    for (int i = 0; i < t->note_count; i++)
        if (!strcmp(t->notes[i].sentence, sentence))
            return;
    if (t->note_count == TABLE_NOTES)
        return;
    t->notes[t->note_count].reason = reason;
    snprintf(t->notes[t->note_count++].sentence, sizeof t->notes[0].sentence, "%s", sentence);
}

void table_notes(const table *t)
{
    if (t->note_count)
        fputc('\n', t->out);
    for (int i = 0; i < t->note_count; i++)
        columns_wrapped(t->out, t->notes[i].sentence, 0, 4, TABLE_WIDTH);
}

const char *table_reasons(const table *t, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < t->note_count && used < room; i++) {
        bool said = false;
        for (int k = 0; k < i; k++)
            said |= !strcmp(t->notes[k].reason, t->notes[i].reason);
        if (!said)
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "",
                                     t->notes[i].reason);
    }
    return text;
}
