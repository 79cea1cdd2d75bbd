/* What the tensors of a problem hold, and what should come of it: in logical order, as float64. */
#ifndef GDNN_CLIENT_GRAPH_DATA_H
#define GDNN_CLIENT_GRAPH_DATA_H

#include "groupdnn.h"
#include <stdbool.h>

typedef enum graph_role { GRAPH_X, GRAPH_W, GRAPH_Y, GRAPH_Z, GRAPH_BIAS, GRAPH_ROLES } graph_role;

typedef struct graph_shape {
    int axes; /* 0: the problem has no such tensor */
    int64_t size[GDNN_MAX_DIMS];
} graph_shape;

typedef struct graph_data {
    gdnn_conv conv;
    graph_role written;
    graph_shape shape[GRAPH_ROLES];
    int64_t elements[GRAPH_ROLES]; /* 0: the problem has no such tensor */
    /* NULL: nobody may read it, or there is none. Of the written tensor: what it holds before. */
    double *values[GRAPH_ROLES];
    double *result;                /* of the last execution */
    double *reference, *magnitude; /* what it should be; see reference.h */
} graph_data;

/* The same values in every run, all exact in the type. Ends the program if memory is short. */
void graph_data_make(graph_data *data, const gdnn_conv *conv);
void graph_data_free(graph_data *data);

/* True if data->result is right (measure.h), products rounded to TF32 or not. The largest error of an element, in
 * units of what is allowed, goes to *worst. */
bool graph_data_right(const graph_data *data, bool tf32, double *worst);

/* Writes .npy files and problem.txt into `folder`, which is made, as `groupdnn compare --dump` does; of z that must
 * not be read, zeros. False, with a message: they cannot be written. */
bool graph_data_dump(const graph_data *data, const char *folder);

#endif
