/* The float64 reference of large problems: the direct kernels in float64, on the device. They are
 * compared with gdnn_reference_run themselves, on problems that are small enough for it. */
#ifndef DEVICE_REFERENCE_H
#define DEVICE_REFERENCE_H

#include "reference.h"
#include "session.h"

/* As gdnn_reference_run, for a problem of another type than f64.
 * GDNN_UNSUPPORTED: the device has too little memory, or no kernel. GDNN_FAILED: the driver refused
 * something. */
gdnn_status device_reference_run(session *s, const gdnn_conv *conv, const gdnn_reference *r);

#endif
