#include "compare.h"
#include "error.h"
#include "problem.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static gdnn_status write(const char *folder, const char *name, const tensor *t, gdnn_dtype type,
                         double *values)
{
    char path[PATH_MAX];
    gdnn_npy file = {.dims = t->dims, .type = type, .data = values};
    memcpy(file.size, t->size, sizeof t->size);
    if (snprintf(path, sizeof path, "%s/%s.npy", folder, name) >= (int)sizeof path)
        return gdnn_fail(GDNN_FAILED, "%s: the name is too long", folder);
    return gdnn_npy_write(path, &file);
}

gdnn_status dump_folder(const char *folder)
{
    struct stat facts;
    if (mkdir(folder, 0777) == 0)
        return GDNN_OK;
    int why = errno;
    if (why == EEXIST && stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode))
        return GDNN_OK;
    return gdnn_fail(GDNN_INVALID, "--dump %s: the folder cannot be made: %s", folder,
                     strerror(why));
}

gdnn_status dump_tensors(const char *folder, const gdnn_conv *conv, const trial_result *result)
{
    gdnn_status status = dump_folder(folder);
    for (tensor_name i = 0; i < TENSORS && status == GDNN_OK; i++) {
        if (!result->values[i])
            continue;
        tensor t = tensor_of(conv, i);
        char name[16];
        snprintf(name, sizeof name, "%s%s", tensor_label(conv->dir, i),
                 i == result->written ? "0" : "");
        status = write(folder, name, &t, t.dtype, result->values[i]);
    }
    tensor t = tensor_of(conv, result->written);
    if (status == GDNN_OK)
        status = write(folder, tensor_label(conv->dir, result->written), &t, t.dtype, result->got);
    if (status == GDNN_OK)
        status = write(folder, "ref", &t, GDNN_F64, result->ref);
    return status;
}
