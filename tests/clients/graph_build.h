/* Problems as operation graphs, built the way a framework builds them. */
#ifndef GDNN_CLIENT_GRAPH_BUILD_H
#define GDNN_CLIENT_GRAPH_BUILD_H

#include "graph_calls.h"
#include "graph_target.h"
#include "groupdnn.h"

/* How a problem with one spatial axis becomes one with two: an axis of size 1 before or behind it, or not at all. */
typedef enum graph_one_axis { SIZE_ONE_FIRST, SIZE_ONE_LAST, SIZE_ONE_NONE } graph_one_axis;

/* Whether z has memory of its own, or that of y: where it is not read, or where it has y's strides. */
typedef enum graph_z_in_y { Z_APART, Z_IN_Y_IF_UNREAD, Z_IN_Y_IF_ALIKE } graph_z_in_y;

/* In what frameworks differ. */
typedef struct graph_style {
    int64_t x, w, y, z, bias; /* unique ids */
    int64_t first_virtual;    /* of the tensors between operations, counted upward */
    int64_t alignment;        /* bytes, of every tensor */
    graph_one_axis one_axis;
    const char *pack; /* order of the tensors in a variant pack: x, w, y, z, b */
    graph_z_in_y z_in_y;
    bool workspace_first; /* in a variant pack */
    bool
        apart; /* executes with another handle than it plans with, and trials on a stream of their own */
    bool rebuilds;     /* --rebuild is offered */
    bool restores;     /* --restore is offered */
    bool float_scale;  /* alpha and beta are float, also for double data */
    bool scale_in_add; /* alpha stands in the addition of z, and the convolution has 1 */
    bool early;        /* what goes into a descriptor is destroyed before that is finalised */
    bool group_axis;   /* axis 1 of x and y, and axis 0 of w, counts the groups */
} graph_style;

/* Makes the graph of `conv`, and of its z, bias and activation. Everything else that it makes for that is destroyed
 * again, also when cuDNN refuses and the result is false; then `graph` is empty. */
bool graph_build(const gdnn_conv *conv, const graph_style *style, const graph_target *target,
                 graph_descriptor *graph);

#endif
