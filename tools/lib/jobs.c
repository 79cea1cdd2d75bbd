#include "jobs.h"

#include "error.h"
#include "lines.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ALL_DIRS = 1 << GDNN_FWD | 1 << GDNN_BWD_DATA | 1 << GDNN_BWD_FILTER };

/* The source of problems on the command line. */
static const char as_text[] = "as text";

jobs_choice jobs_default(void)
{
    return (jobs_choice){ALL_DIRS, 1 << GDNN_F16 | 1 << GDNN_BF16 | 1 << GDNN_F32, 1 << GDNN_NCHW};
}

gdnn_status jobs_words(gdnn_enum which, const char *list, unsigned *bits)
{
    *bits = 0;
    for (;;) {
        size_t length = strcspn(list, ",");
        int value;
        if (!gdnn_enum_value(which, list, length, &value))
            return gdnn_fail(GDNN_INVALID, "'%.*s': must be one of %s, or several joined by commas",
                             (int)length, list, gdnn_enum_words(which));
        *bits |= 1u << value;
        if (!list[length])
            return GDNN_OK;
        list += length + 1;
    }
}

static gdnn_status append(jobs *j, const gdnn_text *text)
{
    if (j->count == j->room) {
        int room = j->room ? 2 * j->room : 64;
        job *list = realloc(j->list, (size_t)room * sizeof *list);
        if (!list)
            return gdnn_fail(GDNN_FAILED, "out of memory for %d problems", room);
        j->list = list;
        j->room = room;
    }
    job *added = &j->list[j->count];
    memcpy(added->name, text->name, sizeof added->name);
    added->source = j->source;
    gdnn_status status = gdnn_text_finish(text, &added->conv);
    j->count += status == GDNN_OK;
    return status;
}

/* The choices for what the line leaves open. */
static jobs_choice narrow(const gdnn_text *text, const jobs_choice *choice)
{
    jobs_choice open = *choice;
    bool strides = gdnn_text_has(text, GDNN_KEY_xstrides) ||
                   gdnn_text_has(text, GDNN_KEY_wstrides) || gdnn_text_has(text, GDNN_KEY_ystrides);
    if (gdnn_text_has(text, GDNN_KEY_dir))
        open.dirs = 1u << text->conv.dir;
    else if (text->conv.bias || text->conv.z || text->conv.act != GDNN_ACT_NONE)
        open.dirs &= 1u << GDNN_FWD;
    if (gdnn_text_has(text, GDNN_KEY_dtype))
        open.dtypes = 1u << text->conv.dtype;
    if (gdnn_text_has(text, GDNN_KEY_layout) || strides)
        open.layouts = 1u << text->layout;
    return open;
}

gdnn_status jobs_add_text(jobs *j, const gdnn_text *text, const jobs_choice *choice)
{
    jobs_choice open = narrow(text, choice);
    gdnn_text one = *text;
    gdnn_status status = GDNN_OK;
    if (!open.dirs)
        return gdnn_fail(GDNN_INVALID,
                         "bias, z and act belong to dir=fwd, which was not asked for");
    for (int dir = 0; open.dirs >> dir; dir++)
        for (int dtype = 0; open.dtypes >> dtype; dtype++)
            for (int layout = 0; open.layouts >> layout; layout++) {
                if (!(open.dirs >> dir & open.dtypes >> dtype & open.layouts >> layout & 1))
                    continue;
                one.conv.dir = (gdnn_dir)dir;
                one.conv.dtype = (gdnn_dtype)dtype;
                one.layout = (gdnn_layout)layout;
                status = append(j, &one);
                if (status != GDNN_OK)
                    return status;
            }
    return GDNN_OK;
}

static gdnn_status add_line(jobs *j, const char *line, const jobs_choice *choice)
{
    gdnn_text text;
    bool empty;
    gdnn_status status = gdnn_text_parse(line, &text, &empty);
    return status != GDNN_OK || empty ? status : jobs_add_text(j, &text, choice);
}

bool jobs_is_file(const char *argument)
{
    struct stat facts;
    bool comment = argument[strspn(argument, " ")] == '#';
    return stat(argument, &facts) == 0 || (!strchr(argument, '=') && !comment);
}

/* Adds the lines of a file that is open. */
static gdnn_status add_lines(jobs *j, FILE *file, const jobs_choice *choice)
{
    lines l = {.file = file, .source = j->source, .holds = "problems"};
    int before = j->count;
    bool more;
    for (;;) {
        gdnn_status status = lines_next(&l, &more);
        if (status != GDNN_OK)
            return status;
        if (!more)
            break;
        status = add_line(j, l.text, choice);
        if (status != GDNN_OK)
            return lines_located(&l, status);
    }
    return j->count > before ? GDNN_OK
                             : gdnn_fail(GDNN_INVALID, "%s: there is no problem in it", j->source);
}

static gdnn_status add_file(jobs *j, const char *path, const jobs_choice *choice)
{
    j->source = path;
    FILE *file = fopen(path, "r");
    if (!file && errno == ENOENT)
        return gdnn_fail(GDNN_INVALID,
                         "%s: no such file; problems are key=value text; shape files are in "
                         "tests/shapes",
                         path);
    if (!file)
        return gdnn_fail(GDNN_INVALID, "%s: %s", path, strerror(errno));
    gdnn_status status = add_lines(j, file, choice);
    fclose(file);
    return status;
}

gdnn_status jobs_add(jobs *j, const char *argument, const jobs_choice *choice)
{
    if (!*argument)
        return gdnn_fail(GDNN_INVALID, "an argument is empty: it must be a file of problems, or a "
                                       "problem such as 'n=8 c=64 in=28x28 k=64 filter=3x3 "
                                       "groups=32'");
    if (!strcmp(argument, "-")) {
        j->source = "standard input";
        return add_lines(j, stdin, choice);
    }
    if (jobs_is_file(argument))
        return add_file(j, argument, choice);
    j->source = as_text;
    int before = j->count;
    gdnn_status status = add_line(j, argument, choice);
    if (status == GDNN_OK && j->count == before)
        return gdnn_fail(GDNN_INVALID, "'%s': there is no problem in it", argument);
    return status;
}

void jobs_free(jobs *j)
{
    free(j->list);
    *j = (jobs){.list = NULL};
}
