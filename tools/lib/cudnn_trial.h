/* What cuDNN makes of the data of a trial. */
#ifndef CUDNN_TRIAL_H
#define CUDNN_TRIAL_H

#include "cudnn_calls.h"
#include "trial.h"

/* Runs `conv` on the values of a trial that ran, by the legacy interface, or by the first plan of the graph interface
 * where that does not run it, and fills cudnn_err_l2 and vs_cudnn_l2 of `result`.
 * GDNN_UNSUPPORTED: neither runs it, or memory is short. GDNN_FAILED: the driver refused something. */
gdnn_status cudnn_trial(const cudnn_calls *calls, session *s, const gdnn_conv *conv,
                        size_t workspace, trial_result *result);

/* ||a - b|| / ||b||; 0 for two zeros. What is not finite must be the same in both, else it is infinite. */
double relative_l2(const double *a, const double *b, int64_t count);

#endif
