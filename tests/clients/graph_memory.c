#include "graph_memory.h"
#include "device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The device aligns what it allocates to as much. */
enum { GUARD = 256 };

static unsigned char *allocate(size_t bytes)
{
    unsigned char *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(3);
    }
    return memset(memory, 0xff, bytes);
}

static size_t size_of(const graph_memory *memory)
{
    return memory->front + memory->bytes + GUARD;
}

void graph_memory_make(graph_memory *memory, size_t bytes, size_t alignment)
{
    *memory = (graph_memory){.bytes = bytes, .front = GUARD + alignment % GUARD};
    memory->sent = allocate(size_of(memory));
    memory->read = allocate(size_of(memory));
    memory->there = device_new(size_of(memory));
}

void graph_memory_free(graph_memory *memory)
{
    free(memory->sent);
    free(memory->read);
    device_free(memory->there);
    *memory = (graph_memory){0};
}

unsigned char *graph_memory_sent(const graph_memory *memory)
{
    return memory->sent + memory->front;
}

unsigned char *graph_memory_read(const graph_memory *memory)
{
    return memory->read + memory->front;
}

void *graph_memory_there(const graph_memory *memory)
{
    return memory->there ? memory->there + memory->front : NULL;
}

void graph_memory_send(graph_memory *memory)
{
    if (memory->there)
        device_put(memory->there, memory->sent, size_of(memory));
}

void graph_memory_receive(graph_memory *memory, cudaStream_t stream)
{
    if (memory->there)
        device_get(memory->read, memory->there, size_of(memory), stream);
}

bool graph_memory_kept(const graph_memory *memory)
{
    return !memory->there || memcmp(memory->sent, memory->read, size_of(memory)) == 0;
}

bool graph_memory_guarded(const graph_memory *memory)
{
    const size_t behind = memory->front + memory->bytes;
    return !memory->there || (memcmp(memory->sent, memory->read, memory->front) == 0 &&
                              memcmp(memory->sent + behind, memory->read + behind, GUARD) == 0);
}
