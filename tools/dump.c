#include "compare.h"
#include "error.h"
#include "problem.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gdnn_status write_tensor(const char *folder, const char *name, const tensor *t,
                                gdnn_dtype type, double *values)
{
    char path[PATH_MAX];
    gdnn_npy file = {.dims = t->dims, .type = type, .data = values};
    memcpy(file.size, t->size, sizeof t->size);
    if (snprintf(path, sizeof path, "%s/%s.npy", folder, name) >= (int)sizeof path)
        return gdnn_fail(GDNN_FAILED, "%s: the name is too long", folder);
    return gdnn_npy_write(path, &file);
}

static gdnn_status make_folder(const char *folder)
{
    struct stat facts;
    if (mkdir(folder, 0777) == 0)
        return GDNN_OK;
    int why = errno;
    if (why == EEXIST && stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode))
        return GDNN_OK;
    if (why == EEXIST)
        return gdnn_fail(GDNN_INVALID, "--dump %s: this is a file; a folder is needed", folder);
    return gdnn_fail(GDNN_INVALID, "--dump %s: the folder cannot be made: %s", folder,
                     strerror(why));
}

gdnn_status dump_folder(const char *folder)
{
    char path[PATH_MAX];
    gdnn_status status = make_folder(folder);
    if (status != GDNN_OK)
        return status;
    if (snprintf(path, sizeof path, "%s/groupdnn_XXXXXX", folder) >= (int)sizeof path)
        return gdnn_fail(GDNN_INVALID, "--dump %s: the name is too long", folder);
    int file = mkstemp(path);
    if (file < 0)
        return gdnn_fail(GDNN_INVALID, "--dump %s: no file can be made in it: %s", folder,
                         strerror(errno));
    close(file);
    unlink(path);
    return GDNN_OK;
}

/* The problem as a file that `compare` reads again. */
static gdnn_status write_problem(const char *folder, const job *row, const gdnn_conv *from)
{
    char path[PATH_MAX], text[PROBLEM_TEXT];
    const char *name = *row->name ? row->name : NULL;
    if (snprintf(path, sizeof path, "%s/problem.txt", folder) >= (int)sizeof path)
        return gdnn_fail(GDNN_FAILED, "%s: the name is too long", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return gdnn_fail(GDNN_FAILED, "%s: %s", path, strerror(errno));
    gdnn_text_format(&row->conv, name, text, sizeof text);
    fprintf(file, "%s\n", text);
    if (from) {
        gdnn_text_format(from, name, text, sizeof text);
        fprintf(file, "# scaled from %s\n", text);
    }
    bool bad = ferror(file);
    if (fclose(file) != 0 || bad)
        return gdnn_fail(GDNN_FAILED, "%s: not everything could be written", path);
    return GDNN_OK;
}

gdnn_status dump_row(const char *folder, const job *row, const gdnn_conv *from,
                     const trial_result *result)
{
    const gdnn_conv *conv = &row->conv;
    gdnn_status status = make_folder(folder);
    if (status == GDNN_OK)
        status = write_problem(folder, row, from);
    for (tensor_name i = 0; i < TENSORS && status == GDNN_OK; i++) {
        if (!result->values[i])
            continue;
        tensor t = tensor_of(conv, i);
        char name[16];
        snprintf(name, sizeof name, "%s%s", tensor_label(conv->dir, i),
                 i == result->written ? "0" : "");
        status = write_tensor(folder, name, &t, t.dtype, result->values[i]);
    }
    tensor t = tensor_of(conv, result->written);
    if (status == GDNN_OK)
        status = write_tensor(folder, tensor_label(conv->dir, result->written), &t, t.dtype,
                              result->got);
    if (status == GDNN_OK)
        status = write_tensor(folder, "ref", &t, GDNN_F64, result->ref);
    return status;
}
