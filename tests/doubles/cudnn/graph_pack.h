/* What programs say in variant packs, which NVIDIA's library does not tell. Any thread. */
#ifndef GDNN_CUDNN_DOUBLE_GRAPH_PACK_H
#define GDNN_CUDNN_DOUBLE_GRAPH_PACK_H

#include "../../clients/graph_client.h"

/* Begins to follow a new descriptor. INTERNAL_ERROR_HOST_ALLOCATION_FAILED: no memory. */
cudnnStatus_t pack_created(cudnnBackendDescriptor_t descriptor);
/* These do nothing for other descriptors. */
void pack_destroyed(cudnnBackendDescriptor_t descriptor);
void pack_blanked(cudnnBackendDescriptor_t descriptor);
void pack_finalized(cudnnBackendDescriptor_t descriptor);
/* Elements that NVIDIA's library took. */
cudnnStatus_t pack_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                       int64_t count, const void *elements);

typedef struct pack_facts {
    bool finalized;
    bool overrides; /* it gives tensors other sizes */
    void *workspace;
} pack_facts;

/* Reads a pack, and writes the pointers of `count` tensors; NULL for those that it has none of. False: it is no variant
 * pack. */
bool pack_read(cudnnBackendDescriptor_t descriptor, pack_facts *facts, int count,
               const int64_t *uids, void **pointers);

#endif
