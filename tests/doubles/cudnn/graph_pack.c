#include "graph_pack.h"
#include "double.h"
#include "graph_table.h"
#include <stdlib.h>
#include <string.h>

typedef struct list {
    int64_t count;
    void *elements;
} list;

typedef struct pack {
    gdnn_graph_entry entry;
    list uids;     /* int64_t */
    list pointers; /* void * */
    pack_facts facts;
} pack;

static void blank(pack *p)
{
    free(p->uids.elements);
    free(p->pointers.elements);
    *p = (pack){.entry = p->entry};
}

static void free_pack(pack *p)
{
    if (p)
        blank(p);
    free(p);
}

cudnnStatus_t pack_created(cudnnBackendDescriptor_t descriptor)
{
    gdnn_graph_entry *replaced = NULL;
    pack *p = calloc(1, sizeof *p);
    if (p) {
        p->entry.descriptor = descriptor;
        if (!gdnn_graph_table_add(&p->entry, &replaced)) {
            free_pack(p);
            p = NULL;
        }
    }
    free_pack((pack *)replaced);
    return created(p);
}

void pack_destroyed(cudnnBackendDescriptor_t descriptor)
{
    free_pack((pack *)gdnn_graph_table_take(descriptor));
}

void pack_blanked(cudnnBackendDescriptor_t descriptor)
{
    pack *p = (pack *)gdnn_graph_table_lock(descriptor);
    if (!p)
        return;
    blank(p);
    gdnn_graph_table_unlock(&p->entry);
}

void pack_finalized(cudnnBackendDescriptor_t descriptor)
{
    pack *p = (pack *)gdnn_graph_table_lock(descriptor);
    if (!p)
        return;
    p->facts.finalized = true;
    gdnn_graph_table_unlock(&p->entry);
}

/* Keeps elements; pointers and numbers are of one size. */
static cudnnStatus_t keep(list *kept, int64_t count, const void *elements)
{
    const size_t bytes = (size_t)count * sizeof(int64_t);
    void *copy = malloc(bytes);
    if (copy) {
        memcpy(copy, elements, bytes);
        free(kept->elements);
        *kept = (list){count, copy};
    }
    return created(copy);
}

static cudnnStatus_t set(pack *p, cudnnBackendAttributeName_t name, int64_t count,
                         const void *elements)
{
    switch (name) {
    case CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS: return keep(&p->uids, count, elements);
    case CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS: return keep(&p->pointers, count, elements);
    case CUDNN_ATTR_VARIANT_PACK_WORKSPACE: p->facts.workspace = *(void *const *)elements; break;
    case CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS: p->facts.overrides = true; break;
    default: break;
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t pack_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                       int64_t count, const void *elements)
{
    pack *p = (pack *)gdnn_graph_table_lock(descriptor);
    if (!p)
        return CUDNN_STATUS_SUCCESS;
    const cudnnStatus_t status = set(p, name, count, elements);
    gdnn_graph_table_unlock(&p->entry);
    return status;
}

static void *pointer_of(const pack *p, int64_t uid)
{
    for (int64_t i = 0; i < p->uids.count && i < p->pointers.count; i++)
        if (((const int64_t *)p->uids.elements)[i] == uid)
            return ((void *const *)p->pointers.elements)[i];
    return NULL;
}

bool pack_read(cudnnBackendDescriptor_t descriptor, pack_facts *facts, int count,
               const int64_t *uids, void **pointers)
{
    const pack *p = (const pack *)gdnn_graph_table_lock(descriptor);
    if (!p)
        return false;
    *facts = p->facts;
    for (int i = 0; i < count; i++)
        pointers[i] = pointer_of(p, uids[i]);
    gdnn_graph_table_unlock(&p->entry);
    return true;
}
