#include "routes.h"
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, DIRECTIONS = GDNN_BWD_FILTER + 1 };

static gdnn_route *_Atomic buckets[BUCKETS];
static gdnn_route *_Atomic newest;
static _Atomic int routes;
static _Atomic uint64_t counted[DIRECTIONS][GDNN_REASONS];

/* A quick mix of 64-bit words: every call of the program pays for it, and the keys of a process are few. */
uint64_t gdnn_route_hash(const gdnn_route_key *key)
{
    _Static_assert(sizeof key->conv % 8 == 0, "the problem is hashed in words");
    uint64_t hash = (uint64_t)key->device ^ (uint64_t)key->algo << 32 ^ key->workspace, word;
    for (size_t i = 0; i < sizeof key->conv; i += 8) {
        memcpy(&word, (const char *)&key->conv + i, 8);
        hash = ((hash << 5 | hash >> 59) ^ word) * 0x9e3779b97f4a7c15u;
    }
    return hash ^ hash >> 32;
}

static bool same_key(const gdnn_route_key *a, const gdnn_route_key *b)
{
    return a->device == b->device && a->algo == b->algo && a->workspace == b->workspace &&
           !memcmp(&a->conv, &b->conv, sizeof a->conv);
}

/* Looks from `from` on, but not from `until` on. */
static gdnn_route *find(gdnn_route *from, const gdnn_route *until, const gdnn_route_key *key,
                        uint64_t hash)
{
    for (gdnn_route *r = from; r != until; r = r->in_bucket)
        if (r->hash == hash && same_key(&r->key, key))
            return r;
    return NULL;
}

gdnn_route *gdnn_routes_find(const gdnn_route_key *key, uint64_t hash)
{
    gdnn_route *first = atomic_load_explicit(&buckets[hash % BUCKETS], memory_order_acquire);
    return find(first, NULL, key, hash);
}

gdnn_route *gdnn_routes_add(const gdnn_route *made, bool *added)
{
    gdnn_route *_Atomic *bucket = &buckets[made->hash % BUCKETS];
    gdnn_route *seen = NULL, *head = atomic_load_explicit(bucket, memory_order_acquire), *there;
    gdnn_route *route = NULL;
    *added = false;
    for (;;) {
        there = find(head, seen, &made->key, made->hash);
        if (there)
            break;
        if (!route) {
            if (atomic_load(&routes) >= GDNN_ROUTES_MAX)
                return NULL;
            route = malloc(sizeof *route);
            if (!route)
                return NULL;
            memcpy(route, made, sizeof *route);
        }
        route->in_bucket = seen = head;
        if (atomic_compare_exchange_strong_explicit(bucket, &head, route, memory_order_acq_rel,
                                                    memory_order_acquire))
            break;
    }
    if (there) {
        free(route);
        return there;
    }
    atomic_fetch_add(&routes, 1);
    route->next = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &route->next, route))
        ;
    *added = true;
    return route;
}

gdnn_route *gdnn_routes_newest(void)
{
    return atomic_load_explicit(&newest, memory_order_acquire);
}

void gdnn_routes_count(gdnn_dir dir, gdnn_reason reason)
{
    atomic_fetch_add_explicit(&counted[dir][reason], 1, memory_order_relaxed);
}

uint64_t gdnn_routes_counted(gdnn_dir dir, gdnn_reason reason)
{
    return atomic_load_explicit(&counted[dir][reason], memory_order_relaxed);
}
