/* How a problem gets its route: decided once, its kernel loaded. */
#ifndef GDNN_ROUTE_H
#define GDNN_ROUTE_H

#include "routes.h"

/* The ordinal of the current device. Where the reason is not TAKEN: GDNN_NO_DEVICE, since what fails now may not fail
 * the next time. NO_DRIVER, NO_CONTEXT. */
gdnn_reason gdnn_current_device(CUdevice *device);

/* The route of `key`. If there is none it is made, traced and logged: decided, and if it is taken, and
 * accepted(context), which may be NULL, agrees, its kernel is loaded. A key of GDNN_PLAN_CUDNNS loads nothing, and one of GDNN_NO_DEVICE does not ask
 * the driver either. The route is `own` where it cannot be kept: GDNN_ROUTES_MAX or memory is exhausted, or the driver
 * failed and may be well again the next time. */
gdnn_route *gdnn_route_of(const gdnn_route_key *key, bool (*accepted)(void *context), void *context,
                          gdnn_route *own);

#endif
