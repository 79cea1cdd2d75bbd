/* A side table by descriptor address. Any thread. The address space is split into shards with a lock each; a thread
 * holds one lock at a time. In a forked child the shards that another thread had locked are empty. */
#ifndef GDNN_GRAPH_TABLE_H
#define GDNN_GRAPH_TABLE_H

#include <stdbool.h>

/* Most entries at a time: a program that never destroys its descriptors must not fill the memory twice. */
enum { GDNN_GRAPH_TABLE_MAX = 1 << 20 };

/* The beginning of what is kept of a descriptor. */
typedef struct gdnn_graph_entry {
    const void *descriptor;
    struct gdnn_graph_entry *next; /* the table's */
} gdnn_graph_entry;

/* Adds `entry` under entry->descriptor; one that was there before is taken out and comes back in *replaced, else NULL.
 * False: the table is full, or there is no memory; nothing is added. */
bool gdnn_graph_table_add(gdnn_graph_entry *entry, gdnn_graph_entry **replaced);

/* Takes out the entry of `descriptor`. NULL: there is none. */
gdnn_graph_entry *gdnn_graph_table_take(const void *descriptor);

/* The entry of `descriptor`, which nobody else sees or takes until gdnn_graph_table_unlock. NULL: there is none, and
 * nothing is locked. */
gdnn_graph_entry *gdnn_graph_table_lock(const void *descriptor);
void gdnn_graph_table_unlock(const gdnn_graph_entry *entry);

/* Entries at the moment. */
int gdnn_graph_table_entries(void);

#endif
