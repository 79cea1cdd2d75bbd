/* Whether float32 convolutions may be computed in TF32. */
#ifndef GDNN_TF32_H
#define GDNN_TF32_H

#include <stdbool.h>

/* NVIDIA's libraries let users forbid TF32 for a whole process. Any thread. */
bool gdnn_tf32_forbidden(void);

#endif
