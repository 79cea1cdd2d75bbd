/* The problems that this process has met, each with where it goes. A problem is decided once: later
 * calls find its route without a lock. Routes are never freed; at most GDNN_ROUTES_MAX are kept, the
 * calls of further problems are decided each time and counted together. */
#ifndef GDNN_ROUTES_H
#define GDNN_ROUTES_H

#include "decide.h"
#include "groupdnn.h"
#include "launch.h"
#include <stdatomic.h>
#include <stdbool.h>

enum {
    GDNN_ROUTES_MAX = 8192,
    GDNN_NO_DEVICE = -1,
    /* In place of an algorithm: */
    GDNN_PLAN_CUDNNS = -1, /* a plan of the graph interface that cuDNN runs */
    GDNN_PLAN_OURS = -2
};

/* What makes two calls the same route. Compared byte by byte: zero it before it is filled. */
typedef struct gdnn_route_key {
    gdnn_conv conv;
    CUdevice device;
    int algo;         /* cuDNN's algorithm, or GDNN_PLAN_... */
    size_t workspace; /* bytes that the program offers */
} gdnn_route_key;

typedef struct gdnn_route {
    struct gdnn_route *in_bucket; /* next of the same bucket */
    struct gdnn_route *next;      /* the route made before this one */
    uint64_t hash;
    gdnn_route_key key;

    gdnn_reason reason; /* GDNN_REASON_TAKEN: ours, though modes observe and verify keep cuDNN's */
    const char *evidence;     /* "measured", "counted", "none" */
    gdnn_launch_shape shape;  /* .kernel is NULL where no kernel fits */
    gdnn_functions functions; /* loaded; NULL unless reason is TAKEN */
    gdnn_args args;
    size_t bytes[3], z_bytes; /* that x, w, y (by gdnn_role) and z span; 0 unless reason is TAKEN */
    bool z_like_y;            /* z may be y itself: its elements lie where y's do */

    _Atomic uint64_t calls;
    /* Of mode verify. */
    _Atomic uint64_t compared, differed, skipped;
    _Atomic double worst; /* largest difference from cuDNN's result in units of its bound */
} gdnn_route;

/* The newest route; follow .next to the oldest. NULL: none. */
gdnn_route *gdnn_routes_newest(void);

/* The route with this key; NULL if there is none. */
gdnn_route *gdnn_routes_find(const gdnn_route_key *key, uint64_t hash);

/* Adds a copy of `made` unless another thread was first, and returns what stands there now; NULL
 * if memory or GDNN_ROUTES_MAX is exhausted. *added: it is the copy. */
gdnn_route *gdnn_routes_add(const gdnn_route *made, bool *added);

uint64_t gdnn_route_hash(const gdnn_route_key *key);

/* Calls that have no route: those whose problem was never read, by reason. */
void gdnn_routes_count(gdnn_dir dir, gdnn_reason reason);
uint64_t gdnn_routes_counted(gdnn_dir dir, gdnn_reason reason);

#endif
