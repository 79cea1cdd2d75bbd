/* Plans, and what the tool and the tests need beyond the public header. */
#ifndef GDNN_PLAN_H
#define GDNN_PLAN_H

#include "decide.h"
#include "groupdnn.h"

/* gdnn_plan_create under these options instead of the environment's. `decision`, if not NULL, gets
 * what was decided, also where that is not to take the problem. Mode is as given: under `on` a
 * problem without evidence is GDNN_UNSUPPORTED. */
gdnn_status gdnn_plan_make(gdnn_plan **plan, const gdnn_conv *conv, size_t workspace,
                           const gdnn_options *options, gdnn_decision *decision);

#endif
