/* A made-up cuDNN that has engines, configurations of them, and lists of those; what is not set, filled or finalised in
 * the order that cuDNN demands it refuses as cuDNN 9.19 does. Memory that the drop-in asks for can run out. */
#ifndef GDNN_TESTS_LIST_LIBRARY_H
#define GDNN_TESTS_LIST_LIBRARY_H

#include "api.h"
#include "graph_api.h"
#include "unit.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { LIST_ENGINES = 32, LIST_MOST = 40, LIST_MODES = 4, LIST_KNOBS = 70 };

typedef struct list_config {
    int64_t engine;
    int knobs;
    struct {
        int type;
        int64_t value;
    } knob[LIST_KNOBS];
} list_config;

/* What the library does; list_library_reset sets all to zero but for what is said here. */
typedef struct list_library {
    uint64_t notes[LIST_ENGINES]; /* of each engine, a bit for each */
    struct {
        int configs;
        list_config config[LIST_MOST];
        cudnnStatus_t refused; /* what Finalize answers then */
    } list[LIST_MODES];        /* by mode */
    int64_t above;             /* 2: the count query says that many more than there are */
    bool hides_knobs;          /* cuDNN says that configurations in lists have none */
    bool other_knobs;        /* finalised, a configuration gets another value for its first knob */
    bool no_workspace;       /* no configuration needs any; else it tells them apart */
    bool deviceless;         /* heuristics without properties of a device have the list of mode 0 */
    bool refuses_properties; /* heuristics have no use for them, though engines tell them */

    int fails; /* 0: none; else which call fails, from 1; a Destroy only after its work */
    cudnnStatus_t failure;       /* CUDNN_STATUS_INTERNAL_ERROR */
    int no_memory;               /* 0: never; else which request for memory fails */
    _Atomic int calls, requests; /* so far */
    _Atomic int reads;           /* of more than one configuration of a list */
    _Atomic int alive;           /* descriptors */
    _Atomic int
        illegal; /* calls that no program may make: a descriptor of the wrong type or state */
} list_library;

extern list_library library;

void list_library_reset(void);

/* The program's descriptors; the calls are not counted and do not fail. */
cudnnBackendDescriptor_t list_create(cudnnBackendDescriptorType_t type);
cudnnBackendDescriptor_t list_heuristics(int mode);
/* A configuration as a program makes it. */
cudnnBackendDescriptor_t list_made(const list_config *what);
void list_destroy(cudnnBackendDescriptor_t descriptor);

/* What a configuration is; NULL: neither filled nor finalised. */
const list_config *list_look(cudnnBackendDescriptor_t config);
/* Whether cuDNN filled it: else the drop-in made it. */
bool list_was_filled(cudnnBackendDescriptor_t config);

bool list_same(const list_config *a, const list_config *b);

#endif
