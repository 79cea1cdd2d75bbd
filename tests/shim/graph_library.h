/* A made-up cuDNN with a graph interface that accepts what it is told to, in front of the drop-in's functions; and the
 * calls of a program. */
#ifndef GDNN_TESTS_GRAPH_LIBRARY_H
#define GDNN_TESTS_GRAPH_LIBRARY_H

#include "graph.h"
#include "graph_results.h"
#include "unit.h"
#include <stdatomic.h>

/* What the library does; graph_library_reset sets the value that each comment begins with. */
typedef struct graph_library {
    cudnnStatus_t answer; /* CUDNN_STATUS_SUCCESS: of every call */
    int64_t filled;   /* -1: elements that a Get says it filled; -1: as many as were requested */
    const char *text; /* NULL: of every plan */
    _Atomic int64_t results;     /* 0: configurations that the last Get of results asked for */
    int64_t workspace;           /* 1000: of every plan */
    int note;                    /* -1: the numerical note of every engine; -1: none */
    cudnnDataType_t type;        /* CUDNN_DATA_HALF: of the tensors that make_tensor makes */
    CUstream stream;             /* NULL: of every handle */
    cudnnStatus_t stream_answer; /* CUDNN_STATUS_SUCCESS: of cudnnGetStream */
    _Atomic int streams_asked;   /* 0: calls of cudnnGetStream */
    bool reuses;                 /* false; true: hands out the last destroyed address again */
    _Atomic int executed;        /* 0: calls of Execute */
    _Atomic bool
        seen_at_destroy; /* false; true: a descriptor was still known when it was destroyed */
} graph_library;

extern graph_library library;

/* Of this thread's last call. */
extern _Thread_local const void *library_arguments[6];

void graph_library_reset(void);

/* A descriptor; the call must succeed. */
cudnnBackendDescriptor_t create(cudnnBackendDescriptorType_t type);
void destroy(cudnnBackendDescriptor_t descriptor);
void finalize(cudnnBackendDescriptor_t descriptor);

/* Sets attributes; each call must answer as the library does. */
void set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
         cudnnBackendAttributeType_t type, int64_t count, const void *elements);
void set_number(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                int64_t number);
void set_word(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
              cudnnBackendAttributeType_t type, int word);
void set_one(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
             cudnnBackendDescriptor_t element);
void get(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name, int64_t requested,
         int64_t *count, cudnnBackendDescriptor_t *elements);

/* A packed tensor with four axes, finalised. */
cudnnBackendDescriptor_t make_tensor(int64_t uid, int64_t n, int64_t c, int64_t h, int64_t w);

/* A convolution of two axes in f32 with this pad, finalised; make_convolution: 1. */
cudnnBackendDescriptor_t make_convolution_padded(int64_t pad);
cudnnBackendDescriptor_t make_convolution(void);

/* Forward with x (2, 16, 8, 9), w (32, 16 / groups, 3, 3), y (2, 32, 8, 9), finalised; what it was made of is gone. */
cudnnBackendDescriptor_t make_forward(int64_t groups);

/* A graph of operations, finalised. */
cudnnBackendDescriptor_t make_graph(int64_t count, const cudnnBackendDescriptor_t *operations);

/* A plan by way of an engine and its configuration, all of it gone but the plan, which is finalised. */
cudnnBackendDescriptor_t make_plan(cudnnBackendDescriptor_t graph);

#endif
