#include "graph_table.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { SHARD_BITS = 6, SHARDS = 1 << SHARD_BITS, FIRST_BUCKET_BITS = 6, MAX_BUCKET_BITS = 14 };

/* On cache lines of its own. */
typedef struct shard {
    _Alignas(64) pthread_mutex_t lock;
    gdnn_graph_entry **buckets; /* 1 << bucket_bits; NULL: none yet */
    int bucket_bits, entries;
} shard;

static shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static _Atomic int all_entries;

/* The upper bits choose the shard, the next ones the bucket. */
static uint64_t hash(const void *descriptor)
{
    return (uint64_t)(uintptr_t)descriptor * 0x9e3779b97f4a7c15u;
}

static shard *shard_of(const void *descriptor)
{
    return &shards[hash(descriptor) >> (64 - SHARD_BITS)];
}

static gdnn_graph_entry **bucket_of(const shard *s, const void *descriptor)
{
    return &s->buckets[hash(descriptor) << SHARD_BITS >> (64 - s->bucket_bits)];
}

/* Where the pointer to the entry is; to NULL if there is none. NULL: the shard has no buckets. */
static gdnn_graph_entry **find(const shard *s, const void *descriptor)
{
    if (!s->buckets)
        return NULL;
    gdnn_graph_entry **at = bucket_of(s, descriptor);
    while (*at && (*at)->descriptor != descriptor)
        at = &(*at)->next;
    return at;
}

/* Other threads do not exist in a forked child: a lock that one of them held would stay so for ever, and what it was
 * changing is half done. */
static void begin_child(void)
{
    int entries = 0;
    for (int i = 0; i < SHARDS; i++) {
        shard *s = &shards[i];
        if (pthread_mutex_trylock(&s->lock))
            *s = (shard){.lock = PTHREAD_MUTEX_INITIALIZER};
        else
            pthread_mutex_unlock(&s->lock);
        entries += s->entries;
    }
    atomic_store(&all_entries, entries);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, begin_child);
}

/* Doubles the buckets where they are full. Without memory the chains grow. */
static void grow(shard *s)
{
    int bits = s->buckets ? s->bucket_bits + 1 : FIRST_BUCKET_BITS;
    if (s->buckets && (s->entries < 1 << s->bucket_bits || bits > MAX_BUCKET_BITS))
        return;
    shard larger = {.buckets = calloc((size_t)1 << bits, sizeof *larger.buckets),
                    .bucket_bits = bits};
    if (!larger.buckets)
        return;
    for (int i = 0; s->buckets && i < 1 << s->bucket_bits; i++) {
        for (gdnn_graph_entry *entry = s->buckets[i], *next; entry; entry = next) {
            gdnn_graph_entry **bucket = bucket_of(&larger, entry->descriptor);
            next = entry->next;
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    free(s->buckets);
    s->buckets = larger.buckets;
    s->bucket_bits = bits;
}

bool gdnn_graph_table_add(gdnn_graph_entry *entry, gdnn_graph_entry **replaced)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    *replaced = gdnn_graph_table_take(entry->descriptor);
    if (atomic_fetch_add(&all_entries, 1) >= GDNN_GRAPH_TABLE_MAX) {
        atomic_fetch_sub(&all_entries, 1);
        return false;
    }
    shard *s = shard_of(entry->descriptor);
    pthread_mutex_lock(&s->lock);
    grow(s);
    bool added = s->buckets;
    if (added) {
        gdnn_graph_entry **bucket = bucket_of(s, entry->descriptor);
        entry->next = *bucket;
        *bucket = entry;
        s->entries++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!added)
        atomic_fetch_sub(&all_entries, 1);
    return added;
}

gdnn_graph_entry *gdnn_graph_table_take(const void *descriptor)
{
    shard *s = shard_of(descriptor);
    pthread_mutex_lock(&s->lock);
    gdnn_graph_entry **at = find(s, descriptor), *entry = at ? *at : NULL;
    if (entry) {
        *at = entry->next;
        s->entries--;
    }
    pthread_mutex_unlock(&s->lock);
    if (entry)
        atomic_fetch_sub(&all_entries, 1);
    return entry;
}

gdnn_graph_entry *gdnn_graph_table_lock(const void *descriptor)
{
    shard *s = shard_of(descriptor);
    pthread_mutex_lock(&s->lock);
    gdnn_graph_entry **at = find(s, descriptor), *entry = at ? *at : NULL;
    if (!entry)
        pthread_mutex_unlock(&s->lock);
    return entry;
}

void gdnn_graph_table_unlock(const gdnn_graph_entry *entry)
{
    pthread_mutex_unlock(&shard_of(entry->descriptor)->lock);
}

int gdnn_graph_table_entries(void)
{
    return atomic_load(&all_entries);
}
