/* A program that runs convolutions through cuDNN's graph interface with a handle, for the tests of the double. Unlike the
 * clients it checks nothing but statuses, with cmocka, and says nothing. */
#ifndef GDNN_CUDNN_DOUBLE_GRAPH_PROGRAM_H
#define GDNN_CUDNN_DOUBLE_GRAPH_PROGRAM_H

#include "../../clients/graph_client.h"
#include "groupdnn.h"

typedef cudnnBackendDescriptor_t descriptor;

/* What fails with what `status` is wanted. */
#define EXPECT(status, call) expect_status((int)(status), (int)(call), #call, __FILE__, __LINE__)
void expect_status(int wanted, int status, const char *call, const char *file, int line);

descriptor make(cudnnBackendDescriptorType_t type);
void destroy(descriptor it);

#define SET(it, ATTRIBUTE, TYPE, count, values)                                                    \
    EXPECT(CUDNN_STATUS_SUCCESS,                                                                   \
           cudnnBackendSetAttribute(it, CUDNN_ATTR_##ATTRIBUTE, CUDNN_TYPE_##TYPE, count, values))
#define GET(it, ATTRIBUTE, TYPE, room, count, values)                                              \
    EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendGetAttribute(it, CUDNN_ATTR_##ATTRIBUTE,              \
                                                          CUDNN_TYPE_##TYPE, room, count, values))
#define FINALIZE(it) EXPECT(CUDNN_STATUS_SUCCESS, cudnnBackendFinalize(it))

/* Unique ids. */
enum { UID_X = 'x', UID_W = 'w', UID_Y = 'y', UID_Z = 'z', UID_BIAS = 'b', UID_VIRTUAL = 'A' };

/* The graph of a problem with two or three spatial axes. `group_axis`: every tensor has an axis that counts the groups.
 * `activation`: what takes the place of relu, where the problem has that. */
descriptor make_graph(cudnnHandle_t handle, const gdnn_conv *conv, bool group_axis,
                      cudnnPointwiseMode_t activation);

/* The first configuration of the list A, else of FALLBACK, whose plan there is and needs `workspace` bytes or more. */
descriptor make_config(descriptor graph, int64_t workspace);

descriptor make_plan(cudnnHandle_t handle, descriptor config);

/* The graph that the configuration's engine tells. */
descriptor graph_of(descriptor config);

/* The plan of the same engine with knobs by default, from that graph. */
descriptor make_plan_again(cudnnHandle_t handle, descriptor config);

/* The text of a plan, which the caller frees, and the plan of a text. */
char *text_of(descriptor plan);
descriptor restore_plan(cudnnHandle_t handle, const char *text);

int64_t workspace_size(descriptor plan);

/* A finalised variant pack. */
descriptor make_pack(int64_t count, const int64_t *uids, void *const *pointers, void *workspace);

#endif
