#include "tf32.h"
#include <stdatomic.h>
#include <stdlib.h>

bool gdnn_tf32_forbidden(void)
{
    static _Atomic signed char answer = -1; /* not asked yet */
    signed char known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known < 0) {
        const char *value = getenv("NVIDIA_TF32_OVERRIDE");
        known = value && *value == '0';
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known;
}
