/* graph_data_dump. */
#include "graph_data.h"
#include "npy.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Under which name a tensor is known in each direction. */
static const char *const names[][GRAPH_ROLES] = {
    [GDNN_FWD] = {"x", "w", "y", "z", "bias"},
    [GDNN_BWD_DATA] = {"dx", "w", "dy", "z", "bias"},
    [GDNN_BWD_FILTER] = {"x", "dw", "dy", "z", "bias"},
};

static bool write_array(const graph_data *data, const char *folder, const char *name,
                        graph_role role, gdnn_dtype type, double *values)
{
    char path[PATH_MAX];
    const graph_shape *shape = &data->shape[role];
    gdnn_npy file = {.dims = shape->axes, .type = type, .data = values};
    memcpy(file.size, shape->size, (size_t)shape->axes * sizeof *file.size);
    if (snprintf(path, sizeof path, "%s/%s.npy", folder, name) < (int)sizeof path &&
        gdnn_npy_write(path, &file) == GDNN_OK)
        return true;
    fprintf(stderr, "--dump %s: %s\n", folder, gdnn_last_error());
    return false;
}

static bool write_role(const graph_data *data, const char *folder, graph_role role)
{
    char name[16];
    const bool before = role == data->written;
    double *values = data->values[role], *zeros = NULL;
    if (data->elements[role] == 0 || (before && !values))
        return true;
    if (!values)
        values = zeros = calloc((size_t)data->elements[role], sizeof *zeros);
    snprintf(name, sizeof name, "%s%s", names[data->conv.dir][role], before ? "0" : "");
    const bool done = values && write_array(data, folder, name, role, data->conv.dtype, values);
    free(zeros);
    return done;
}

static bool write_problem(const graph_data *data, const char *folder)
{
    char path[PATH_MAX], text[1024];
    gdnn_conv_format(&data->conv, text, sizeof text);
    snprintf(path, sizeof path, "%s/problem.txt", folder);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    fprintf(file, "%s\n", text);
    return fclose(file) == 0;
}

bool graph_data_dump(const graph_data *data, const char *folder)
{
    const graph_role written = data->written;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "--dump %s: the folder cannot be made: %s\n", folder, strerror(errno));
        return false;
    }
    for (graph_role role = 0; role < GRAPH_ROLES; role++)
        if (!write_role(data, folder, role))
            return false;
    return write_array(data, folder, names[data->conv.dir][written], written, data->conv.dtype,
                       data->result) &&
           write_array(data, folder, "ref", written, GDNN_F64, data->reference) &&
           write_problem(data, folder);
}
