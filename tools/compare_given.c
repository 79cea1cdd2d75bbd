#include "columns.h"
#include "compare.h"
#include "error.h"
#include "problem.h"
#include <string.h>

/* True if values may change from one type to the other. */
static bool rounds(gdnn_dtype from, gdnn_dtype to)
{
    return from != to && gdnn_dtype_size(to) <= gdnn_dtype_size(from);
}

/* The types to run over, and a word on standard error where that rounds. */
static gdnn_status choose_dtypes(const given *g, const gdnn_text *text, bool asked,
                                 unsigned *dtypes)
{
    gdnn_dtype type = GDNN_F32;
    if (gdnn_text_has(text, GDNN_KEY_dtype)) {
        *dtypes = 1u << text->conv.dtype;
    } else if (!asked) {
        gdnn_status status = given_dtype(g, &type);
        if (status != GDNN_OK)
            return status;
        *dtypes = 1u << type;
    }
    for (int i = 0; i < TENSORS; i++) {
        const char *word = gdnn_enum_word(GDNN_ENUM_dtype, (int)g->file[i].type);
        bool said = gdnn_text_has(text, GDNN_KEY_dtype) || asked;
        if (!g->path[i])
            continue;
        if (g->file[i].type == GDNN_BF16 && !(said && *dtypes >> GDNN_BF16 & 1))
            return gdnn_fail(
                GDNN_INVALID,
                "%s holds <u2, 16-bit whole numbers: if they are the bits of bfloat16, "
                "say dtype=bf16",
                g->path[i]);
        for (int to = 0; *dtypes >> to; to++)
            if (*dtypes >> to & 1 && rounds(g->file[i].type, (gdnn_dtype)to)) {
                fputs("groupdnn compare: ", stderr);
                columns_text(stderr, g->path[i]);
                fprintf(stderr, ": %s values are rounded to %s\n", word,
                        gdnn_enum_word(GDNN_ENUM_dtype, to));
            }
    }
    return GDNN_OK;
}

/* The directions to run: those that were asked for, which must have their inputs, or all that have
 * them. */
static gdnn_status choose_dirs(const given *g, const gdnn_text *text, bool asked, unsigned *dirs)
{
    unsigned wanted = gdnn_text_has(text, GDNN_KEY_dir) ? 1u << text->conv.dir : *dirs;
    bool named = asked || gdnn_text_has(text, GDNN_KEY_dir);
    *dirs = 0;
    for (int dir = 0; wanted >> dir; dir++) {
        if (!(wanted >> dir & 1))
            continue;
        if (given_suffices(g, (gdnn_dir)dir))
            *dirs |= 1u << dir;
        else if (named)
            return gdnn_fail(GDNN_INVALID, "dir=%s needs %s", gdnn_enum_word(GDNN_ENUM_dir, dir),
                             dir == GDNN_FWD        ? "--x and --w"
                             : dir == GDNN_BWD_DATA ? "--w and --dy"
                                                    : "--x and --dy");
    }
    if (!*dirs)
        return gdnn_fail(GDNN_INVALID, "no direction has its inputs: forward needs --x and --w, "
                                       "backward-data --w and --dy, backward-filter --x and --dy");
    return GDNN_OK;
}

static gdnn_status complete(const given *g, gdnn_text *text)
{
    if (gdnn_text_has(text, GDNN_KEY_bias) && !text->conv.bias && g->path[TENSOR_BIAS])
        return gdnn_fail(GDNN_INVALID, "bias=0, but --bias %s is given: leave one of them out",
                         g->path[TENSOR_BIAS]);
    if (gdnn_text_has(text, GDNN_KEY_z) && !text->conv.z && g->path[TENSOR_Z])
        return gdnn_fail(GDNN_INVALID, "z=0, but --z %s is given: leave one of them out",
                         g->path[TENSOR_Z]);
    gdnn_status status = given_sizes(g, text);
    if (status == GDNN_OK && text->conv.bias && !g->path[TENSOR_BIAS])
        return gdnn_fail(GDNN_INVALID, "bias=1: give it with --bias");
    if (status == GDNN_OK && text->conv.z && !g->path[TENSOR_Z])
        return gdnn_fail(GDNN_INVALID, "z=1: give it with --z");
    return status;
}

gdnn_status compare_given(const given *g, const char *line, const jobs_choice *choice,
                          const jobs_choice *asked, jobs *j)
{
    gdnn_text text;
    bool empty;
    jobs_choice open = *choice;
    gdnn_status status = gdnn_text_parse(line, &text, &empty);
    if (status == GDNN_OK)
        status = complete(g, &text);
    if (status == GDNN_OK)
        status = choose_dtypes(g, &text, asked->dtypes, &open.dtypes);
    if (status == GDNN_OK)
        status = choose_dirs(g, &text, asked->dirs, &open.dirs);
    if (status == GDNN_OK)
        status = jobs_add_text(j, &text, &open);
    for (int i = 0; i < j->count && status == GDNN_OK; i++)
        status = given_check(g, &j->list[i].conv);
    return status;
}
