/* The functions of cuDNN as one table, from cudnn_api.def. */
#ifndef GDNN_API_TABLE_H
#define GDNN_API_TABLE_H

#include <stdatomic.h>

typedef enum gdnn_api {
#define GDNN_CUDNN(name, returns, way) GDNN_API_##name,
#include "cudnn_api.def"
#undef GDNN_CUDNN
    GDNN_APIS
} gdnn_api;

/* What the trampoline of each exported function jumps to: at first the resolver, later the real
 * function, or ours for those of the way OURS unless GROUPDNN_MODE=off. Defined beside the
 * trampolines. */
extern _Atomic(void *) gdnn_slots[GDNN_APIS];

/* Name of a function; static. */
const char *gdnn_api_name(gdnn_api which);

/* The real library's function; the first call opens the library. Where there is no library, or it
 * lacks the function, a function that returns what fits the type: never NULL. Any thread. */
void *gdnn_real(gdnn_api which);

/* gdnn_real with the type `typeof_name`, for calls: GDNN_REAL(cudnnGetStream)(handle, &stream). */
#define GDNN_REAL(name) ((__typeof__(&gdnn_proto_##name))gdnn_real(GDNN_API_##name))

/* Called by the trampolines when a slot is not resolved yet. Returns where to jump. Keeps errno. */
void *gdnn_first_call(gdnn_api which);

#endif
