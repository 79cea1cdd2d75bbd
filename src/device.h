/* Facts of GPUs: the current one's from the driver, others' by name. */
#ifndef GDNN_DEVICE_H
#define GDNN_DEVICE_H

#include "cuda_types.h"
#include "groupdnn.h"

/* Names that gdnn_device_known knows, joined by commas; static. */
const char *gdnn_device_names(void);

/* Reads the facts of `ordinal` from the driver. Rates are those of a known model with the same
 * name, else 0. GDNN_UNSUPPORTED: no driver. GDNN_FAILED: the driver refused. */
gdnn_status gdnn_device_read(CUdevice ordinal, gdnn_device *device);

/* Time that no kernel can beat for `conv` on `device`, in microseconds: the largest of x + w + y
 * bytes at the memory bandwidth, arithmetic at the peak of the units that the type may use, and one
 * launch. 0: the rates are not known. */
double gdnn_floor_us(const gdnn_conv *conv, const gdnn_device *device);

#endif
