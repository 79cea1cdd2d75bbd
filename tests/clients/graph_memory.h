/* Device memory between guards. */
#ifndef GDNN_CLIENT_GRAPH_MEMORY_H
#define GDNN_CLIENT_GRAPH_MEMORY_H

#include "cudnn_client.h"
#include <stdbool.h>

typedef struct graph_memory {
    size_t bytes;         /* of what lies between the guards */
    unsigned char *sent;  /* what the device is given: guards, and what lies between */
    unsigned char *read;  /* what the device had at last */
    unsigned char *there; /* on the device */
    size_t front;         /* bytes of the guard in front */
} graph_memory;

/* All of it bytes of 0xff, which are NaN in every type; not yet on the device. What lies between the guards begins at
 * a multiple of `alignment`, a power of two up to 256, and of no larger one. */
void graph_memory_make(graph_memory *memory, size_t bytes, size_t alignment);
/* Nothing if none was made. */
void graph_memory_free(graph_memory *memory);

/* What lies between the guards: as it is to be sent, as it was read, and on the device, where memory that was never
 * made is NULL. */
unsigned char *graph_memory_sent(const graph_memory *memory);
unsigned char *graph_memory_read(const graph_memory *memory);
void *graph_memory_there(const graph_memory *memory);

void graph_memory_send(graph_memory *memory);
/* After everything on `stream`. */
void graph_memory_receive(graph_memory *memory, cudaStream_t stream);

/* True if nothing differs between what was sent and what was read. */
bool graph_memory_kept(const graph_memory *memory);
/* True if the guards do not. */
bool graph_memory_guarded(const graph_memory *memory);

#endif
