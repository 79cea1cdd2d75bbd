/* The CUDA driver, opened at first need. */
#ifndef GDNN_DRIVER_H
#define GDNN_DRIVER_H

#include "cuda_types.h"
#include "groupdnn.h"

typedef struct gdnn_driver {
#define GDNN_CU(name, symbol, parameters) CUresult(*name) parameters;
#include "driver_api.def"
#undef GDNN_CU
    int version; /* 13000 for CUDA 13.0 */
} gdnn_driver;

/* The driver, initialised; the first call opens libcuda.so.1 and calls cuInit. The answer of the
 * first call is kept. NULL: there is no driver, it lacks a function, or cuInit refused;
 * gdnn_last_error says which. */
const gdnn_driver *gdnn_driver_get(void);

/* Chooses another file than libcuda.so.1, an absolute path, for the tool's emulated device and the
 * tests. Only before the first gdnn_driver_get; `path` must live as long as the process. */
void gdnn_driver_use(const char *path);

/* gdnn_fail(GDNN_FAILED) with the name and text of `result` and of the call that gave it; GDNN_OK
 * for CUDA_SUCCESS. */
gdnn_status gdnn_driver_check(CUresult result, const char *call);

#endif
