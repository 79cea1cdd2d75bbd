#include "graph_data.h"
#include "fill.h"
#include "measure.h"
#include "reference.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *allocate(int64_t count)
{
    double *values = calloc((size_t)count, sizeof *values);
    if (!values) {
        fprintf(stderr, "no memory for %lld numbers\n", (long long)count);
        exit(3);
    }
    return values;
}

static graph_shape shape(const gdnn_conv *conv, int64_t first, int64_t second, const int64_t *rest)
{
    graph_shape made = {.axes = conv->spatial + 2, .size = {first, second}};
    for (int i = 0; i < conv->spatial; i++)
        made.size[2 + i] = rest[i];
    return made;
}

static void set_shapes(graph_data *data)
{
    const gdnn_conv *conv = &data->conv;
    int64_t out[GDNN_MAX_SPATIAL];
    gdnn_conv_out(conv, out);
    data->shape[GRAPH_X] = shape(conv, conv->n, conv->c, conv->in);
    data->shape[GRAPH_W] = shape(conv, conv->k, conv->c / conv->groups, conv->filter);
    data->shape[GRAPH_Y] = shape(conv, conv->n, conv->k, out);
    if (conv->z)
        data->shape[GRAPH_Z] = data->shape[GRAPH_Y];
    if (conv->bias)
        data->shape[GRAPH_BIAS] = (graph_shape){1, {conv->k}};
    for (graph_role role = 0; role < GRAPH_ROLES; role++) {
        data->elements[role] = data->shape[role].axes > 0;
        for (int i = 0; i < data->shape[role].axes; i++)
            data->elements[role] *= data->shape[role].size[i];
    }
}

static bool is_read(const graph_data *data, graph_role role)
{
    if (role == data->written)
        return data->conv.beta != 0;
    return role != GRAPH_Z || data->conv.alpha2 != 0;
}

static void fill(graph_data *data)
{
    static const fill_stream streams[] = {FILL_X, FILL_W, FILL_Y, FILL_Z, FILL_BIAS};
    for (graph_role role = 0; role < GRAPH_ROLES; role++) {
        const int64_t count = data->elements[role];
        if (count == 0 || !is_read(data, role))
            continue;
        data->values[role] = allocate(count);
        fill_values(data->values[role], count, FILL_UNIFORM, 1, streams[role], data->conv.dtype);
    }
}

void graph_data_make(graph_data *data, const gdnn_conv *conv)
{
    static const graph_role written[] = {
        [GDNN_FWD] = GRAPH_Y, [GDNN_BWD_DATA] = GRAPH_X, [GDNN_BWD_FILTER] = GRAPH_W};
    *data = (graph_data){.conv = *conv, .written = written[conv->dir]};
    set_shapes(data);
    fill(data);
    const int64_t count = data->elements[data->written];
    data->result = allocate(count);
    data->reference = allocate(count);
    data->magnitude = allocate(count);
    double *tensors[] = {data->values[GRAPH_X], data->values[GRAPH_W], data->values[GRAPH_Y]};
    if (tensors[data->written])
        memcpy(data->reference, tensors[data->written], (size_t)count * sizeof(double));
    tensors[data->written] = data->reference;
    gdnn_reference_run(conv, &(gdnn_reference){.x = tensors[GRAPH_X],
                                               .w = tensors[GRAPH_W],
                                               .y = tensors[GRAPH_Y],
                                               .z = data->values[GRAPH_Z],
                                               .bias = data->values[GRAPH_BIAS],
                                               .magnitude = data->magnitude});
}

void graph_data_free(graph_data *data)
{
    for (graph_role role = 0; role < GRAPH_ROLES; role++)
        free(data->values[role]);
    free(data->result);
    free(data->reference);
    free(data->magnitude);
    *data = (graph_data){.written = GRAPH_Y};
}

bool graph_data_right(const graph_data *data, bool tf32, double *worst)
{
    gdnn_conv conv = data->conv;
    conv.math = tf32 ? GDNN_MATH_TF32 : GDNN_MATH_F32;
    const measure found = measure_result(&conv, data->result, data->reference, data->magnitude);
    *worst = found.worst;
    return found.pass;
}
