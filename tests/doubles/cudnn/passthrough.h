/* NVIDIA's library, for the flavour `real`. */
#ifndef GDNN_CUDNN_DOUBLE_PASSTHROUGH_H
#define GDNN_CUDNN_DOUBLE_PASSTHROUGH_H

#include <stddef.h>

/* Its functions, each in a slot; set when the double is loaded. */
#define GDNN_CUDNN(name, returns, way)                                                             \
    extern __attribute__((visibility("hidden"))) void *slot_##name;
#include "cudnn_api.def"
#undef GDNN_CUDNN

/* Its function of this name. */
#define REAL(name) ((__typeof__(&name))slot_##name)

/* Its cudnnGetLastErrorString. Set when the double is loaded. */
extern void (*real_last_text)(char *, size_t);

/* Takes its text away, of a call that the program did not make. */
void forget_real_text(void);

#endif
