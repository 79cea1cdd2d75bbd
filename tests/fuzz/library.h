/* A made-up cuDNN with a graph interface, in front of the drop-in's functions. It knows nothing of
 * the drop-in's records: a descriptor keeps what was set as it was set, and holds the descriptors
 * that it refers to. So what a plan would compute can be read from it. Descriptors are addresses
 * that nobody may look into, used again soon. */
#ifndef GDNN_FUZZ_LIBRARY_H
#define GDNN_FUZZ_LIBRARY_H

#include "api.h"
#include "cuda_types.h"
#include "graph_types.h"
#include <stdbool.h>
#include <stdint.h>

enum { LIBRARY_LIST = 8 }; /* most configurations of a list */

/* What a descriptor stands for; not changed once it is finalised. */
typedef struct library_object library_object;

/* What the library does from now on, all zeros at first. */
typedef struct library_settings {
    bool
        lenient; /* takes descriptors that are not finalised as elements, and finalises what is not complete */
    bool newest_first; /* the address destroyed last is the next one; else the first */
    int refuse_in;     /* 1: the next call is refused, 2: the one after it, ... */
    cudnnStatus_t refusal;
    uint64_t lists; /* what is in the lists of configurations */
    bool lies;      /* keeps another pointer than a variant pack is given */
} library_settings;

extern library_settings library;

/* The program's call to come. Calls of the library that are not the program's are the drop-in's own: they may change
 * nothing of the program's but the `lent` descriptors. */
void library_expect(gdnn_api which, const uintptr_t *arguments,
                    const cudnnBackendDescriptor_t *lent, int64_t lent_count);

/* After the call: whether the program's call has come, and what was answered. Ends the process if
 * it came late or twice, or something of the drop-in's own is left. */
bool library_came(cudnnStatus_t *status);

/* NULL: there is no such descriptor. */
const library_object *library_object_of(cudnnBackendDescriptor_t descriptor);

int library_type(const library_object *object);
bool library_finalized(const library_object *object);

/* What was set; *count elements of *type. NULL: nothing. */
const void *library_value(const library_object *object, cudnnBackendAttributeName_t name, int *type,
                          int64_t *count);

/* One of the descriptors that were set; NULL: there is none. */
const library_object *library_element(const library_object *object,
                                      cudnnBackendAttributeName_t name, int64_t index);

/* How many configurations the list of these heuristics has, and whether `config` is number `index` of it. */
int64_t library_list_size(const library_object *heuristics);
bool library_in_list(const library_object *heuristics, int64_t index, const library_object *config);

/* The stream of a handle; handles are the numbers 1 to 3. */
CUstream library_stream(cudnnHandle_t handle);

/* One of the descriptors that there are; NULL: there are none. */
cudnnBackendDescriptor_t library_any(void);

/* What is kept besides descriptors is given up. */
void library_forget(void);

/* Objects at the moment. */
int library_left(void);

/* Tells what is wrong and ends the process. */
_Noreturn void fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
