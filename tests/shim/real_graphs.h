/* NVIDIA's cuDNN as the library that is asked, and graphs of it: for an H200 that need not be there. */
#ifndef GDNN_TESTS_REAL_GRAPHS_H
#define GDNN_TESTS_REAL_GRAPHS_H

#include "api.h"
#include "graph_api.h"
#include "groupdnn.h"
#include "unit.h"

/* Opens the library at `path`; gdnn_real is its functions from then on. */
void real_graphs_open(const char *path);

/* Finalised graph of a problem without bias, z or activation. */
cudnnBackendDescriptor_t real_graph(const gdnn_conv *conv);

/* Finalised heuristics of a graph. */
cudnnBackendDescriptor_t real_heuristics(cudnnBackendDescriptor_t graph,
                                         cudnnBackendHeurMode_t mode);

/* A plan of the configuration. What Finalize says. */
cudnnStatus_t real_plan(cudnnBackendDescriptor_t config, cudnnBackendDescriptor_t *plan);

cudnnBackendDescriptor_t real_create(cudnnBackendDescriptorType_t type);
void real_destroy(cudnnBackendDescriptor_t descriptor);

#endif
